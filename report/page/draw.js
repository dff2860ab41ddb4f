/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timeline's pixels. Spans are written as numbers into one scan line for each depth of a row, which is
 * then copied down the lane: a frame costs about the same for ten calls and for a million, as no more is read
 * than what the pixels can show (source.js). Names,
	counters and overlays are drawn upon that with the canvas.
 *
 * Limits: what is shorter than a bucket of the finest level at hand is drawn as shade.
 */

const Draw = {
	canvas: null, ctx: null, width: 0, height: 0, scale: 1,
	image: null, pixels: null, scan: null,
	frames: [],         /* ms, of the last frames */
	queued: false,
	labels: [],
	runs: [],           /* waits in the scan line: begin, end, way, colour */
	palette: null, faint: null, /* colours of rows that are picked, and of the others */
	window: View,       /* what is drawn: the view, or the whole run for the overview */

	start() {
		Draw.canvas = $("canvas");
		Draw.ctx = Draw.canvas.getContext("2d", { alpha: false });
		new ResizeObserver(Draw.resize).observe(Draw.canvas);
		Draw.resize();
	},
	resize() {
		const box = Draw.canvas.getBoundingClientRect(), scale = window.devicePixelRatio || 1;
		const width = Math.max(1, Math.round(box.width));
		const height = Math.max(1, Math.round(box.height));

		if (Draw.image && width === Draw.width && height === Draw.height && scale === Draw.scale)
			return; /* an observer always begins with a call */
		Object.assign(Draw, { scale, width, height });
		for (const id of ["canvas", "ruler", "overview"]) {
			const canvas = $(id);

			if (id !== "canvas") /* as wide as the timeline without its scroll bar */
				canvas.style.width = Draw.width + "px";
			canvas.width = Math.max(1, Math.round(Draw.width * Draw.scale));
			canvas.height = Math.max(1, Math.round(canvas.clientHeight * Draw.scale));
		}
		Draw.image = Draw.ctx.createImageData(Draw.canvas.width, Draw.canvas.height);
		Draw.pixels = new Uint32Array(Draw.image.data.buffer);
		Draw.scan = new Uint32Array(Draw.canvas.width);
		Overview.stale = true;
		if (Model.root)
			Page.layout(); /* what is hidden below depends on the height */
		Draw.now();
	},
	soon() {
		if (!Draw.queued) {
			Draw.queued = true;
			requestAnimationFrame(Draw.now);
		}
	},
	now() {
		Draw.queued = false;
		if (!Model.root || !Draw.image)
			return;
		const begin = performance.now();

		Draw.frame();
		Ruler.draw();
		Overview.draw();
		Draw.frames.push(performance.now() - begin);
		if (Draw.frames.length > 240)
			Draw.frames.shift();
	},

	mean: () => Draw.frames.reduce((a, b) => a + b, 0) / (Draw.frames.length || 1),
	x: (t) => (t - View.begin) / (View.end - View.begin) * Draw.width,
	t: (x) => View.begin + x / Draw.width * (View.end - View.begin),
	top: () => $("scroll").scrollTop,
	perPixel: () => (View.end - View.begin) / Draw.width,

	/* Colours of regions: faded where they are not searched, or of another kind than the chosen one. */
	colors() {
		const n = Data.regions.length;

		Draw.palette = Theme.pixels;
		Draw.faint = View.rows && Theme.pixels.map((pixel) => blend(Theme.paper, pixel, 46));
		if (!View.hits && View.kind < 0 && !View.overlays.path)
			return;
		Draw.palette = new Uint32Array(n + 1);
		for (let i = 0; i <= n; i++) {
			const kind = i < n ? Data.regions[i].kind : KIND.code;
			const wanted = (!View.hits || View.hits[i]) && (View.kind < 0 || View.kind === kind);
			const strong = wanted ? View.overlays.path && !View.hits ? 175 : 255 : 46;

			Draw.palette[i] = strong === 255 ? Theme.pixels[i]
				: blend(Theme.paper, Theme.pixels[i], strong);
		}
	},

	frame() {
		const top = Draw.top(), ctx = Draw.ctx;

		Draw.colors();
		Draw.pixels.fill(Theme.paper);
		Draw.labels.length = 0;
		const first = Model.at(top), lines = [];

		for (let i = first ? first.index : 0; i < Model.shown.length; i++) {
			const line = Model.shown[i];

			if (line.y >= top + Draw.height)
				break;
			lines.push(line);
			Draw.line(line, line.y - top);
		}
		ctx.putImageData(Draw.image, 0, 0);
		ctx.setTransform(Draw.scale, 0, 0, Draw.scale, 0, 0);
		Draw.names();
		for (const line of lines)
			if (line.type === "track")
				Tracks.draw(ctx, line, line.y - top);
		Links.draw(ctx, top);
		if (View.overlays.path)
			Path.draw(ctx, top);
		Draw.marks(ctx, top);
		Labels.draw(lines, top);
	},
	line(line, y) {
		Draw.fill(y + line.height - 1, 1, pixel(...parseColor(Theme.css.soft)));
		if (line.type === "track")
			return;
		if (line.row >= 0) {
			Draw.row(line, y);
		} else if (!line.open) {
			Draw.strips(line, y);
		} else {
			Draw.fill(y, line.height - 1, pixel(...parseColor(Theme.css.raised)));
		}
	},
	fill(y, height, color) {
		const first = Math.max(0, Math.round(y * Draw.scale)), width = Draw.canvas.width;
		const last = Math.min(Draw.canvas.height, Math.round((y + height) * Draw.scale));

		if (last > first)
			Draw.pixels.fill(color, first * width, last * width);
	},
	clear() {
		Draw.scan.fill(Theme.paper);
		Draw.runs.length = 0;
	},
	/* Copies the scan line to device lines [first, last). */
	copy(first, last) {
		const width = Draw.canvas.width;

		first = Math.max(0, first);
		last = Math.min(Draw.canvas.height, last);
		for (let y = first; y < last; y++)
			Draw.pixels.set(Draw.scan, y * width);
		for (let i = 0; i < Draw.runs.length; i += 4)
			Draw.stripe(...Draw.runs.slice(i, i + 4), first, last);
	},
	/* Where a wait still shows: others may be upon it. Stripes go through all lines in step. */
	stripe(begin, end, way, color, first, last) {
		const every = Math.round(STRIPE.every * Draw.scale), wide = Math.round(Draw.scale);
		const width = Draw.canvas.width, dark = blend(color, STRIPE.color, STRIPE.strength);

		for (let y = first; y < last; y++)
			for (let k = 0; k < wide; k++) {
				let x = begin + ((k - way * y - begin) % every + every) % every;

				for (; x < end; x += every)
					if (Draw.scan[x] === color)
						Draw.pixels[y * width + x] = dark;
			}
	},
	row(line, y) {
		const s = Draw.scale, lanes = Model.lanes(line), level = Draw.levelOf(line.row);

		for (let lane = 0; lane < lanes; lane++) {
			const at = y + Model.laneTop(line, lane), first = Draw.labels.length;
			const last = lane === lanes - 1 ? line.depth : lane + 1, one = last === lane + 1;

			if (at > Draw.height || at + Model.lane < 0)
				continue;
			Draw.clear();
			for (let depth = lane + 1; depth <= last; depth++)
				Draw.lane(line.row, depth, at, depth === last || last - lane < 4, one, level);
			if (!one || !line.open)
				Draw.uncover(first);
			Draw.copy(Math.round(at * s), Math.round((at + Model.lane - 1) * s));
		}
		Draw.bars(line, [line.row], y, y + Model.laneTop(line, 0) + Model.lane);
		if (Model.sampled(line))
			Draw.samples(line, y + Model.samplesTop(line));
		if (Model.stated(line))
			States.draw(line.row, ...[0, Model.stated(line) - 1].map((more) =>
				Math.round((y + Model.statesTop(line) + more) * s)));
	},
	/* Of each pixel the function with most of its samples' time; where there is room, a tick a sample. */
	samples(line, y) {
		const { begin, end } = Draw.window, scan = Draw.scan, scale = scan.length / (end - begin);
		const most = Data.regions.length, faint = Draw.faint && !View.rows.has(line.row);
		const palette = faint ? Draw.faint : Draw.palette, wide = Math.max(1, Math.round(Draw.scale));

		Draw.clear();
		Samples.each(line.row, begin, end, ({ time, length, region, cover }) => {
			const first = Math.max(0, Math.floor((time - begin) * scale));
			const last = length ? Math.max(first + 1, Math.round((time + length - begin) * scale))
				: first + wide;

			for (let i = first; i < Math.min(last, scan.length); i++)
				scan[i] = blend(scan[i], palette[Math.min(region, most)],
					Math.max(cover, 90));
		});
		Draw.copy(Math.round(y * Draw.scale), Math.round((y + Model.sampled(line) - 1) * Draw.scale));
	},
	/* Of a folded row: without the names of what deeper calls cover. */
	uncover(first) {
		const l = Draw.labels, s = Draw.scale;
		let kept = first;

		for (let i = first; i < l.length; i += 4) {
			const room = 10 + 7 * Data.name(l[i + 3]).length;
			const begin = Math.ceil(l[i] * s), end = Math.min(l[i + 1], l[i] + room) * s - 1;
			let x = begin;

			while (x < end && Draw.scan[x] === Draw.scan[begin])
				x++;
			if (x >= end && Draw.scan[begin] === Draw.palette[l[i + 3]])
				for (let k = 0; k < 4; k++)
					l[kept++] = l[i + k];
		}
		l.length = kept;
	},
	/* The strips of a folded line: its rows, how many have room; where they are, in device pixels. */
	stripsOf(line, y) {
		const s = Draw.scale, rows = line.strips || (line.strips = Model.rowsOf(line));
		const from = Math.round((y + 2 + Model.above(line)) * s);
		const room = Math.round((line.height - 5 - Model.above(line) - Model.below(line)) * s);

		return { rows, from, room, count: Math.min(rows.length, room) };
	},
	/* Each row below a folded line as a strip of it. */
	strips(line, y) {
		const { rows, from, room, count } = Draw.stripsOf(line, y);

		for (let i = 0; i < count; i++) {
			const row = rows[Math.floor(i * rows.length / count)];
			const a = from + Math.round(i * room / count),
				b = from + Math.round((i + 1) * room / count);

			if (b <= 0 || a >= Draw.canvas.height)
				continue;
			const level = Draw.levelOf(row);

			Draw.clear();
			for (let depth = 1; depth <= Math.min(Data.meta.rows[row].depth, DEEPEST); depth++)
				Draw.lane(row, depth, -1, false, false, level);
			Draw.copy(a, b - (b - a > 3 ? 1 : 0));
		}
		Draw.bars(line, rows, y, (from + room) / Draw.scale);
	},
	/* The strip of a row in a folded line: [top, height], from the top of the line. */
	stripOf(line, row) {
		const { rows, from, room, count } = Draw.stripsOf(line, 0);
		const i = Math.min(count - 1, Math.floor(rows.indexOf(row) * count / rows.length));

		return [(from + i * room / count) / Draw.scale, Math.max(room / count / Draw.scale, 3)];
	},
	/* The finest level of a row that the pixels need and that is there. */
	levelOf(row) {
		const { begin, end } = Draw.window, want = levelFor((end - begin) / Draw.scan.length,
			Data.meta.rows[row].levels);

		return tilesFor(SPANS, row, want, begin, end);
	},
	/* Writes what a depth of a row shows of the window into the scan line; names go to y. */
	lane(row, depth, y, names, gaps, level = Draw.levelOf(row)) {
		const { begin, end } = Draw.window, scan = Draw.scan, width = scan.length,
			scale = width / (end - begin);
		const faint = Draw.faint && Draw.window === View && !View.rows.has(row);
		const most = Data.regions.length, palette = faint ? Draw.faint : Draw.palette;
		const exact = Events.of(row, begin, end, width);
		const span = (b, e, region) => {
			const x0 = (b - begin) * scale, x1 = (e - begin) * scale;
			const i = x0 <= 0 ? 0 : Math.floor(x0),
				last = Math.min(width, Math.max(i + 1, Math.floor(x1)));
			const color = palette[region < most ? region : most];

			if (i >= width || x1 < 0)
				return;
			scan.fill(color, i, last);
			if (Theme.stripes[region] && last - i > 3)
				Draw.runs.push(i, last, Theme.stripes[region], color);
			if (gaps && last - i > 3 && last < width)
				scan[last - 1] = blend(color, Theme.paper, 190);
			if (names && !faint && last - i > 26 * Draw.scale)
				Draw.labels.push(i / Draw.scale, last / Draw.scale, y, region);
		};
		if (exact) {
			for (const d of exact.depths[depth] || [])
				span(d[0], d[1], d[2]);
			return;
		}
		if (level < 0)
			return;
		eachBucket(SPANS, row, level, depth, begin, end, (b, e, region, cover) => {
			const x0 = (b - begin) * scale, x1 = (e - begin) * scale;
			const color = palette[region < most ? region : most], a = Math.max(cover, 70);
			const first = Math.max(0, Math.floor(x0)),
				last = Math.min(width, Math.max(Math.floor(x0) + 1, Math.round(x1)));

			for (let i = first; i < last; i++)
				scan[i] = blend(scan[i], color, a);
		});
		eachSpan(SPANS, row, level, depth, begin, end, span);
	},
	/* Waits above the first lane or the strips, the critical path below: of all rows in one bar. */
	bars(line, rows, y, below) {
		const s = Draw.scale;
		const bar = (kind, color, at) => {
			Draw.clear();
			for (const row of rows)
				if (Data.level(kind, row, 0)) /* else it has none */
					Draw.flat(kind, row, color);
			Draw.copy(Math.round(at * s), Math.round((at + BAR - 1) * s));
		};

		if (Model.above(line))
			bar(WAITS, Theme.kindPixels[KIND["GPU wait"]], y + 1);
		if (Model.below(line))
			bar(PATH, Theme.ink, below);
	},
	flat(kind, row, color) {
		const { begin, end } = View, scan = Draw.scan, scale = scan.length / (end - begin);
		const level = tilesFor(kind, row, levelFor((end - begin) / scan.length,
			Data.meta.rows[row].levels), begin, end);
		const bar = (b, e, a) => {
			const first = Math.max(0, Math.floor((b - begin) * scale));
			const last = Math.min(scan.length,
				Math.max(first + 1, Math.floor((e - begin) * scale)));

			for (let i = first; i < last; i++)
				scan[i] = blend(scan[i], color, a);
		};

		if (level < 0)
			return;
		eachBucket(kind, row, level, 0, begin, end,
			(b, e, region, cover) => bar(b, e, Math.max(cover, 90)));
		eachSpan(kind, row, level, 0, begin, end, (b, e) => bar(b, e, 255));
	},
	/* Names of spans, cut to their room. */
	names() {
		const ctx = Draw.ctx, l = Draw.labels;

		ctx.font = "11px " + Draw.font();
		ctx.textBaseline = "middle";
		ctx.textAlign = "left";
		for (let i = 0; i < l.length; i += 4) {
			const room = l[i + 1] - l[i] - 7, region = l[i + 3];
			const text = Draw.fit(Data.name(region), room);

			if (!text)
				continue;
			const faded = Draw.palette !== Theme.pixels
				&& Draw.palette[region] !== Theme.pixels[region];

			ctx.fillStyle = faded ? Theme.css.dim : Theme.textOn(region);
			ctx.fillText(isolated(text), l[i] + 3, l[i + 2] + Model.lane / 2);
		}
	},
	widths: new Map(),
	fit(name, room) {
		let known = Draw.widths.get(name);

		if (!known) {
			const short = clean(name, 160);

			Draw.widths.set(name, known = { short, cuts: [],
				each: Draw.ctx.measureText(short).width / short.length });
		}
		const most = Math.floor(room / known.each);

		return known.short.length <= most ? known.short : most < 3 ? ""
			: known.cuts[most] ??= Draw.cut(known.short, most, most * known.each);
	},
	/* As much of a name as has room: letters are of different widths. */
	cut(name, most, room) {
		for (let n = most - 1; n > 1; n--)
			if (Draw.ctx.measureText(name.slice(0, n) + "…").width <= room)
				return name.slice(0, n) + "…";
		return "";
	},
	font: () => Draw.family || (Draw.family = getComputedStyle(document.body).fontFamily),
	/* Selection, markers, the picked span. */
	marks(ctx, top) {
		if (View.selection) {
			const a = Draw.x(View.selection[0]), b = Draw.x(View.selection[1]);

			ctx.fillStyle = Theme.css.accent;
			ctx.globalAlpha = 0.13;
			ctx.fillRect(a, 0, b - a, Draw.height);
			ctx.globalAlpha = 1;
			ctx.fillRect(Math.round(a), 0, 1, Draw.height);
			ctx.fillRect(Math.round(b) - 1, 0, 1, Draw.height);
		}
		if (View.overlays.markers)
			Markers.draw(ctx, top);
		const p = View.picked, line = p && Model.seen(p.row);

		if (!line)
			return;
		const [at, high] = line.row === p.row ? [Model.laneOf(line, p.depth), Model.lane]
			: Draw.stripOf(line, p.row), y = line.y - top + at;
		const a = Math.max(-3, Draw.x(p.begin)), b = Math.min(Draw.width + 3, Draw.x(p.end));

		ctx.strokeStyle = Theme.css.ink;
		ctx.lineWidth = 2;
		ctx.strokeRect(a, y - 0.5, Math.max(b - a, 2), high);
	},
	/*
	 * What lies at a place of the canvas: { line, row, depth, t, begin, end, region, count }, or null.
	 * Row is -1 where nothing is; wait is what the bar there stands for.
	 */
	hit(x, y) {
		const line = Model.at(y + Draw.top()), t = Draw.t(x), near = Draw.perPixel() * 2;

		if (!line)
			return null;
		const at = y + Draw.top() - line.y;
		const strips = line.row < 0 && line.type !== "track" && !line.open;

		if (line.row < 0 && !strips)
			return { line, row: -1 };
		if (at < 2 + Model.above(line) && Model.above(line))
			return { line, row: -1, wait: flatAt(WAITS, Model.rowsOf(line), t, near) };
		if (!strips && Model.stated(line) && at >= Model.statesTop(line))
			return { line, row: -1, states: [t - near, t + near] };
		if (!strips && Model.sampled(line) && at >= Model.samplesTop(line))
			return { line, row: -1, sample: Samples.at(line.row, t, near) };
		const [row, depths] = strips ? Draw.hitStrip(line, at) : [line.row, Draw.hitLane(line, at)];

		for (const depth of depths) {
			const found = spanAt(row, depth, t, near);

			if (found)
				return { line, row, depth, t, ...found };
		}
		return { line, row: -1 };
	},
	/* The depths that may be seen in a lane, inner ones first. */
	hitLane(line, at) {
		const lanes = Model.lanes(line);
		let lane = lanes - 1;

		while (lane > 0 && at < Model.laneTop(line, lane))
			lane--;
		const last = lane === lanes - 1 ? line.depth : lane + 1;

		return Array.from({ length: last - lane }, (_, i) => last - i);
	},
	hitStrip(line, at) {
		const { rows, from, room, count } = Draw.stripsOf(line, 0);
		const i = clamp(Math.floor((at * Draw.scale - from) / room * count), 0, count - 1);
		const row = rows[Math.floor(i * rows.length / count)];
		const depth = Math.min(Data.meta.rows[row].depth, DEEPEST);

		return [row, Array.from({ length: depth }, (_, k) => depth - k)];
	},
};

/* The longest wait or part of the path of some rows at a time: { row, begin, end, of, who, more }. */
function flatAt(kind, rows, t, near) {
	let best = null, more = 0;

	for (const row of rows) {
		const want = levelFor(Draw.perPixel() / Draw.scale, Data.meta.rows[row].levels);
		const level = Data.level(kind, row, 0) ? tilesFor(kind, row, want, View.begin, View.end) : -1;
		let own = null;
		const take = (begin, end, of, who) => {
			if (!own || end - begin > own.end - own.begin)
				own = { row, begin, end, of, who };
		};

		if (level < 0)
			continue;
		eachSpan(kind, row, level, 0, t - near, t + near, take);
		if (!own)
			eachBucket(kind, row, level, 0, t - near, t + near,
				(begin, end, of, cover, count) => {
					take(begin, end, of, 0);
					own.count = count;
				});
		more += own ? 1 : 0;
		if (own && (!best || own.end - own.begin > best.end - best.begin))
			best = own;
	}
	return best && { ...best, more: more - 1 };
}

/* ---- samples of call stacks ----------------------------------------------------------------------- */

const FEW_SAMPLES = 30; /* as in the report */

const Samples = {
	/*
	 * What there is in a window: { time, length, region, cover, count, part, even, context, ns }. What is
	 * summed up has a length, a single sample has none.
	 */
	each(row, begin, end, what) {
		const want = levelFor(Draw.perPixel() / Draw.scale, Data.meta.rows[row].sample_levels);
		const level = tilesFor(SAMPLES, row, want, begin, end);

		if (level < 0)
			return;
		eachBucket(SAMPLES, row, level, 0, begin, end, (b, e, region, cover, count, depth, more) =>
			what({ time: b, length: e - b, region, cover, count, ns: 0, ...more }));
		eachSpan(SAMPLES, row, level, 0, begin, end, (b, e, region, context) => e <= end
			&& what({ time: e, length: 0, region, cover: 255, count: 1, context, ns: e - b }));
	},
	/* The nearest one. */
	at(row, t, near) {
		let best = null, gap = Infinity;

		Samples.each(row, t - near, t + near, (one) => {
			const end = one.time + one.length;
			const away = one.time > t ? one.time - t : Math.max(0, t - end);

			if (away <= near && away < gap)
				gap = away, best = { ...one, begin: one.time, end };
		});
		return best;
	},
	/* A share of samples, with half the width of its 95 % interval, as the report has it. */
	share: (part, count, even) => Units.share(part) + (count < FEW_SAMPLES
		? " (too few to say how exactly)"
		: ` (± ${(196 * Math.sqrt(part * (1 - part) / even)).toFixed(1)} %)`),
};

/* The span of a row and depth at a time, or within `near`, the longest first; or a bucket. */
function spanAt(row, depth, t, near) {
	const meta = Data.meta.rows[row], exact = Events.of(row, View.begin, View.end, Draw.canvas.width);
	let best = null, gap = Infinity;
	const take = (begin, end, region) => {
		const away = begin > t ? begin - t : t > end ? t - end : 0;

		if (away <= near && away < gap)
			gap = away, best = { begin, end, region, count: 1 };
	};

	if (exact) {
		for (const [b, e, region] of exact.depths[depth] || [])
			take(b, e, region);
		return best;
	}
	const want = levelFor(Draw.perPixel() / Draw.scale, meta.levels);
	const level = tilesFor(SPANS, row, want, View.begin, View.end);

	if (level < 0)
		return null;
	eachSpan(SPANS, row, level, depth, t - near, t + near, take);
	if (!best || gap > 0)
		eachBucket(SPANS, row, level, depth, t - near, t + near,
			(begin, end, region, cover, count) => {
			if (!best && begin <= t + near && end >= t - near)
				best = { begin, end, region, count, cover };
		});
	return best;
}

/* ---- single events, which only a server has ------------------------------------------------------ */

const Events = {
	rows: new Map(),

	/* { depths: [[begin, end, region], ...] by depth } if the window needs and has them. */
	of(row, begin, end, width) {
		const meta = Data.meta.rows[row];

		if (!Data.view || meta.exact || (end - begin) / width > Data.bucket(meta.levels - 1) / 2)
			return null;
		const had = Events.rows.get(row);

		if (had && had.from <= begin && had.to >= end)
			return had.depths ? had : null;
		if (!had || had.depths)
			Events.load(row, Math.floor(Math.max(0, begin - (end - begin))),
				Math.ceil(end + (end - begin)));
		return null;
	},
	async load(row, from, to) {
		Events.rows.set(row, { from: 0, to: -1, depths: null });
		try {
			const answer =
				await Data.fetch(`events?row=${row}&from=${from}&to=${to}`, "json"),
				depths = [];

			for (const [b, e, region, depth] of answer.spans)
				(depths[depth] ||= []).push([b, e === null ? Data.meta.end : e, region]);
			Events.rows.set(row, answer.truncated ? { from, to, depths: null }
				: { from, to, depths, events: answer.events });
		} catch (error) {
			Page.trouble(error);
		}
		Page.repick();
		Draw.soon();
	},
};

/* ---- names beside the timeline: a tree of elements, only those in sight -------------------------- */

const Labels = {
	lines: new Map(), /* line -> element */

	draw(lines, top) {
		const tree = $("tree"), wanted = new Set(lines);

		if (View.focus && View.focus.y >= 0)
			wanted.add(View.focus);
		for (const [line, row] of Labels.lines)
			if (!wanted.has(line)) {
				row.remove();
				Labels.lines.delete(line);
			}
		for (const line of wanted) {
			let row = Labels.lines.get(line);

			if (!row) {
				row = Labels.make(line);
				Labels.lines.set(line, row);
				tree.append(row);
			}
			Labels.update(line, row, top);
		}
	},
	make(line) {
		const twist = el("span", { class: "twist", "aria-hidden": "true" });
		const row = el("div",
			{ class: `row ${line.type === "row" || line.type === "track" ? "leaf" : "group"}`,
			role: "treeitem", tabindex: "-1", title: clean(line.title || line.label, 300),
				"aria-level": line.level + 1 },
		twist, el("span", { class: "name" }, named(line.label, 200)),
		el("span", { class: "lanes" }), el("span", { class: "meta" }));

		const states = line.row >= 0 && Model.statesOf(line.row);

		if (states) {
			const part = (name) => states[name + "_s"] / (states.lifetime_s || 1);

			row.append(el("span", { class: "states" }, STATES.map(([name]) =>
				el("i", { class: name, width: 100 * part(name) + "%" }))));
			row.title += ": " + STATES.map(([name, says]) => `${says} ${
				Units.share(part(name))}`).join(", ") + " of its life";
		}
		row.line = line;
		row.style.paddingLeft = 4 + line.level * 11 + "px";
		return row;
	},
	update(line, row, top) {
		const foldable = Model.foldable(line), more = line.type === "row" && line.open
			? line.depth - LANES : 0, focus = line === View.focus;
		const tab = line === (View.focus || Model.shown[0]);
		const hit = !!View.query && line.label.toLowerCase().includes(View.query);
		const faint = !!View.rows && !Model.rowsOf(line).some((r) => View.rows.has(r));
		const state = [line.y - top, line.height, line.open, line.full, focus, tab, hit,
			faint].join();

		if (row.state === state)
			return;
		row.state = state;
		row.style.transform = `translateY(${line.y - top}px)`;
		row.style.height = line.height + "px";
		row.firstChild.textContent = foldable ? line.open ? "▾" : "▸" : "";
		row.children[2].textContent = more > 0 ? line.full ? "−" : `+${more}` : "";
		row.children[2].title = line.full ? "The first lanes only" : "A lane for each depth";
		row.children[3].textContent = line.type === "track" ? ""
			: (line.busy * 100).toFixed(0) + "\u00a0%";
		row.children[3].title = "share of the run in which it worked: neither MPI nor waiting";
		if (foldable)
			row.setAttribute("aria-expanded", line.open);
		row.setAttribute("aria-selected", focus);
		row.tabIndex = tab ? 0 : -1;
		row.classList.toggle("hit", hit);
		row.classList.toggle("faint", faint);
		row.classList.toggle("low", line.height < 40);
	},
};
