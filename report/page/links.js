/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is drawn beside and upon the rows: the time axis, the overview of the run, counters, markers,
	and links
 * (messages, launches, collectives, locks, creations). Links that are too many for the pixels are bundles.
 *
 * Limits: at most MOST_LINKS single links a frame; then the rest is left to be zoomed to, which a badge says.
 */

const MOST_LINKS = 2500;

/* Operations by their numbers in OTF2. */
const COLLECTIVES = ["barrier", "broadcast", "gather", "gatherv", "scatter", "scatterv", "allgather",
	"allgatherv", "alltoall", "alltoallv", "alltoallw", "allreduce", "reduce", "reduce-scatter", "scan",
	"exscan", "reduce-scatter-block", "create handle", "destroy handle", "allocate", "deallocate",
	"create handle and allocate", "destroy handle and deallocate"];

const Ruler = {
	draw() {
		const canvas = $("ruler"), ctx = canvas.getContext("2d"), height = canvas.height / Draw.scale;
		const length = View.end - View.begin, step = Ruler.step(length / Draw.width * 96);

		ctx.setTransform(Draw.scale, 0, 0, Draw.scale, 0, 0);
		ctx.fillStyle = Theme.css.raised;
		ctx.fillRect(0, 0, Draw.width, height);
		ctx.font = "11px " + Draw.font();
		ctx.textBaseline = "middle";
		const from = Ruler.base(ctx, step, height);

		for (let i = Math.ceil(View.begin / step * 5); i * step / 5 <= View.end; i++) {
			const x = Math.round(Draw.x(i * step / 5)), main = i % 5 === 0;

			ctx.fillStyle = main ? Theme.css.faint : Theme.css.line;
			ctx.fillRect(x, main ? height - 8 : height - 4, 1, 8);
			if (main && x >= from.x && x < Draw.width - 40) {
				ctx.fillStyle = Theme.css.dim;
				ctx.fillText(from.sign + Units.tick(i * step / 5 - from.ns, step,
					View.end - from.ns), x + 4, height / 2 - 1);
			}
		}
		if (View.selection) {
			const a = Draw.x(View.selection[0]), b = Draw.x(View.selection[1]);

			ctx.fillStyle = Theme.css.accent;
			ctx.fillRect(a, height - 3, Math.max(b - a, 2), 3);
		}
	},
	/* Far from the begin labels count from a round time, which stands at the left. */
	base(ctx, step, height) {
		if (View.begin < step * 2000)
			return { ns: 0, x: -Infinity, sign: "" };
		const round = 10 ** Math.ceil(Math.log10(View.end - View.begin));
		const ns = Math.floor(View.begin / round) * round, text = Units.exact(ns);

		ctx.fillStyle = Theme.css.ink;
		ctx.fillText(text, 5, height / 2 - 1);
		return { ns, x: ctx.measureText(text).width + 14, sign: "+" };
	},
	/* 1, 2 or 5 times a power of ten. */
	step(least) {
		const power = 10 ** Math.floor(Math.log10(Math.max(least, 1))), part = least / power;

		return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
	},
};

/* The whole run, each row a strip, with the window in it. */
const Overview = {
	image: null, stale: true,

	draw() {
		const canvas = $("overview"), ctx = canvas.getContext("2d");

		if (Overview.stale)
			Overview.paint(canvas, ctx);
		ctx.setTransform(1, 0, 0, 1, 0, 0);
		ctx.putImageData(Overview.image, 0, 0);
		const scale = canvas.width / Math.max(1, Data.meta.end), a = View.begin * scale,
			b = View.end * scale;

		ctx.fillStyle = Theme.css.sunken;
		ctx.globalAlpha = 0.55;
		ctx.fillRect(0, 0, a, canvas.height);
		ctx.fillRect(b, 0, canvas.width - b, canvas.height);
		ctx.globalAlpha = 1;
		ctx.fillStyle = Theme.css.accent;
		const edge = Math.max(2, 2 * Draw.scale);

		ctx.fillRect(Math.min(a, canvas.width - edge), 0, edge, canvas.height);
		ctx.fillRect(Math.max(b - edge, a), 0, edge, canvas.height);
		const part = String(Math.round(View.begin / Math.max(1, Data.meta.end) * 100));

		if (canvas.getAttribute("aria-valuenow") !== part) {
			canvas.setAttribute("aria-valuenow", part);
			canvas.setAttribute("aria-valuetext",
				`${Units.ns(View.begin)} to ${Units.ns(View.end)}`);
		}
	},
	paint(canvas, ctx) {
		const image = ctx.createImageData(canvas.width, canvas.height),
			out = new Uint32Array(image.data.buffer);
		const rows = Data.meta.rows.map((r, i) => [r, i]).filter(([r]) => r.depth).map(([, i]) => i);
		const saved = [Draw.scan, Draw.window], pad = Math.round(3 * Draw.scale),
			room = canvas.height - 2 * pad;
		const count = Math.min(rows.length, room);

		Draw.scan = new Uint32Array(canvas.width);
		Draw.window = { begin: 0, end: Math.max(1, Data.meta.end) };
		out.fill(pixel(...parseColor(Theme.css.raised)));
		for (let i = 0; i < count; i++) {
			const row = rows[Math.floor(i * rows.length / count)],
				a = pad + Math.round(i * room / count);
			const b = pad + Math.round((i + 1) * room / count);

			Draw.scan.fill(Theme.paper);
			for (let depth = 1; depth <= Math.min(Data.meta.rows[row].depth, DEEPEST); depth++)
				Draw.lane(row, depth, -1, false, false);
			for (let y = a; y < b - (b - a > 3 ? 1 : 0); y++)
				out.set(Draw.scan, y * canvas.width);
		}
		[Draw.scan, Draw.window] = saved;
		Overview.image = image;
		Overview.stale = false;
	},
};

/* Counters: the band from least to greatest, and the last value as a line. */
const Tracks = {
	draw(ctx, line, y) {
		const track = Data.meta.tracks[line.track], low = Math.min(0, track.min),
			high = Math.max(track.max, low + 1e-300);
		const level = Tracks.level(line.track);
		const at = (v) => y + TRACK_HEIGHT - 4 - (v - low) / (high - low) * (TRACK_HEIGHT - 9);
		const color = Theme.kinds[KIND["GPU call"]];

		ctx.save();
		ctx.beginPath();
		ctx.rect(0, y, Draw.width, TRACK_HEIGHT);
		ctx.clip();
		if (level >= 0) {
			const points = Tracks.points(line.track, level);

			ctx.fillStyle = ctx.strokeStyle = color;
			ctx.beginPath();
			let last = null;

			for (const [b, e, min, max, value] of points) {
				const x0 = Draw.x(b), x1 = Math.max(Draw.x(e), x0 + 1);

				if (last !== null)
					ctx.rect(last.x, at(last.v), x0 - last.x, at(low) - at(last.v));
				ctx.rect(x0, at(max), x1 - x0, at(low) - at(max));
				last = { x: x1, v: value, min };
			}
			if (last)
				ctx.rect(last.x, at(last.v), Draw.width + 2 - last.x, at(low) - at(last.v));
			ctx.globalAlpha = 0.35;
			ctx.fill();
			ctx.globalAlpha = 1;
			ctx.beginPath();
			points.forEach(([b, , , , value], i) => {
				ctx.lineTo(Draw.x(b), at(points[Math.max(0, i - 1)][4]));
				ctx.lineTo(Draw.x(b), at(value));
			});
			ctx.lineTo(Draw.width + 2, at(points.at(-1)?.[4] ?? low));
			ctx.lineWidth = 1;
			ctx.stroke();
		}
		ctx.fillStyle = Theme.css.faint;
		ctx.font = "10px " + Draw.font();
		ctx.textBaseline = "top";
		const text = Tracks.value(track, track.max);

		ctx.fillStyle = Theme.css.paper;
		ctx.globalAlpha = 0.75;
		ctx.fillRect(2, y + 1, ctx.measureText(text).width + 5, 12);
		ctx.globalAlpha = 1;
		ctx.fillStyle = Theme.css.dim;
		ctx.fillText(text, 4, y + 2);
		ctx.restore();
	},
	value(track, value) {
		const { unit, base, exponent } = track.metric,
			scaledTo = value * (base || 10) ** (exponent || 0);

		return (unit === "bytes" || unit === "byte" || unit === "B" ? Units.bytes(scaledTo)
			: Units.number(scaledTo) + (unit && unit !== "#" ? "\u00a0" + clean(unit, 20)
				: "")).replace("percent", "%");
	},
	level(i) {
		const track = Data.meta.tracks[i];

		return tilesFor(TRACK, track.id, levelFor(Draw.perPixel() / Draw.scale, track.levels),
			View.begin, View.end);
	},
	/* [begin, end, min, max, last] of a tile's buckets; of a coarser one where it shows all there is. */
	tile(id, level, tile) {
		const begin = tile * Data.span(level), end = begin + Data.span(level);

		for (let k = level, at = tile; k >= 0; k--, at = Math.floor(at / 2)) {
			const t = Data.tile(TRACK, id, k, at), base = at * Data.span(k),
				size = Data.bucket(k), points = [];

			for (let j = 0; j < t.at.length; j++) {
				const b = base + t.at[j] * size;

				if (b + size > begin && b < end)
					points.push([b, b + size, t.min[j], t.max[j], t.last[j]]);
			}
			if (t !== EMPTY)
				return points;
		}
		return [];
	},
	/* Those of a window, and the one before it. */
	points(i, level, begin = View.begin, end = View.end) {
		const { id } = Data.meta.tracks[i], [first, last] = tileRange(level, begin, end), points = [];
		let before = null;

		for (let tile = Math.max(0, first - 1); tile <= last; tile++)
			for (const point of Tracks.tile(id, level, tile))
				if (point[1] < begin)
					before = point;
				else if (point[0] <= end && point[0] !== points.at(-1)?.[0])
					points.push(point);
		return before ? [before, ...points] : points;
	},
	/* The value at a time: of the last bucket that has begun. */
	valueAt(i, t) {
		const level = Tracks.level(i);

		if (level < 0)
			return null;
		let found = null;

		for (const point of Tracks.points(i, level))
			if (point[0] <= t)
				found = point;
		return found;
	},
};

/* ---- what the scheduler did with threads ----------------------------------------------------------- */

/*
 * Three tracks of a thread say for how long it had run, was ready and was blocked until a moment. Between two
 * moments the shares of what was added are all that is known; of threads that use a row one after another the
 * rest may be time without a thread.
 */
const States = {
	names: ["GPUTRACE::RUNNING_NS", "GPUTRACE::READY_NS", "GPUTRACE::BLOCKED_NS"], /* as in STATES */
	tracks: null,  /* row -> places of its three tracks */
	part: null,    /* of each pixel, how much of it is each state, and how much lies between moments */

	is: (track) => States.names.includes(track.metric.name),
	of(row) {
		if (!States.tracks) {
			States.tracks = new Map();
			Data.meta.tracks.forEach((track, i) => {
				const of = States.tracks.get(track.row) || [];
				const at = States.names.indexOf(track.metric.name);

				if (at >= 0)
					of[at] = i, States.tracks.set(track.row, of);
			});
		}
		const of = States.tracks.get(row);

		return of && of.length === 3 ? of : null;
	},
	/*
	 * [time, ns of each state until then, error of the time] of a level's buckets: of several the first
	 * and the last.
	 */
	moments(row, level, begin, end) {
		const all = States.of(row).map((i) => Tracks.points(i, level, begin, end)), found = [];

		all[0].forEach(([b, e, least, most, last], i) => {
			const others = all.slice(1).map((points) => points[i]);

			if (others.some((point) => point?.[0] !== b))
				return;
			if (least !== last || others.some((point) => point[2] !== point[4]))
				found.push([b, least, ...others.map((point) => point[2]), e - b]);
			found.push([least === last ? (b + e) / 2 : e, last,
				...others.map((point) => point[4]), e - b]);
		});
		return found;
	},
	sum: (moment) => moment[1] + moment[2] + moment[3],
	/* Those of a window, of the run around it coarser ones, and the thread's begin and end. */
	known(row, begin, end) {
		const track = Data.meta.tracks[States.of(row)[0]], level = Tracks.level(States.of(row)[0]);
		const rough = tilesFor(TRACK, track.id, Math.min(2, track.levels - 1), 0, Data.meta.end);
		const fine = level > rough ? States.moments(row, level, begin, end) : [];
		const around = rough < 0 ? [] : States.moments(row, rough, 0, Data.meta.end)
			.filter(([time]) => !fine.length || time < fine[0][0] || time > fine.at(-1)[0]);
		const all = [...fine, ...around].sort((a, b) => a[0] - b[0] || States.sum(a) - States.sum(b));
		const whole = Model.statesOf(row), meta = Data.meta.rows[row];
		const first = all[0], last = all.at(-1);

		if (all.length)
			all.unshift([Math.min(first[0] - States.sum(first), meta.begin), 0, 0, 0, 0]);
		if (all.length && whole) {
			const end = [0, ...STATES.map(([name]) => whole[name + "_s"] * 1e9), 0];

			end[0] = Math.max(last[0], last[0] + States.sum(end) - States.sum(last), meta.end);
			all.push(end);
		}
		return all;
	},
	/* Each stretch between two moments: begin, end, and the share of each state, in sum at most 1. */
	each(row, begin, end, what) {
		const all = States.known(row, begin, end);

		for (let i = 1; i < all.length; i++) {
			const [from, to] = [all[i - 1], all[i]];
			const added = [1, 2, 3].map((k) => Math.max(0, to[k] - from[k]));
			const sum = added[0] + added[1] + added[2], ns = to[0] - from[0];
			/* Times are as exact as their buckets, readings within 1 % */
			const of = ns * 0.99 > sum + from[4] + to[4] ? ns : sum;

			if (to[0] > begin && from[0] < end && ns > 0 && sum)
				what(from[0], to[0], added.map((one) => one / of));
		}
	},
	/* The share of each state in a window, in sum at most 1, or null: it is not known. */
	shares(row, begin, end) {
		const sums = [0, 0, 0];
		let all = 0;

		States.each(row, begin, end, (b, e, shares) => {
			const ns = Math.min(e, end) - Math.max(b, begin);

			all += ns;
			shares.forEach((share, i) => (sums[i] += share * ns));
		});
		return all ? sums.map((ns) => ns / all) : null;
	},
	/* A strip of device lines [first, last): below in each pixel that it ran, then that it was ready. */
	draw(row, first, last) {
		const { begin, end } = View, width = Draw.canvas.width, scale = width / (end - begin);
		const colors = States.colors(), part = States.part?.length === 4 * width ? States.part.fill(0)
			: States.part = new Float32Array(4 * width);

		States.each(row, begin, end, (b, e, shares) => {
			const x0 = Math.max(0, (b - begin) * scale),
				x1 = Math.min(width, (e - begin) * scale);

			for (let x = Math.floor(x0); x < x1; x++) {
				const room = Math.min(x1, x + 1) - Math.max(x0, x);

				shares.forEach((share, k) => (part[4 * x + k] += share * room));
				part[4 * x + 3] += room;
			}
		});
		for (let x = 0; x < width; x++) {
			const [ran, ready, blocked, all] = part.subarray(4 * x, 4 * x + 4);

			for (let y = Math.max(0, first); all && y < Math.min(last, Draw.canvas.height); y++) {
				const up = (last - y - 0.5) / (last - first) * all;

				if (up < ran + ready + blocked)
					Draw.pixels[y * width + x] =
						colors[up < ran ? 0 : up < ran + ready ? 1 : 2];
			}
		}
	},
	colors: () => [Theme.css.accent, "#d55e00", Theme.css.line].map((css) => pixel(...parseColor(css))),
};

const Markers = {
	draw(ctx, top) {
		const severe = { high: "#d55e00", medium: "#e69f00", low: Theme.css.accent,
			none: Theme.css.faint };

		for (const marker of Data.meta.markers) {
			const x = Draw.x(marker.time);

			if (x < -8 || x > Draw.width + 8)
				continue;
			const line = marker.row !== null && marker.row !== undefined ? Model.seen(marker.row)
				: null;
			const y = line ? line.y - top : 0, high = line ? line.height : Draw.height;

			ctx.fillStyle = severe[marker.severity] || severe.none;
			ctx.fillRect(Math.round(x), y, 1, high);
			ctx.beginPath();
			ctx.moveTo(x - 4, y);
			ctx.lineTo(x + 5, y);
			ctx.lineTo(x + 0.5, y + 7);
			ctx.fill();
		}
	},
	at(x, y) {
		return Data.meta.markers.find((marker) => {
			const line = marker.row !== null && marker.row !== undefined ? Model.seen(marker.row)
				: null;
			const from = line ? line.y - Draw.top() : 0;

			return Math.abs(Draw.x(marker.time) - x) < 5 && y >= from
				&& y < from + (line ? line.height : 10);
		});
	},
};

/* Where the critical path goes from a row to another one: a line between its bars. */
const Path = {
	draw(ctx, top) {
		const parts = [], near = Draw.perPixel() * 2;

		Data.meta.rows.forEach((meta, row) => {
			if (!Data.level(PATH, row, 0))
				return;
			const level = tilesFor(PATH, row, levelFor(Draw.perPixel() / Draw.scale, meta.levels),
				View.begin, View.end);

			eachSpan(PATH, row, level, 0, View.begin, View.end,
				(begin, end) => parts.push([begin, end, row]));
		});
		parts.sort((a, b) => a[0] - b[0]);
		Path.changes = parts.slice(1).map(([begin, , to], i) => [parts[i][1], begin, parts[i][2], to])
			.filter(([end, begin, from, to]) => from !== to && begin - end <= near);
		ctx.strokeStyle = Theme.css.ink;
		ctx.lineWidth = 1.5;
		ctx.beginPath();
		for (const [end, begin, from, to] of Path.changes) {
			const y0 = Path.bar(from, top), y1 = Path.bar(to, top);

			if (y0 === null || y1 === null || y0 === y1 || Math.max(y0, y1) < 0
				|| Math.min(y0, y1) > Draw.height)
				continue;
			ctx.moveTo(Draw.x(end), y0);
			ctx.lineTo(Draw.x(begin), y1);
		}
		ctx.stroke();
	},
	/* The middle of the bar in which a row's part of it is. */
	bar(row, top) {
		const line = Model.seen(row);

		if (!line)
			return null;
		const at = line.row === row ? Model.laneTop(line, 0) + Model.lane
			: line.height - 3 - Model.below(line);

		return line.y - top + at + (BAR - 1) / 2;
	},
	changes: [],
};

const OVERLAY_OF_LINK = { message: "messages", launch: "launches", collective: "collectives", lock: "locks",
	create: "launches" };

const Links = {
	left: 0,    /* that were too many */
	seen: [],   /* [x0, y0, x1, y1, link] of those that were drawn */
	few: true,  /* so few that each one is drawn with its ends */

	/* The types that occur: the bundles of level 0 sum up what is in all levels. */
	types() {
		const { links, bundles } = Data.tile(LINKS, 0, 0, 0);

		return new Set([...links, ...bundles].map((link) => Data.meta.links[link.type]));
	},

	level: () => levelFor(Draw.perPixel(), Data.meta.link_levels),
	/* Calls what(link) for the single links in a window. False: not all is there yet. */
	each(begin, end, level, what) {
		const best = tilesFor(LINKS, 0, level, begin, end);

		for (let k = 0; k <= best; k++) {
			const [first, last] = tileRange(k, begin, end);

			for (let tile = Math.max(0, first - 1); tile <= last; tile++)
				for (const link of Data.tile(LINKS, 0, k, tile).links)
					if (link.begin <= end && link.end >= begin)
						what(link);
		}
		return best;
	},
	eachBundle(begin, end, level, what) {
		const [first, last] = tileRange(level, begin, end);

		for (let tile = first; tile <= last; tile++)
			for (const bundle of Data.tile(LINKS, 0, level, tile).bundles)
				if (bundle.begin <= end && bundle.end >= begin)
					what(bundle);
	},
	color(type) {
		const name = Data.meta.links[type];

		return name === "message" ? Theme.css.ink : name === "collective" ? Theme.kinds[KIND.MPI]
			: name === "launch" ? Theme.kinds[KIND["GPU call"]] : Theme.css.dim;
	},
	wanted: (type) => View.overlays[OVERLAY_OF_LINK[Data.meta.links[type]]],
	draw(ctx, top) {
		const drawn = new Map();

		Links.left = 0;
		Links.seen = [];
		if (View.picked?.count === 1)
			Links.picked(ctx, top);
		if (!["messages", "launches", "collectives", "locks"].some((name) => View.overlays[name])) {
			Links.badge();
			return;
		}
		let singles = 0;
		const level = Links.each(View.begin, View.end, Links.level(), (link) => {
			if (!Links.wanted(link.type))
				return;
			if (singles++ >= MOST_LINKS) {
				Links.left++;
				return;
			}
			(drawn.get(link.type) || drawn.set(link.type, []).get(link.type)).push(link);
		});

		Links.few = singles < 60;
		for (const [type, links] of drawn)
			if (Data.meta.links[type] === "collective")
				Links.collectives(ctx, top, links, type);
			else
				Links.lines(ctx, top, links, type);
		Links.badge();
		if (level >= 0)
			Links.bundles(ctx, top, level);
	},
	/* Says how many are not drawn. */
	badge() {
		const badge = $("links-left"), text = Links.left
			? `${Units.count(Links.left)} more lines: zoom in` : "";

		if (badge.textContent !== text) {
			badge.textContent = text;
			badge.hidden = !text;
		}
	},
	/* The link whose line passes a place of the canvas. */
	at(x, y) {
		let best = null, nearest = 4;

		for (const [x0, y0, x1, y1, link] of Links.seen) {
			const dx = x1 - x0, dy = y1 - y0;
			const part = clamp(((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1), 0, 1);
			const away = Math.hypot(x - x0 - part * dx, y - y0 - part * dy);

			if (away < nearest)
				nearest = away, best = link;
		}
		return best;
	},
	/* What the pointer shows of one: a title, and lines. */
	text(link) {
		const label = (row) => named(Data.meta.rows[row]?.label, 200);
		const type = Data.meta.links[link.type];
		const length = Units.ns(link.end - link.begin), at = `at ${Units.exact(link.begin)}`;
		const comm = Data.meta.comms[link.comm];

		if (type === "collective")
			return [COLLECTIVES[link.tag] || type, comm ? named(comm.name, 200) : null,
				`${length} from the last member's begin to the last end`,
				link.bytes ? Units.bytes(link.bytes) : null, at];
		return [type, ["from ", label(link.from)], ["to ", label(link.to)], type === "message"
			? `${Units.bytes(link.bytes)}, tag ${link.tag}` : null, length, at];
	},
	/* Those of the selected call, whether their kind is drawn or not. */
	picked(ctx, top) {
		for (const link of View.picked.links ||= Links.of(View.picked)) {
			const line = View.picked.line, lane = line?.row === View.picked.row
				? Model.laneOf(line, View.picked.depth) - Model.laneTop(line, 0) : 0;
			const y0 = Links.middle(link.from, top), y1 = Links.middle(link.to, top);

			if (y0 === null || y1 === null)
				continue;
			ctx.strokeStyle = Theme.css.accent;
			ctx.lineWidth = 2;
			ctx.beginPath();
			ctx.moveTo(Draw.x(link.begin), y0 + (link.out ? lane : 0));
			ctx.lineTo(Draw.x(link.end), y1 + (link.out ? 0 : lane));
			ctx.stroke();
		}
	},
	/* The middle of a row's first lane, or of the line that hides it. */
	middle(row, top) {
		const line = Model.seen(row);

		if (!line)
			return null;
		if (line.row !== row)
			return line.y - top + line.height / 2;
		return line.y - top + Model.laneTop(line, 0) + Model.lane / 2;
	},
	/* A line as an area, downwards: strokes of a path may be drawn over each other, areas are not. */
	strip(ctx, x0, y0, x1, y1) {
		const [a, b] = y0 < y1 ? [x0, x1] : [x1, x0], low = Math.min(y0, y1),
			high = Math.max(y0, y1);

		ctx.moveTo(a, low);
		ctx.lineTo(b, high);
		ctx.lineTo(b + 1, high);
		ctx.lineTo(a + 1, low);
		ctx.closePath();
	},
	/* So many in so little room that their lines would be a block? */
	dense(links) {
		let first = Infinity, last = -Infinity;

		for (const link of links) {
			first = Math.min(first, link.begin);
			last = Math.max(last, link.begin);
		}
		return links.length >= 300 || links.length > 10 + (Draw.x(last) - Draw.x(first)) / 4;
	},
	lines(ctx, top, links, type) {
		const dense = Links.dense(links), arrows = [];

		ctx.strokeStyle = ctx.fillStyle = Links.color(type);
		ctx.lineWidth = 1;
		ctx.globalAlpha = dense ? 0.2 : 0.6;
		ctx.beginPath();

		for (const link of links) {
			const y0 = Links.middle(link.from, top), y1 = Links.middle(link.to, top);

			if (y0 === null || y1 === null || y0 === y1 || Math.max(y0, y1) < 0
				|| Math.min(y0, y1) > Draw.height)
				continue;
			const x0 = Draw.x(link.begin), x1 = Draw.x(link.end);

			if (dense) {
				Links.strip(ctx, x0, y0, x1, y1);
			} else {
				ctx.moveTo(x0, y0);
				ctx.lineTo(x1, y1);
			}
			Links.seen.push([x0, y0, x1, y1, link]);
			if (!dense)
				arrows.push([x0, y0, x1, y1]);
		}
		if (dense)
			ctx.fill();
		else
			ctx.stroke();
		for (const [x0, y0, x1, y1] of arrows) {
			const angle = Math.atan2(y1 - y0, x1 - x0);

			ctx.beginPath();
			ctx.moveTo(x1, y1);
			ctx.lineTo(x1 - 7 * Math.cos(angle - 0.35), y1 - 7 * Math.sin(angle - 0.35));
			ctx.lineTo(x1 - 7 * Math.cos(angle + 0.35), y1 - 7 * Math.sin(angle + 0.35));
			ctx.fill();
		}
		ctx.globalAlpha = 1;
	},
	/* From the latest enter to the last leave, over all members. Of many only a shade is drawn. */
	collectives(ctx, top, links, type) {
		const boxes = new Path2D(), lines = new Path2D();

		for (const link of links) {
			const rows = Data.meta.comms[link.comm]?.rows || [link.from];
			const ys = rows.map((row) => Links.middle(row, top)).filter((y) => y !== null);

			if (!ys.length)
				continue;
			const low = Math.min(...ys), high = Math.max(...ys), x0 = Draw.x(link.begin),
				x1 = Draw.x(link.end);

			if (x1 - x0 > 1)
				boxes.rect(x0, low, x1 - x0, high - low);
			lines.rect(Math.round(x0), low, 1, high - low);
			Links.seen.push([x0, low, x0, high, link]);
			for (const y of Links.few ? ys : [])
				lines.rect(x0 - 2, y - 2, 5, 5);
		}
		ctx.fillStyle = Links.color(type);
		ctx.globalAlpha = 0.16;
		ctx.fill(boxes);
		ctx.globalAlpha = Links.dense(links) ? 0.2 : 0.6;
		ctx.fill(lines);
		ctx.globalAlpha = 1;
	},
	/* One shade for each kind, however many lie over each other: what happens below stays readable. */
	bundles(ctx, top, level) {
		const shapes = new Map();

		Links.eachBundle(View.begin, View.end, level, (bundle) => {
			const y0 = Links.middle(bundle.from, top), y1 = Links.middle(bundle.to, top);

			if (!Links.wanted(bundle.type) || y0 === null || y1 === null || y0 === y1)
				return;
			const x0 = Draw.x(bundle.begin), x1 = Math.max(Draw.x(bundle.end), x0 + 1);

			(shapes.get(bundle.type) || shapes.set(bundle.type, new Path2D()).get(bundle.type))
				.rect(x0, Math.min(y0, y1), x1 - x0, Math.abs(y1 - y0));
		});
		ctx.globalAlpha = 0.16;
		for (const [type, shape] of shapes) {
			ctx.fillStyle = Links.color(type);
			ctx.fill(shape);
		}
		ctx.globalAlpha = 1;
	},
	/* The links that begin or end in a span. */
	of(span) {
		const found = [], near = 1;

		Links.each(span.begin, span.end, Links.level(), (link) => {
			const out = link.from === span.row && link.begin >= span.begin - near
				&& link.begin <= span.end + near;
			const into = link.to === span.row && link.end >= span.begin - near
				&& link.end <= span.end + near;

			if (found.length < 20 && (out || into) && link.from !== link.to)
				found.push({ ...link, out });
		});
		return found;
	},
};
