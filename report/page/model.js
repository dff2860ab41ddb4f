/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines of the timeline: the system tree with its processes, devices, threads, streams and counters,
 * which of them are folded, how they are sorted, and where each one lies. And what is selected.
 *
 * A line is { label, type: "node"|"group"|"device"|"row"|"track", row, track, parent, children, level, open,
 * full, height, y }. The first call of a row is at depth 1. A row that is open has a lane for each depth; the
 * last one of those that are shown has all deeper calls, as a folded row has.
 *
 * Limits: calls deeper than 255 are not shown, as they are not in the tiles.
 */

const GAP = 5, HEAD = 22, STRIP = 24, TRACK_HEIGHT = 34, DEEPEST = 255;
const STRIP_OF_STATES = 8;
const LANES = 8, BAR = 4; /* of a row that is open, until it is opened wholly; of waits and the path */

const Model = {
	root: null,
	lines: [],       /* all */
	shown: [],       /* those that are not folded away, from top to bottom */
	ofRow: [],       /* row -> line */
	states: null,    /* label of a row -> its states in the report */
	height: 0,
	sort: "tree",
	lane: 16,        /* height of a depth of calls: more if there is room */

	build() {
		const meta = Data.meta, root = Model.root = Model.line(null, "root", "");
		const nodes = meta.nodes.map((n) => ({ node: n, line: null, used: false }));
		const groups = [];

		const nodeLine = (i) => {
			if (i === null || i === undefined || !nodes[i])
				return root;
			if (!nodes[i].line)
				nodes[i].line = Model.line(nodeLine(nodes[i].node.parent), "node",
					nodes[i].node.name);
			return nodes[i].line;
		};
		const groupLine = (i) => {
			const g = meta.groups[i];

			if (!groups[i]) {
				const above = g.creator !== null && g.creator !== undefined && g.creator !== i
					? groupLine(g.creator) : nodeLine(g.node);

				groups[i] = Model.line(above, "group", g.label || g.name, { group: i });
			}
			return groups[i];
		};
		meta.groups.forEach((g, i) => g.type === "process" && groupLine(i));
		const devices = new Map();

		meta.rows.forEach((row, i) => {
			let above = row.group === null ? root : groupLine(row.group);

			if (row.device !== null && meta.devices[row.device]
				&& meta.groups[row.group]?.type !== "accelerator") {
				const key = row.group + "/" + row.device;

				if (!devices.has(key))
					devices.set(key, Model.line(above, "device",
						meta.devices[row.device].name));
				above = devices.get(key);
			}
			if (row.type === "metric" && !row.depth) {
				Model.ofRow[i] = above;
				return;
			}
			Model.ofRow[i] = Model.line(above, "row", row.name,
				{ row: i, depth: Math.min(row.depth, DEEPEST) });
		});
		meta.tracks.forEach((track, i) => {
			if (States.is(track))
				return;
			const above = track.row !== null && track.row !== undefined ? Model.ofRow[track.row]
				: track.group !== null && track.group !== undefined ? groupLine(track.group)
					: nodeLine(track.node);

			Model.line(above, "track", track.metric.name, { track: i });
		});
		Model.simplify(root);
		Model.number(root, -1);
		Model.busy();
		Model.barred(root);
		Model.first();
		Model.lay();
	},
	line(parent, type, label, more) {
		const line = { parent, type, label: clean(label || "(no name)"), children: [], level: 0,
			open: true,
			row: -1, track: -1, depth: 1, height: 0, y: -1, busy: 0, events: 0, ...more };

		if (parent)
			parent.children.push(line);
		Model.lines.push(line);
		return line;
	},
	/*
	 * Groups without anything go; a node that all share says nothing;
		a process of one thread is that thread.
	 * Returns what stands in the line's place, or null.
	 */
	simplify(line) {
		line.children = line.children.map(Model.simplify).filter((child) => child);
		if (line.type === "root")
			while (line.children.length === 1 && line.children[0].type === "node")
				line.children = line.children[0].children;
		for (const child of line.children)
			child.parent = line;
		if (line.type === "row" || line.type === "track" || line.type === "root")
			return line;
		if (line.children.length !== 1 || line.children[0].type !== "row" || line.type === "node")
			return line.children.length ? line : null;
		const only = line.children[0];

		only.title = `${line.label}, ${only.label}`;
		if (Data.meta.rows[only.row].kind !== "stream")
			only.label = line.label;
		return only;
	},
	/* What the scheduler did with the thread of a row, or null: it is not known. */
	statesOf(row) {
		Model.states ??= new Map((Data.report.thread_states || []).map((of) => [of.location, of]));
		return Model.states.get(Data.meta.rows[row]?.label) || null;
	},
	/*
	 * The share of the run that is work: of a thread neither MPI nor waits, nor when it was blocked or
	 * waited for a processor; of streams activities.
	 */
	busy() {
		const end = Math.max(1, Data.meta.end);
		const weigh = (line) => {
			let busy = 0, events = 0, rows = 0;

			if (line.row >= 0) {
				const sums = new Map(), meta = Data.meta.rows[line.row];
				const life = Data.report.locations?.[line.row]?.duration_s * 1e9 / end;
				let worked = 0, waited = 0;

				addSums(line.row, 0, Data.meta.end, sums);
				for (const [region, { ns }] of sums)
					if (WAITING.has(Data.regions[region]?.time))
						waited += ns / end;
					else
						worked += ns / end;
				const states = Model.statesOf(line.row), able = states ? (states.lifetime_s
					- states.blocked_s - states.ready_s) * 1e9 / end : 1;

				busy = meta.kind === "stream" ? worked : meta.depth || states
					? Math.max(0, Math.min(able, (isNaN(life) ? 1 : life) - waited)) : 0;
				events = meta.events;
				rows = 1;
			}
			for (const child of line.children) {
				weigh(child);
				busy += child.busy * child.rows;
				events += child.events;
				rows += child.rows;
			}
			Object.assign(line, { busy: busy / (rows || 1), events, rows });
		};
		weigh(Model.root);
	},
	number(line, level) {
		line.level = level;
		line.children.forEach((child, i) => {
			child.order = child.order ?? i;
			Model.number(child, level + 1);
		});
	},
	/* Which lines have parts of the critical path, waits, and samples: level 0 has something of all. */
	barred(line) {
		const has = (kind) => line.row >= 0 && !!Data.level(kind, line.row, 0);

		line.path = has(PATH);
		line.waits = has(WAITS);
		line.samples = has(SAMPLES);
		for (const child of line.children) {
			Model.barred(child);
			line.path ||= child.path;
			line.waits ||= child.waits;
		}
	},
	/* The height of the bars above and below the first lane, or all strips. */
	above: (line) => View.overlays.waits && line.waits ? BAR : 0,
	below: (line) => View.overlays.path && line.path ? BAR : 0,
	/* The lane of samples below all others, and where it begins. */
	sampled: (line) => View.overlays.samples && line.samples ? Math.ceil(Model.lane / 2) + 1 : 0,
	samplesTop: (line) => 2 + Model.above(line) + Model.below(line) + Model.lanes(line) * Model.lane,
	/* The strip of the thread's states below that. */
	stated: (line) => View.overlays.states && line.row >= 0 && States.of(line.row) ? STRIP_OF_STATES : 0,
	statesTop: (line) => Model.samplesTop(line) + Model.sampled(line),
	lanes: (line) => !line.open ? 1 : line.full ? line.depth : Math.min(line.depth, LANES),
	/* Where a lane begins, from the top of its line. */
	laneTop: (line, lane) => 2 + Model.above(line) + lane * Model.lane + (lane ? Model.below(line) : 0),
	laneOf(line, depth) {
		return Model.laneTop(line, Math.min(depth, Model.lanes(line)) - 1);
	},
	/* What is open at first: as much as fits about two screens, calls last; rows of a kind alike. */
	first() {
		for (const line of Model.lines)
			line.open = line.type !== "row";
		const within = () => (Model.lay(), Model.height < 900);
		const deepest = Math.max(0, ...Model.lines.map((line) => line.level));

		for (let level = deepest; level >= 0 && !within(); level--)
			for (const line of Model.lines)
				if (line.level === level && line.type !== "row")
					line.open = false;
		const rows = Model.shown.filter((line) => line.type === "row" && Model.foldable(line));

		for (const kind of new Set(rows.map(Model.kindOf))) {
			const alike = rows.filter((line) => Model.kindOf(line) === kind);

			alike.forEach((line) => (line.open = true));
			if (!within())
				alike.forEach((line) => (line.open = false));
		}
	},
	kindOf: (line) => Data.meta.rows[line.row].kind,
	foldable: (line) => line.type === "row" ? line.depth > 1 || line.children.length > 0
		: line.children.length > 0,
	heightOf(line) {
		if (line.type === "track")
			return TRACK_HEIGHT;
		if (line.type === "row")
			return Model.lane * Model.lanes(line) + GAP + Model.above(line) + Model.below(line)
				+ Model.sampled(line) + Model.stated(line);
		return line.open ? HEAD
			: clamp(6 + line.rows * 2, STRIP, 52) + Model.above(line) + Model.below(line);
	},
	/* Lanes as high as the room allows. */
	fit(room) {
		for (const lane of [24, 20, 16]) {
			Model.lane = lane;
			Model.lay();
			if (Model.height < room * 0.8)
				break;
		}
	},
	lay() {
		const by = { name: (a, b) => a.label.localeCompare(b.label, "en", { numeric: true }),
			busy: (a, b) => b.busy - a.busy, events: (a, b) => b.events - a.events,
			tree: (a, b) => a.order - b.order }[Model.sort];
		let y = 0;

		Model.shown = [];
		for (const line of Model.lines)
			line.y = -1;
		const place = (line) => {
			if (line !== Model.root) {
				line.y = y;
				line.height = Model.heightOf(line);
				line.index = Model.shown.length;
				y += line.height;
				Model.shown.push(line);
			}
			if (line.open || line === Model.root)
				[...line.children].sort(by).forEach(place);
		};
		place(Model.root);
		Model.height = y;
	},
	fold(line, open = !line.open) {
		if (!Model.foldable(line))
			return;
		line.open = open;
		Model.lay();
		Page.layout();
	},
	/* All lanes of a row, or the first ones. */
	widen(line, full = !line.full) {
		line.full = full;
		Model.lay();
		Page.layout();
	},
	foldAll(open) {
		for (const line of Model.lines)
			if (Model.foldable(line))
				line.open = open || (line.level === 0 && line.type !== "row");
		Model.lay();
		Page.layout();
	},
	/* Opens what hides this line. */
	reveal(line) {
		for (let above = line.parent; above && above !== Model.root; above = above.parent)
			above.open = true;
		Model.lay();
		Page.layout();
	},
	at(y) {
		let low = 0, high = Model.shown.length;

		while (low < high) {
			const middle = (low + high) >> 1;

			if (Model.shown[middle].y + Model.shown[middle].height <= y)
				low = middle + 1;
			else
				high = middle;
		}
		return Model.shown[low] || null;
	},
	/* The line on which a row is seen: its own, or the folded one above it. */
	seen(row) {
		let line = Model.ofRow[row];

		while (line && line.y < 0)
			line = line.parent;
		return !line || line === Model.root ? null : line;
	},
	rowsOf(line) {
		return line.row >= 0 ? [line.row] : line.children.flatMap(Model.rowsOf);
	},
	/* The line of a name in the report ("rank 3"); of a device or process the one with all its rows. */
	lineOfLabel(label) {
		const rows = Data.meta.rows, row = Model.rowOfLabel(label);

		if (row < 0)
			return null;
		const device = Data.meta.devices.findIndex((d) => d.name === label);
		const of = rows[row].label === label ? (r) => r === row
			: device >= 0 ? (r) => rows[r].device === device
				: (r) => rows[r].group === rows[row].group;
		let line = Model.ofRow[row];

		while (line && line.parent !== Model.root && Model.rowsOf(line.parent).every(of))
			line = line.parent;
		return line;
	},
	/* All lines below one, as they are shown or would be. */
	inOrder: (line) => [...(line === Model.root ? [] : [line]),
		...[...line.children].sort((a, b) => a.y < 0 || b.y < 0 ? a.order - b.order : a.y - b.y)
			.flatMap(Model.inOrder)],
	/* The row of a name in the report, or of a device: its first stream. */
	rowOfLabel(label) {
		if (!label)
			return -1;
		const rows = Data.meta.rows, own = rows.findIndex((r) => r.label === label);

		if (own >= 0)
			return own;
		const device = Data.meta.devices.findIndex((d) => d.name === label);

		if (device >= 0)
			return rows.findIndex((r) => r.device === device);
		const group = Data.meta.groups.findIndex((g) => g.label === label || g.name === label);

		return group >= 0 ? rows.findIndex((r) => r.group === group) : -1;
	},
};

/* States of a thread, and what it did. */
const STATES = [["running", "ran"], ["ready", "waited for a processor"], ["blocked", "was blocked"]];
const WAITING = new Set(["MPI", "waiting", "waiting for a GPU", "measurement", "idle"]);

/* ---- what is shown and selected ------------------------------------------------------------------ */

const View = {
	begin: 0, end: 1,         /* the window, ns */
	selection: null,          /* [begin, end] that was marked */
	rows: null,               /* Set of the only rows that are not dimmed, or null */
	picked: null,             /* { line, row, begin, end, region, depth, count } */
	focus: null,              /* the line that has the keyboard's focus */
	kind: -1,                 /* the only kind that is not dimmed, or -1 */
	hits: null,               /* Uint8Array of regions that are searched, or null */
	query: "",
	overlays: { messages: true, launches: false, collectives: true, locks: true, path: false,
		waits: false, markers: true, samples: true, states: true },

	/* The window that tables are about: what is marked, or else seen. */
	scope: () => View.selection || [View.begin, View.end],
	whole() {
		const [b, e] = View.scope();

		return b <= 0 && e >= Data.meta.end;
	},
	past: [],                 /* the windows before, for back() */
	changed: 0,               /* when it was changed */

	set(begin, end) {
		const least = 20, most = Math.max(Data.meta.end, least);
		const length = clamp(end - begin, least, most);

		begin = clamp((begin + end - length) / 2, 0, most - length);
		View.remember();
		View.begin = begin;
		View.end = begin + length;
		Page.moved();
	},
	/* One step for all of a movement. */
	remember() {
		const now = performance.now();

		if (now - View.changed > 500 && View.past.push([View.begin, View.end]) > 200)
			View.past.shift();
		View.changed = now;
		Tip.hide();
	},
	back() {
		let before = View.past.pop();

		while (before && before[0] === View.begin && before[1] === View.end)
			before = View.past.pop();
		if (!before)
			return;
		View.changed = performance.now(); /* this is no step */
		View.set(...before);
		View.changed = 0;
	},
	zoom(factor, at = (View.begin + View.end) / 2) {
		const length = (View.end - View.begin) * factor,
			part = (at - View.begin) / (View.end - View.begin);

		if (length > Data.meta.end)
			View.set(0, Data.meta.end);
		else if (length >= 20)
			View.set(at - part * length, at + (1 - part) * length);
	},
	pan(part) {
		const by = (View.end - View.begin) * part;

		View.set(View.begin + by, View.end + by);
	},
	all: () => View.set(0, Data.meta.end),
	/* A place with something of its surroundings. */
	around(begin, end) {
		const room = Math.max((end - begin) * 1.5, 200);

		View.set(begin - room, end + room);
	},
	mark(begin, end) {
		View.selection = begin === null || begin === undefined ? null
			: [Math.max(0, Math.min(begin, end)), Math.min(Data.meta.end, Math.max(begin, end))];
		Page.scoped();
	},
};
