/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program flow graph: what all ranks, threads and streams do, merged into one graph (report/flow/). It is
 * laid out when the page is made; here it gets boxes, edges, and a chart of how alike the streams are. A box
 * that stands for several states is drawn as a stack and opens; what is picked is marked in the timeline.
 *
 * Limits: boxes that had no room in the page do not open; `gputrace flow --json` has all states.
 */

const FLOW = { high: 40, row: 54, left: 34, gap: 20, head: 58, least: 138, most: 170 };
/* Members of a box as they are in the data: ranges of places among the streams. */
const SEGMENT = 0, ROW = 1, REGION = 2, OTHERS = 3, MEMBERS = 4, CALLS_OF = 5, LEAST = 6, MEAN = 7,
	LONGEST = 8,
	INSIDE = 9, FIRST_ROW = 10, FIRST_AT = 11, CALLERS = 12, PLACES = 13;
/* Few of the streams, half of them, all: Okabe and Ito's vermilion, yellow, sky blue. */
const ALIKE = ["#d55e00", "#f0e442", "#56b4e9"].map(parseColor);

const Flow = {
	data: undefined,   /* null: there is none */
	path: [],          /* of boxes that were opened: { graph, draw, name } */
	picked: null,      /* { graph, draw, box } or { graph, place } */
	left: 0,           /* where the graph is scrolled to */

	color(share) {
		const at = clamp(share, 0, 1) * 2, low = at >= 1 ? 1 : 0;
		const mix = ALIKE[low].map((c, i) => Math.round(c + (at - low) * (ALIKE[low + 1][i] - c)));

		return `rgb(${mix.join(" ")})`;
	},
	name: (region) => region < 0 ? "(code)" : Data.name(region),
	/* "rank", "ranks" */
	kind: (graph, count) => count === 1 ? graph.kind === "processes" ? "process" : graph.kind.slice(0, -1)
		: graph.kind,
	count: (graph, count) => `${Units.count(count)} ${Flow.kind(graph, count)}`,
	label: (graph, place) => Data.meta.rows[graph.streams[place][0]]?.label || "?",
	places(box) {
		const all = [];

		for (let i = 0; i < box[PLACES].length; i += 2)
			for (let place = box[PLACES][i]; place <= box[PLACES][i + 1]; place++)
				all.push(place);
		return all;
	},
	has(box, place) {
		for (let i = 0; i < box[PLACES].length; i += 2)
			if (place >= box[PLACES][i] && place <= box[PLACES][i + 1])
				return true;
		return false;
	},
	take(text) {
		Flow.data = text ? JSON.parse(text) : null;
	},
	async fetch(sheet) {
		Flow.data = null;
		try {
			Flow.take(await Data.fetch("flow", "text"));
		} catch (error) {
			Page.trouble(error);
		}
		if (Sheets.open === sheet)
			Sheets.fill(sheet);
	},
	sheet(sheet) {
		if (Flow.data === undefined && Data.view) {
			Flow.fetch(sheet);
			return empty("…");
		}
		if (Flow.data === undefined)
			Flow.take($("gt-flow")?.textContent);
		if (!Flow.data?.graphs.length)
			return empty("No calls were recorded.");
		const inside = Flow.path.at(-1), graphs = Flow.data.graphs;

		return [Flow.head(sheet), Flow.graph(sheet, inside),
			inside ? null : el("div", { class: "charts" },
				graphs.filter((g) => g.streams.length > 1).map((g) => Flow.chart(sheet, g)))];
	},

	/* ---- where one is, and what colours mean ------------------------------------------------- */

	head(sheet) {
		const up = (depth) => () => {
			Flow.path.length = depth;
			Flow.pick(sheet, null);
		};
		const crumbs = Flow.path.map((at, i) => ["›", i === Flow.path.length - 1
			? el("b", null, named(at.name, 60))
			: el("button", { class: "jump", onclick: up(i + 1) }, named(at.name, 60))]);
		const ramp = Array.from({ length: 11 }, (_, i) => el("i", { color: Flow.color(i / 10) }));

		return el("div", { class: "flow-head" },
			el("nav", { "aria-label": "Opened boxes" }, Flow.path.length
				? el("button", { class: "jump", onclick: up(0) }, "All") : el("b", null,
					"All"),
			crumbs),
			el("span", { class: "ramp" }, "few ", el("span", { role: "img",
				"aria-label": "from orange: few of the streams, to blue: all of them" },
					ramp),
			" all of them do this, and in that time"),
			el("span", { class: "ramp" }, el("i", { class: "stacked" }), " opens"),
			Flow.data.branches.length && !Flow.path.length ? el("span", { class: "ramp" },
				el("i", { class: "launches" }), " starts, launches",
				el("i", { class: "launches joins" }), " joins, waits for") : null);
	},

	/* ---- the graph --------------------------------------------------------------------------- */

	graph(sheet, inside) {
		const shown = inside ? [inside] : Flow.data.graphs.map((graph) => ({ graph, draw: 0 }));
		const columns = Math.max(...shown.map(({ graph, draw }) => graph.draws[draw].columns));
		const room = (sheet.body.clientWidth || 900) - 28 - FLOW.left - 40;
		const step = clamp(Math.floor(room / columns), FLOW.least, FLOW.most), tops = new Map();
		const lines = el("svg:svg", { class: "ways", "aria-hidden": "true" });
		const stage = el("div", { class: "graph", role: "group", "aria-label": "Program flow",
			onkeydown: (event) => Flow.key(event, sheet) }, lines);
		let y = 0;

		for (const { graph, draw } of shown) {
			const drawn = graph.draws[draw], top = y + FLOW.head;
			const at = { graph, draw, drawn, top, step,
				all: inside?.members ?? graph.streams.length };

			tops.set(graph.kind, at);
			stage.append(Flow.title(at, y, inside));
			Flow.edges(lines, at);
			drawn.boxes.forEach((box, i) => stage.append(Flow.box(sheet, at, box, i)));
			y = top + drawn.rows * FLOW.row + 6;
		}
		if (!inside)
			Flow.branches(lines, tops);
		const wide = FLOW.left + columns * step + 30;

		lines.setAttribute("viewBox", `0 0 ${wide} ${y}`);
		for (const e of [lines, stage]) {
			e.style.width = wide + "px";
			e.style.height = y + "px";
		}
		const picked = stage.querySelector("[aria-pressed=true]") || stage.querySelector("button");

		if (picked)
			picked.tabIndex = 0;
		const scroll = el("div", { class: "flow",
			onscroll: (event) => (Flow.left = event.target.scrollLeft) }, stage);

		requestAnimationFrame(() => (scroll.scrollLeft = Flow.left));
		return scroll;
	},
	title({ graph, drawn }, y, inside) {
		const all = graph.streams.length, clusters = graph.clusters;
		const members = inside ? inside.members : all;
		const text = inside ? `${Units.count(members)} of ${Flow.count(graph, all)}`
			: Flow.count(graph, all);
		const more = inside ? `, ${Units.count(drawn.boxes.length)} boxes` : all < 2 ? ""
			: clusters === 1 ? ", all alike" : clusters === all ? ", each in its own way"
				: `, ${Units.count(clusters)} groups of alike ones`;
		const title = el("h2", null, text, el("small", null, more));

		title.style.top = y + 4 + "px";
		return title;
	},
	x: (at, box) => FLOW.left + box[SEGMENT] * at.step,
	y: (at, box) => at.top + box[ROW] * FLOW.row,
	edges(lines, at) {
		const { graph, drawn, top, step } = at, high = FLOW.high / 2, wide = step - FLOW.gap;
		const picked = Flow.picked?.graph === graph && Flow.picked.place !== undefined
			? Flow.picked.place : -1;
		const on = (box) => picked >= 0 && (!box || Flow.has(box, picked));
		const most = Math.max(...drawn.boxes.map((box) => box[MEMBERS]), 1);
		const own = drawn.boxes.filter((box) => picked >= 0 && Flow.has(box, picked));

		for (const [from, to, members] of drawn.edges) {
			const a = drawn.boxes[from], b = drawn.boxes[to];
			const x = a ? Flow.x(at, a) + wide : FLOW.left - 22, y = (a ? Flow.y(at, a) : top)
				+ high;
			const x1 = b ? Flow.x(at, b) : FLOW.left + drawn.columns * step - FLOW.gap + 22;
			const y1 = (b ? Flow.y(at, b) : top) + high;
			const passed = (b ? b[SEGMENT] : drawn.columns) - (a ? a[SEGMENT] + 1 : 0);
			const up = top - (passed ? Math.min(22, 8 + 4 * passed) : 0);
			const d = passed ? `M${x} ${y}C${x + 20} ${y} ${x + 6} ${up} ${x + 28} ${up}`
				+ `L${x1 - 28} ${up}C${x1 - 6} ${up} ${x1 - 20} ${y1} ${x1} ${y1}`
				: `M${x} ${y}C${x + 13} ${y} ${x1 - 13} ${y1} ${x1} ${y1}`;
			const next = own.find((box) => !a || box[SEGMENT] > a[SEGMENT]);

			lines.append(el("svg:path", { d, "stroke-width": (1 + 4 * members / most).toFixed(1),
				class: on(a) && on(b) && next === b ? "on" : null }));
		}
		for (const x of [FLOW.left - 22, FLOW.left + drawn.columns * step - FLOW.gap + 22])
			lines.append(el("svg:circle", { cx: x, cy: top + high, r: 4 }));
	},
	/* Many of them hide each other: those of what is picked stand out. */
	branches(lines, tops) {
		const many = Flow.data.branches.length > 40, p = Flow.picked;
		const on = (at, box) => p && p.graph === at.graph && (p.box === box
			|| (p.place !== undefined && Flow.has(box, p.place)));

		for (const [kind, from, kind1, to, joins, dashed] of Flow.data.branches) {
			const a = tops.get(kind), b = tops.get(kind1);

			if (!a || !b || !a.drawn.boxes[from] || !b.drawn.boxes[to])
				continue;
			const down = a.top < b.top, half = (a.step - FLOW.gap) * (joins ? 0.6 : 0.4);
			const box = a.drawn.boxes[from], other = b.drawn.boxes[to];
			const x = Flow.x(a, box) + half, x1 = Flow.x(b, other) + half;
			const y = Flow.y(a, box) + (down ? FLOW.high : 0);
			const y1 = Flow.y(b, other) + (down ? 0 : FLOW.high), middle = (y + y1) / 2;
			const shade = on(a, box) || on(b, other) ? "of" : many ? "many" : "";

			lines.append(el("svg:path", { class: `branch ${joins ? "joins" : ""} ${
				dashed ? "again" : ""} ${shade}`,
				d: `M${x} ${y}C${x} ${middle} ${x1} ${middle} ${x1} ${y1}` }));
		}
	},
	box(sheet, at, box, i) {
		const { graph, draw, all } = at, share = box[MEMBERS] / all;
		const times = box[CALLS_OF] > 1.5 ? ` ×${Units.count(box[CALLS_OF])}` : "";
		const some = box[MEMBERS] < all ? ` · ${Units.count(box[MEMBERS])}/${Units.count(all)}` : "";
		const p = Flow.picked, pressed = p?.box === box
			|| (p?.graph === graph && p.place !== undefined && Flow.has(box, p.place));
		const name = Flow.name(box[REGION]);
		const button = el("button", { class: [box[INSIDE] !== -1 ? "stacked" : "",
			2 * box[MEMBERS] < all ? "few" : ""].join(" ").trim() || null,
		"aria-pressed": String(!!pressed), tabindex: "-1", "data-box": i, "data-kind": graph.kind,
		"aria-label": clean(name, 200) + (box[OTHERS] ? ` and ${box[OTHERS]} more` : "")
			+ `, ${Units.count(box[MEMBERS])} of ${Flow.count(graph, all)}`
			+ `, ${Units.ns(box[MEAN])}`
			+ (box[INSIDE] >= 0 ? ", opens" : ""),
		onclick: () => p?.box === box ? Flow.open(sheet, p) : Flow.pick(sheet, { graph, draw, box }),
		onmousemove: (event) => Tip.show(event.clientX, event.clientY, name, ...Flow.says(graph,
			box)),
		onmouseleave: Tip.hide },
		el("span", { class: "what" }, box[REGION] >= 0
			? el("i", { class: "swatch", color: Theme.regionPaint(box[REGION]) }) : null,
		named(name, 120), box[OTHERS] ? el("small", null, ` +${box[OTHERS]}`) : null),
		el("span", null, Units.ns(box[MEAN]) + times + some));

		button.style.left = Flow.x(at, box) + "px";
		button.style.top = Flow.y(at, box) + "px";
		button.style.width = at.step - FLOW.gap + "px";
		button.style.backgroundColor = Flow.color(share);
		button.place = [at.top, box[SEGMENT], box[ROW]];
		return button;
	},
	says(graph, box) {
		const all = graph.streams.length, n = box[MEMBERS];
		const names = Flow.places(box).slice(0, 8).map((place) => clean(Flow.label(graph, place),
			40));

		return [box[OTHERS] ? `and ${Units.count(box[OTHERS])} more` : null,
			n > 1 ? `mean ${Units.ns(box[MEAN])}, `
				+ `${Units.ns(box[LEAST])} to ${Units.ns(box[LONGEST])}`
				: Units.ns(box[MEAN]),
			n === all ? n > 1 ? `all ${Flow.count(graph, all)}` : null
				: `${Units.count(n)} of ${Flow.count(graph, all)}: ${names.join(", ")}${
					n > 8 ? ", …" : ""}`,
			box[CALLERS].length ? "in " + box[CALLERS].map((r) => clean(Flow.name(r),
				60)).join(" ‹ ")
				: null];
	},
	/* Arrows walk the boxes, Enter picks, once more opens, Backspace leaves. */
	key(event, sheet) {
		const from = event.target.place, all = [...event.currentTarget.querySelectorAll("button")];
		const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0,
			-1] }[event.key];

		if ((event.key === "Backspace" || event.key === "Escape") && Flow.path.length) {
			event.preventDefault();
			Flow.path.pop();
			Flow.pick(sheet, null);
			sheet.body.querySelector(".graph button")?.focus();
			return;
		}
		if (!from || !way)
			return;
		event.preventDefault();
		const height = ([top, , row]) => top + row * FLOW.row;
		const far = ({ place }) => way[0] ? [Math.abs(place[0] - from[0]),
			Math.abs(place[1] - from[1]),
			Math.abs(place[2] - from[2])] : [Math.abs(place[1] - from[1]),
			Math.abs(height(place) - height(from)), 0];
		const next = all.filter(({ place }) => way[0] ? (place[1] - from[1]) * way[0] > 0
			: (height(place) - height(from)) * way[1] > 0)
			.sort((a, b) => far(a).reduce((n, v, i) => n || v - far(b)[i], 0))[0];

		if (next) {
			all.forEach((button) => (button.tabIndex = button === next ? 0 : -1));
			next.focus();
		}
	},

	/* ---- how alike streams are --------------------------------------------------------------- */

	chart(sheet, graph) {
		const rows = graph.streams.map((s, place) => ({ place, name: Flow.label(graph, place),
			alike: s[1],
			states: s[3], ns: s[4], work: s[5], longer: s[6] }));
		const centre = Flow.label(graph, graph.centre);

		return el("section", null, el("h2", null, `How alike the ${graph.kind} are`,
			el("small", null, " in the centre: ", named(centre, 60))),
		el("div", { class: "pair" }, Flow.spots(sheet, graph, rows),
			el("div", { class: "scrolls" }, table({ name: "flow-" + graph.kind.replace(/ /g, "-"),
				rows, sort: "alike", down: false,
				pick: (row) => Flow.pick(sheet, { graph, place: row.place }),
				is: (row) => Flow.picked?.graph === graph && Flow.picked.place === row.place,
				columns: [{ key: "name", head: Flow.kind(graph, 1), unit: "text",
					color: (row) => Flow.color(row.alike) },
				{ key: "alike", head: "alike", unit: "share", meter: true },
				{ key: "states", head: "states", unit: "count" },
				{ key: "ns", head: "time", unit: "ns" },
				{ key: "work", head: "work", unit: "ns", title: "neither MPI nor waiting" },
				{ key: "longer", head: "longer", unit: "ns",
					title: "works longer than the others do in the mean" }] }))));
	},
	/* The nearer to the centre, the more alike. */
	spots(sheet, graph, rows) {
		const all = rows.length, r = all > 256 ? 2.5 : all > 64 ? 3.5 : 5, labels = [];
		const few = rows.filter((row) => row.alike < 0.9).length <= 8;
		const chart = el("svg:svg", { class: all > 64 ? "spots many" : "spots",
			viewBox: "-125 -112 250 224", role: "img",
			"aria-label": `How alike the ${graph.kind} are, as in the table beside` });

		for (let ring = 1; ring <= 4; ring++)
			chart.append(el("svg:circle", { class: "ring", r: 14 + ring * 22 }),
				el("svg:text", { class: "scale", y: 11 + ring * 22 },
					`${100 - 25 * ring} %`));
		for (const row of rows) {
			const angle = 2 * Math.PI * (row.place / all - 0.25);
			const away = row.place === graph.centre ? 0 : 14 + 88 * (1 - row.alike);
			const x = away * Math.cos(angle), y = away * Math.sin(angle);
			const picked = Flow.picked?.graph === graph && (Flow.picked.place === row.place
				|| (Flow.picked.box && Flow.has(Flow.picked.box, row.place)));

			chart.append(el("svg:circle", { class: picked ? "spot on" : "spot", cx: x.toFixed(1),
				cy: y.toFixed(1), r, fill: Flow.color(row.alike),
				onclick: () => Flow.pick(sheet, { graph, place: row.place }),
				onmousemove: (event) => Tip.show(event.clientX, event.clientY, row.name,
					`${Units.share(row.alike)} like ${
						clean(Flow.label(graph, graph.centre), 60)}`),
				onmouseleave: Tip.hide }));
			if (row.alike < 0.9 && (few || picked)
				&& !labels.some((l) => Math.abs(l.y - y) < 12 && Math.abs(l.x - x) < 80))
				labels.push({ x, y, row });
		}
		for (const { x, y, row } of labels)
			chart.append(el("svg:text", { x: x + (x > 40 ? -8 : 8), y: y + 3.5,
				"text-anchor": x > 40 ? "end" : "start" }, isolated(clean(row.name, 14))));
		return chart;
	},

	/* ---- picking ----------------------------------------------------------------------------- */

	pick(sheet, what) {
		const focused = document.activeElement?.closest?.(".graph") && document.activeElement.dataset;
		const again = focused
			&& `.graph button[data-kind="${focused.kind}"][data-box="${focused.box}"]`;

		Flow.picked = what;
		View.picked = null;
		View.rows = !what ? null : new Set((what.box ? Flow.places(what.box) : [what.place])
			.map((place) => what.graph.streams[place][0]));
		const first = what && Model.ofRow[[...View.rows][0]];

		if (first && ![...View.rows].some((row) => Flow.visible(row)))
			Page.into(Model.seen(first.row) || first);
		Page.details();
		$("details").classList.toggle("open", !!what);
		Tip.hide();
		Draw.soon();
		const tops = [...sheet.body.querySelectorAll(".scrolls")].map((e) => e.scrollTop);

		Sheets.fill(sheet);
		sheet.body.querySelectorAll(".scrolls").forEach((e, i) => (e.scrollTop = tops[i] || 0));
		if (again)
			sheet.body.querySelector(again)?.focus();
	},
	/* From elsewhere: nothing is picked any more. */
	clear() {
		const sheet = Sheets.all.find((s) => s.id === "flow");

		Flow.picked = View.rows = null;
		if (sheet === Sheets.open)
			Sheets.fill(sheet);
		Page.details();
		Draw.soon();
	},
	visible(row) {
		const line = Model.seen(row);

		return line && line.y >= Draw.top() && line.y + line.height <= Draw.top() + Draw.height;
	},
	/* The inside of a box. */
	open(sheet, { graph, box }) {
		if (box[INSIDE] < 0)
			return;
		Flow.path.push({ graph, draw: box[INSIDE], members: box[MEMBERS],
			name: Flow.name(box[REGION]) + (box[OTHERS] ? ` +${box[OTHERS]}` : "") });
		Flow.left = 0;
		Flow.pick(sheet, null);
		sheet.body.scrollTop = 0;
		sheet.body.querySelector(".graph button")?.focus();
	},
	/* Of what is picked, for the panel beside the tables. */
	details() {
		const p = Flow.picked;

		return [el("button", { class: "shut", "aria-label": "Close",
			onclick: () => Flow.pick(Sheets.open, null) }, "×"), ...(p.box ? Flow.ofBox(p)
				: Flow.ofStream(p))];
	},
	jump: (row, t, text) => el("button", { class: "jump", onclick: () => t === undefined ? Find.row(row)
		: Find.time(row, t) }, text),
	ofBox({ graph, box }) {
		const all = graph.streams.length, places = Flow.places(box), most = 24;
		const members = el("ul", { class: "list" }, places.slice(0, most).map((place) => el("li",
			null,
			Flow.jump(graph.streams[place][0], undefined, named(Flow.label(graph, place), 200)))),
		places.length > most ? el("li", null, `and ${Units.count(places.length - most)} more`)
			: null);
		const inner = box[INSIDE] >= 0 ? graph.draws[box[INSIDE]] : null;

		return [el("h2", null, box[REGION] >= 0 ? el("i", { class: "swatch",
			color: Theme.regionPaint(box[REGION]) }) : null, named(Flow.name(box[REGION])),
		box[OTHERS] ? ` and ${Units.count(box[OTHERS])} more` : null),
		terms([["members", `${Units.count(box[MEMBERS])} of ${Flow.count(graph, all)}`],
			["mean", Units.ns(box[MEAN])], ["least", box[MEMBERS] > 1 ? Units.ns(box[LEAST])
				: null],
			["most", box[MEMBERS] > 1 ? Units.ns(box[LONGEST]) : null],
			["calls", box[CALLS_OF] ? Units.number(box[CALLS_OF]) : null],
			["in", box[CALLERS].length ? box[CALLERS].map((r, i) => [i ? " ‹ " : "",
				named(Flow.name(r), 100)]).flat() : null],
			["first call", Flow.jump(box[FIRST_ROW], box[FIRST_AT],
				Units.exact(box[FIRST_AT]))]]),
		el("p", null, inner ? [el("button", { onclick: () => Flow.open(Sheets.open, { graph, box }) },
			`Open (${Units.count(inner.boxes.length)} boxes)`), " "] : null,
		el("button", { onclick: () => Search.exactly(Flow.name(box[REGION])) }, "Find all")),
		box[INSIDE] === -2 ? el("p", { class: "empty" },
			"What is inside had no room in the page; gputrace flow --json has it.") : null,
				members];
	},
	amount: (calls, ns) => !calls ? "not called"
		: `${Units.ns(ns)} in ${Units.number(calls)} call${calls === 1 ? "" : "s"}`,
	ofStream({ graph, place }) {
		const [row, alike, , states, ns, work, longer, differences] = graph.streams[place];

		return [el("h2", null, named(Flow.label(graph, place), 400)),
			terms([["alike", Units.share(alike)], ["to", place === graph.centre
				? "(it is the centre)"
				: named(Flow.label(graph, graph.centre), 100)], ["states",
					Units.count(states)],
			["time", Units.ns(ns)], ["work", Units.ns(work)],
			[longer < 0 ? "works shorter" : "works longer", Units.ns(Math.abs(longer))]]),
			el("p", null, el("button", { onclick: () => Find.row(row) }, "Show the row")),
			differences.length ? el("ul", { class: "list" },
				differences.map(([region, calls, own, others, mean]) =>
					el("li", null, named(Flow.name(region), 200), ": "
						+ Flow.amount(calls, own)
						+ ", the others " + Flow.amount(others, mean)))) : null];
	},
};
