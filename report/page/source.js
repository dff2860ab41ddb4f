/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data of the page: blocks in the page itself (html), or fetched from the server (view). Either way they
 * are packs of tiles; tiles are decoded when they are first drawn. doc/adr and `gputrace html`'s writer have
 * the layout: level k divides the run in 2^k tiles of 2^B buckets each, spans are stored once, at the level
 * whose buckets are just shorter than they.
 *
 * Limits: times are doubles, exact below 2^53 ns (104 days). A tile that is not there has nothing in it.
 */

const SPANS = 0, WAITS = 1, PATH = 2, TRACK = 3, LINKS = 4, CALLS = 5, SAMPLES = 6;

function reader(bytes) {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
	let at = 0;

	return {
		more: () => at < bytes.length,
		u() {
			let n = 0, factor = 1, b;

			do {
				b = bytes[at++];
				n += (b & 127) * factor;
				factor *= 128;
			} while (b > 127);
			return n;
		},
		f() {
			at += 8;
			return view.getFloat64(at - 8, true);
		},
		skip(n) {
			at += n;
			return bytes.subarray(at - n, at);
		},
	};
}

function fromBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const binary = atob(text), bytes = new Uint8Array(binary.length);

	for (let i = 0; i < binary.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}

async function inflate(bytes) {
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* ---- decoding of tiles --------------------------------------------------------------------------- */

const emptyDepth = () => ({ b: [], e: [], r: [], who: [], at: null, bytes: null });

/*
 * Spans by depth: sorted by end and, as those of a depth do not overlap, by begin. Waits, the critical path
 * and samples are `flat`: all at depth 0, and `who` is what stands in the place of a depth. A sample is at
 * the end of its span, which is as long as the time that it stands for, and may overlap others.
 */
function decodeSpans(bytes, begin, flat, sampled) {
	const from = reader(bytes), depths = [], n = from.u(), places = [];

	for (let i = 0, end = begin; i < n; i++) {
		end += from.u();
		const length = from.u(), region = from.u(), who = from.u(), depth = flat ? 0 : who;
		const d = depths[depth] || (depths[depth] = emptyDepth());

		places.push(d, d.b.length);
		d.b.push(end - length);
		d.e.push(end);
		d.r.push(region);
		d.who.push(who);
	}
	for (let i = from.u(); i > 0; i--) {
		const depth = from.u(), d = depths[depth] || (depths[depth] = emptyDepth());
		const count = from.u();

		d.at = new Uint16Array(count);
		d.region = new Uint32Array(count);
		d.cover = new Uint8Array(count);
		d.count = new Float64Array(count);
		d.part = sampled ? new Uint8Array(count) : null;
		d.even = sampled ? new Float64Array(count) : null;
		d.like = sampled ? new Uint32Array(count) : null;
		for (let j = 0, bucket = 0; j < count; j++) {
			d.at[j] = bucket += from.u();
			d.region[j] = from.u();
			d.cover[j] = from.u();
			d.count[j] = from.u();
			if (sampled) {
				d.part[j] = from.u();
				d.even[j] = from.u();
				d.like[j] = from.u();
			}
		}
	}
	const sums = [];

	for (let i = from.u(), region = 0; i > 0; i--)
		sums.push([region += from.u(), from.u(), from.u(), from.u(), from.u()]);
	for (let i = from.more() ? from.u() : 0, place = 0; i > 0; i--) {
		const d = places[2 * (place += from.u())];

		(d.bytes ||= new Map()).set(places[2 * place + 1], from.u());
	}
	return { depths, sums };
}

function decodeTrack(bytes) {
	const from = reader(bytes), n = from.u();
	const t = { at: new Uint16Array(n), count: new Float64Array(n), min: new Float64Array(n),
		max: new Float64Array(n), last: new Float64Array(n) };

	for (let i = 0, bucket = 0; i < n; i++) {
		t.at[i] = bucket += from.u();
		t.count[i] = from.u();
		t.min[i] = from.f();
		t.max[i] = from.f();
		t.last[i] = from.f();
	}
	return t;
}

function decodeLinks(bytes, begin) {
	const from = reader(bytes), links = [], bundles = [];

	for (let i = from.u(), at = begin; i > 0; i--) {
		const type = from.u();

		at += from.u();
		links.push({ type, begin: at, end: at + from.u(), from: from.u(), to: from.u(),
			bytes: from.u(),
			comm: from.u() - 1, tag: from.u() });
	}
	for (let i = from.u(); i > 0; i--)
		bundles.push({ type: from.u(), from: from.u(), to: from.u(), count: from.u(), bytes: from.u(),
			begin: begin + from.u(), end: begin + from.u() });
	return { links, bundles };
}

/* [parent, region, calls, inclusive ns, exclusive ns], where parent is a place in the list or -1. */
function decodeCalls(bytes) {
	const from = reader(bytes), calls = [];

	for (let i = from.u(); i > 0; i--)
		calls.push([from.u() - 1, from.u(), from.u(), from.u(), from.u()]);
	return { calls };
}

/* ---- the store ----------------------------------------------------------------------------------- */

const EMPTY = { depths: [], sums: [], links: [], bundles: [], at: [], calls: [] };

const Data = {
	meta: null,
	report: null,
	against: null,
	regions: [],
	tiles: [],           /* kind -> row -> level -> Map of tiles: bytes, or what they decode to */
	have: new Map(),     /* "kind/row/level" -> Set of tiles that were asked for and came (view) */
	packs: [],           /* of a page: null, a promise, or true */
	requests: 0,         /* under way */

	/* The map of tiles of a level; with `make` it is made. */
	level(kind, row, level, make) {
		const rows = Data.tiles[kind] || (make ? Data.tiles[kind] = [] : null);
		const levels = rows && (rows[row] || (make ? rows[row] = [] : null));

		return levels && (levels[level] || (make ? levels[level] = new Map() : null)) || null;
	},
	span: (level) => 2 ** (Data.meta.span_log2 - level),
	bucket: (level) => 2 ** (Data.meta.span_log2 - level - Data.meta.buckets_log2),

	async start() {
		Data.meta = JSON.parse($("gt-meta").textContent);
		Data.view = Data.meta.mode === "view";
		Data.regions = Data.meta.regions.map((r) =>
			({ ...r, kind: kindOfRegion(r), hash: hashOf(r.name) }));
		if (Data.view)
			Data.report = await Data.fetch("report", "json");
		else
			Data.report = JSON.parse($("gt-report").textContent);
		Data.meta.tracks.forEach((t) => (t.metric = Data.meta.metrics[t.metric]
			|| { name: "?", unit: null }));
		if (!Data.view)
			await Data.pack(0);
		else
			await Data.first();
		if ($("gt-against"))
			await Data.other();
	},
	/* The run that this one is compared with: { archive, end, rows: [{ label, calls }], regions }. */
	async other() {
		const { archive, end, rows, regions } = JSON.parse($("gt-against").textContent);
		const from = reader(await inflate(fromBase64($("gt-against-pack").textContent)));

		Data.against = { archive, end, rows, regions };
		while (from.more()) {
			const [, row] = [from.u(), from.u(), from.u(), from.u()];

			rows[row].calls = decodeCalls(from.skip(from.u())).calls;
		}
	},
	/* Asks the server; `as` is what becomes of the answer: json, arrayBuffer, text. */
	async fetch(what, as, method = "GET") {
		Data.requests++;
		try {
			const answer = await fetch(what, { cache: "no-store", method });

			if (!answer.ok)
				throw new Error(`${what}: ${answer.status} ${await answer.text()}`);
			return await answer[as]();
		} finally {
			Data.requests--;
		}
	},
	/* Level 0 of all rows at once. */
	async first() {
		Data.add(new Uint8Array(await Data.fetch("tiles?level=0&from=0&to=0", "arrayBuffer")));
	},
	/* The finest level of a row that this page holds. */
	finest(levels) {
		return Math.max(0, (Data.view ? levels : Math.min(levels, Data.meta.page_levels)) - 1);
	},
	name: (region) => region < Data.regions.length ? Data.regions[region].name
		: region > Data.regions.length ? "[gputrace]" : "?",
	/* Functions of a calling context, innermost first. */
	path(context) {
		const names = [], all = Data.meta.contexts;

		for (let i = context; i >= 0 && 2 * i < all.length; i = all[2 * i])
			names.push(Data.name(all[2 * i + 1]));
		return names;
	},

	add(bytes) {
		const from = reader(bytes);

		while (from.more()) {
			const map = Data.level(from.u(), from.u(), from.u(), true), tile = from.u();

			map.set(tile, from.skip(from.u()));
		}
	},
	/* Not within the frame that asks for it: what is there is drawn meanwhile. */
	pack(level) {
		const block = $("gt-pack-" + level);

		return Data.packs[level] ||= !block ? Promise.resolve() : later().then(async () => {
			Data.add(await inflate(fromBase64(block.textContent)));
			block.textContent = "";
			Data.packs[level] = true;
			Data.changed();
		});
	},
	/* A tile, decoded; EMPTY if there is nothing in it. */
	tile(kind, row, level, tile) {
		const map = Data.level(kind, row, level), found = map ? map.get(tile) : undefined;

		if (found === undefined)
			return EMPTY;
		if (!(found instanceof Uint8Array))
			return found;
		const begin = tile * Data.span(level);
		const decoded = kind === TRACK ? decodeTrack(found) : kind === LINKS
			? decodeLinks(found, begin)
			: kind === CALLS ? decodeCalls(found)
				: decodeSpans(found, begin, kind !== SPANS, kind === SAMPLES);

		map.set(tile, decoded);
		return decoded;
	},
	/* Are tiles first..last of this level there? If not, they are asked for. */
	ready(kind, row, level, first, last) {
		if (!Data.view) {
			if (Data.packs[level] !== true)
				Data.pack(level);
			return Data.packs[level] === true || !$("gt-pack-" + level);
		}
		if (level === 0)
			return true;
		const key = `${kind}/${row}/${level}`;
		let have = Data.have.get(key), all = true;

		if (!have)
			Data.have.set(key, have = new Map());
		for (let tile = first, from = -1; tile <= last; tile++) {
			const known = have.get(tile);

			all = all && known === true;
			if (known === undefined) {
				have.set(tile, false);
				from = from < 0 ? tile : from;
			}
			if (from >= 0 && (known !== undefined || tile === last)) {
				Wanted.add(kind, row, level, from, known === undefined ? tile : tile - 1);
				from = -1;
			}
		}
		return all;
	},
	/* Calls `changed` when more has come: start.js sets it. */
	changed() {},
};

/* What is wanted of a server: one request for all levels of which the same rows are wanted. */
const Wanted = {
	parts: new Map(),    /* "kind/level/from/to" -> { kind, level, from, to, rows } */
	timer: 0,

	add(kind, row, level, from, to) {
		const key = `${kind}/${level}/${from}/${to}`;
		const part = Wanted.parts.get(key)
			|| Wanted.parts.set(key, { kind, level, from, to, rows: [] }).get(key);

		part.rows.push(row);
		Wanted.timer ||= setTimeout(Wanted.send, 15);
	},
	send() {
		const requests = new Map();

		for (const part of Wanted.parts.values()) {
			const rows = `${part.kind === TRACK ? "tracks" : "rows"}=${Wanted.ranges(part.rows)}`;
			const key = `kinds=${part.kind}&${rows}`;

			(requests.get(key) || requests.set(key, []).get(key)).push(part);
		}
		Wanted.parts = new Map();
		Wanted.timer = 0;
		for (const [query, parts] of requests)
			for (let i = 0; i < parts.length; i += 60)
				Wanted.request(query, parts.slice(i, i + 60));
	},
	/* "3-7,9" */
	ranges(rows) {
		const ranges = [];

		for (const row of [...rows].sort((a, b) => a - b))
			if (ranges.length && ranges.at(-1)[1] === row - 1)
				ranges.at(-1)[1] = row;
			else
				ranges.push([row, row]);
		return ranges.map(([a, b]) => a === b ? a : `${a}-${b}`).join(",");
	},
	async request(query, parts) {
		const list = (key) => parts.map((part) => part[key]).join(",");

		try {
			Data.add(new Uint8Array(await Data.fetch(
				`tiles?level=${list("level")}&from=${list("from")}&to=${list("to")}&${query}`,
				"arrayBuffer")));
			for (const { kind, level, from, to, rows } of parts)
				for (const row of rows)
					for (let tile = from; tile <= to; tile++)
						Data.have.get(`${kind}/${row}/${level}`).set(tile, true);
		} catch (error) {
			Page.trouble(error);
		}
		Data.changed();
	},
};

/* ---- questions to it ----------------------------------------------------------------------------- */

/* The level whose buckets are at most one pixel, or the finest there is. */
function levelFor(nsPerPixel, levels) {
	const k = Math.ceil(Data.meta.span_log2 - Data.meta.buckets_log2 - Math.log2(nsPerPixel));

	return clamp(k, 0, Data.finest(levels));
}

/*
 * What is to be drawn of a window: the finest level up to `level` that is there, with tiles [first, last] of
 * each level 0..k. The tiles of what is missing are asked for.
 */
function tilesFor(kind, row, level, begin, end) {
	let best = -1;

	for (let k = 0; k <= level; k++) {
		const [first, last] = tileRange(k, begin, end);

		if (Data.ready(kind, row, k, first, last) && best === k - 1)
			best = k;
	}
	return best;
}

/* A span lies in the tile in which it ends: one more to the right. */
function tileRange(level, begin, end) {
	const span = Data.span(level), most = 2 ** level - 1;

	return [clamp(Math.floor(begin / span), 0, most), clamp(Math.floor(end / span) + 1, 0, most)];
}

const NO_TILES = [];

/* The tiles of a row that a window touches and that are there: in fine levels few of them are. */
function tilesIn(kind, row, level, begin, end) {
	const map = Data.level(kind, row, level);

	if (!map)
		return NO_TILES;
	const [first, last] = tileRange(level, begin, end), tiles = [];

	if (map.size < last - first) {
		for (const tile of map.keys())
			if (tile >= first && tile <= last)
				tiles.push(tile);
	} else {
		for (let tile = first; tile <= last; tile++)
			if (map.has(tile))
				tiles.push(tile);
	}
	return tiles;
}

/*
 * Calls what(begin, end, region, depth, bytes) for the spans of a depth in a window, at levels 0..level.
 * Spans of a depth do not overlap, so ends and begins are sorted. Of waits the depth is who was waited for.
 */
function eachSpan(kind, row, level, depth, begin, end, what) {
	const flat = kind !== SPANS;

	for (let k = 0; k <= level; k++)
		for (const tile of tilesIn(kind, row, k, begin, end)) {
			const d = Data.tile(kind, row, k, tile).depths[depth];

			if (!d || !d.e.length)
				continue;
			for (let i = lowerBound(d.e, begin); i < d.e.length && d.b[i] <= end; i++)
				what(d.b[i], d.e[i], d.r[i], flat ? d.who[i] : depth, d.bytes?.get(i) || 0);
		}
}

/*
 * Calls what(begin, end, region, cover 0..255, count, depth, more) for the buckets of a depth in a window. Of
 * samples: { part: how much of them the region has, 0..255, even: how many of equal weight would be as exact,
 * context: of one of the region's, + 1 }.
 */
function eachBucket(kind, row, level, depth, begin, end, what) {
	const size = Data.bucket(level);

	for (const tile of tilesIn(kind, row, level, begin, end)) {
		const d = Data.tile(kind, row, level, tile).depths[depth];

		if (!d || !d.at)
			continue;
		const base = tile * Data.span(level);

		for (let i = lowerBound(d.at, Math.floor((begin - base) / size)); i < d.at.length; i++) {
			const at = base + d.at[i] * size;

			if (at > end)
				break;
			what(at, at + size, d.region[i], d.cover[i], d.count[i], depth,
				d.part && { part: d.part[i], even: d.even[i], context: d.like[i] });
		}
	}
}

/*
 * Adds the sums of a row in a window, by region, to `into`. Rows of few calls, which are all there, are
 * summed up call by call. Else tiles within the window count wholly, and the finest at its two edges by
 * their part in it: calls, times and bytes alike, so that a rate is of the same copies.
 */
function addSums(row, begin, end, into) {
	const meta = Data.meta.rows[row], whole = begin <= 0 && end >= Data.meta.end;
	const finest = Math.min(Data.finest(meta.levels), meta.sums - 1);

	function visit(level, tile) {
		const span = Data.span(level), b = tile * span, e = Math.min(b + span, Data.meta.end);

		if (b >= end || e <= begin)
			return;
		const inside = b >= begin && e <= end;

		if (!inside && level < finest && span > (end - begin) / 1024 &&
		    Data.ready(SPANS, row, level + 1, 2 * tile, 2 * tile + 1)) {
			visit(level + 1, 2 * tile);
			visit(level + 1, 2 * tile + 1);
			return;
		}
		const part = inside ? 1 : (Math.min(e, end) - Math.max(b, begin)) / (e - b);

		for (const [region, count, ns, bytes, below] of Data.tile(SPANS, row, level, tile).sums)
			addSum(into, region, { count: count * part, ns: ns * part, bytes: bytes * part,
				inclusive: (ns + below) * part });
	}
	if (!whole && meta.events < 20000 && addCalls(row, begin, end, into))
		return;
	if (Data.ready(SPANS, row, 0, 0, 0))
		visit(0, 0);
}

function addSum(into, region, { count = 0, ns = 0, bytes = 0, inclusive = 0 }) {
	const sum = into.get(region) || into.set(region, { region, name: Data.name(region), count: 0, ns: 0,
		bytes: 0, inclusive: 0 }).get(region);

	sum.count += count;
	sum.ns += ns;
	sum.bytes += bytes;
	sum.inclusive += inclusive;
}

/* From single calls; false if they are not all there. Of a copy as much as of its time is in the window. */
function addCalls(row, begin, end, into) {
	const meta = Data.meta.rows[row], finest = meta.levels - 1;

	if (!meta.exact || Data.finest(meta.levels) < finest ||
	    tilesFor(SPANS, row, finest, begin, end) < finest)
		return false;
	const times = new Map();
	let above = [];

	for (let depth = 1; depth <= meta.depth; depth++) {
		const calls = [];

		eachSpan(SPANS, row, finest, depth, begin, end,
			(b, e, region, at, bytes) => calls.push([b, e, region, bytes]));
		calls.sort((x, y) => x[0] - y[0]);
		let at = 0;

		for (const [b, e, region, bytes] of calls) {
			const from = Math.max(b, begin), to = Math.max(from, Math.min(e, end));
			const list = times.get(region) || times.set(region, []).get(region);

			list.push([from, to]);
			addSum(into, region, { count: b >= begin && b < end ? 1 : 0, ns: to - from,
				bytes: e > b ? bytes * (to - from) / (e - b)
					: b >= begin && b < end ? bytes : 0 });
			while (at + 1 < above.length && above[at + 1][0] <= b)
				at++;
			if (at < above.length && above[at][0] <= b && above[at][1] >= e)
				addSum(into, above[at][2], { ns: from - to });
		}
		above = calls;
	}
	for (const [region, list] of times) /* a region that calls itself is counted once */
		addSum(into, region, { inclusive: unionOf(list) });
	return true;
}

/* How long at least one of the intervals [begin, end] lasts. */
function unionOf(list) {
	let sum = 0, last = -Infinity;

	for (const [b, e] of [...list].sort((x, y) => x[0] - y[0])) {
		sum += Math.max(0, e - Math.max(b, last));
		last = Math.max(last, e);
	}
	return sum;
}
