/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Single calls, longest first, of what is searched or of all regions; how long they are, as a histogram; and
 * who calls a region and what it calls, from the call trees.
 *
 * A call is in the first level whose buckets are not longer than it: level by level the longest ones come
 * first. A list that ends early lacks only calls that are shorter than the buckets of its last level.
 *
 * Limits: after the first MOST_CALLS calls no finer level is looked at; LISTED of them are listed.
 */

const MOST_CALLS = 20000, LISTED = 1000, TILES_ASKED = 64, MOST_BARS = 32;

const Calls = {
	bin: null,  /* the only durations that are listed: [from, to), or null */
	key: "",    /* of what the bin is */

	wanted: (region) => !View.hits || View.hits[Math.min(region, Data.regions.length)],
	what() {
		const found = View.hits ? Data.regions.filter((_, i) => View.hits[i]) : [];

		return !View.hits ? "all regions" : found.length === 1 ? clean(found[0].name, 200)
			: `${Units.count(found.length)} regions`;
	},
	/*
	 * { list, limit }: all calls that touch a window and are at least `limit` ns long (0: all); each is
	 * { row, depth, begin, end, region }.
	 */
	of(begin, end) {
		const list = [], rows = Data.meta.rows.map((_, row) => row)
			.filter((row) => Data.meta.rows[row].depth);
		let limit = 0;

		for (let level = 0, some = true; some; level++) {
			const [first, last] = tileRange(level, begin, end);
			const enough = list.length >= MOST_CALLS
				|| (Data.view && last - first >= TILES_ASKED);

			some = false;
			for (const row of rows) {
				const { levels, exact } = Data.meta.rows[row], finest = Data.finest(levels);

				if (level >= levels && exact)
					continue; /* all its calls are in the list */
				if (level > finest || enough
					|| !Data.ready(SPANS, row, level, first, last)) {
					limit = Data.bucket(level - 1);
					continue;
				}
				some = true;
				Calls.add(list, row, level, begin, end);
			}
			some = some && !limit;
		}
		return { list: limit ? list.filter((call) => call.end - call.begin >= limit) : list, limit };
	},
	add(list, row, level, begin, end) {
		for (const tile of tilesIn(SPANS, row, level, begin, end))
			Data.tile(SPANS, row, level, tile).depths.forEach((d, depth) => {
				for (let i = lowerBound(d.e, begin); i < d.e.length && d.b[i] <= end; i++)
					if (Calls.wanted(d.r[i]))
						list.push({ row, depth, begin: d.b[i], end: d.e[i],
							region: d.r[i] });
			});
	},
	/* How many there are in the whole run. */
	total() {
		const sums = new Map();
		let count = 0;

		for (const row of Data.meta.rows.keys())
			addSums(row, 0, Data.meta.end, sums);
		for (const [region, sum] of sums)
			count += Calls.wanted(region) ? sum.count : 0;
		return Math.round(count);
	},
	sheet(sheet) {
		const [begin, end] = View.scope(), { list, limit: least } = Calls.of(begin, end);
		const rest = least && View.whole() ? Math.max(0, Calls.total() - list.length) : 0;
		const limit = View.whole() && !rest ? 0 : least; /* then it is known if all are there */
		const key = [View.query, begin, end].join();
		const trees = View.hits ? Calls.around() : [];

		if (Calls.key !== key)
			Calls.key = key, Calls.bin = null;
		list.sort((a, b) => b.end - b.begin - (a.end - a.begin) || a.begin - b.begin);
		const within = (call) => !Calls.bin || (call.end - call.begin >= Calls.bin[0]
			&& call.end - call.begin < Calls.bin[1]);

		return [View.hits ? null : empty("Search for a function, or select one in the profile or the "
			+ "timeline: this is the list of its calls."),
		Calls.figures(list, limit, rest), Calls.histogram(sheet, list, limit, rest),
		Calls.table(list.filter(within)), ...trees];
	},
	figures(list, limit, rest) {
		const of = (part) => list[Math.ceil(list.length - 1 - (list.length - 1) * part)];
		const all = list.length + rest;
		const sum = list.reduce((ns, call) => ns + call.end - call.begin, 0);
		const middle = View.whole() || !limit ? list[Math.floor((all - 1) / 2)] : null;
		const length = (call) => call ? Units.ns(call.end - call.begin) : null;

		return figures([[limit && !rest ? "calls that are listed" : "calls", Units.count(all)],
			["longest", length(list[0])],
			["median", length(middle)], ["shortest", limit ? null : length(of(0))],
			["mean", limit || !all ? null : Units.ns(sum / all)],
			[`shorter than ${Units.ns(limit)}: not listed`,
				limit ? rest ? Units.count(rest) : "some" : null]]);
	},
	table: (rows) => table({ name: "calls", caption: `Calls of ${Calls.what()}`,
		note: `${Sheets.note()}, the longest first${Calls.bin ? `, ${Units.ns(Calls.bin[0])} to ${
			Units.ns(Calls.bin[1])}` : ""}${rows.length > LISTED
			? `, ${Units.count(LISTED)} of ${Units.count(rows.length)}` : ""}`,
		rows: rows.slice(0, LISTED), sort: "length", pick: (call) => Page.jump(call),
		columns: [{ key: "name", head: "region", unit: "text", wide: true,
			of: (call) => Data.name(call.region),
			color: (call) => Theme.regionPaint(call.region) },
		{ key: "length", head: "duration", unit: "ns", of: (call) => call.end - call.begin },
		{ key: "begin", head: "begin", unit: "ns" },
		{ key: "where", head: "in", unit: "text", of: (call) => Data.meta.rows[call.row].label },
		{ key: "depth", head: "depth", unit: "count" }] }),

	/* ---- how long they are ------------------------------------------------------------------- */

	/* [from, to, count], each as much longer than the one before: a power of two, or a root of it. */
	bins(list) {
		const least = Math.max(1, list.at(-1).end - list.at(-1).begin);
		const most = Math.max(least, list[0].end - list[0].begin), range = Math.log2(most / least);
		const per = [8, 4, 2, 1].find((n) => range * n < MOST_BARS - 1) || 1;
		const first = Math.floor(Math.log2(least) * per);
		const at = (ns) => Math.floor(Math.log2(Math.max(1, ns)) * per + 1e-9) - first;
		const bins = Array.from({ length: at(most) + 1 }, (_, i) =>
			[2 ** ((first + i) / per), 2 ** ((first + i + 1) / per), 0]);

		for (const call of list)
			bins[Math.max(0, at(call.end - call.begin))][2]++;
		bins[0][0] = Math.min(bins[0][0], list.at(-1).end - list.at(-1).begin);
		return bins;
	},
	histogram(sheet, list, limit, rest) {
		if (!list.length)
			return null;
		const bins = Calls.bins(list), most = Math.max(rest, ...bins.map(([, , count]) => count));
		const bar = (count, says, more) => el("button", { "data-count": count, ...more,
			"aria-label": says, class: more.class || null,
			onmousemove: (event) => Tip.show(event.clientX, event.clientY, says),
			onmouseleave: Tip.hide }, el("i", { height: 100 * count / most + "%" }));
		const calls = (n) => `${Units.count(n)} call${n === 1 ? "" : "s"}`;
		const bars = bins.map((bin) => bar(bin[2], `${calls(bin[2])} of ${Units.ns(bin[0])} to ${
			Units.ns(bin[1])}`, { "aria-pressed": String(Calls.bin?.[0] === bin[0]),
			onclick: () => {
				Calls.bin = Calls.bin?.[0] === bin[0] ? null : [bin[0], bin[1]];
				Sheets.fill(sheet);
			} }));

		if (rest)
			bars.unshift(bar(rest, `${calls(rest)} shorter than ${Units.ns(limit)
			}, which are in sums only`, { class: "rest", disabled: true }));
		return el("div", { class: "histogram", role: "group",
			"aria-label": "How long the calls are" },
			el("div", { class: "bars" }, bars),
			el("div", { class: "axis" }, el("span", null, rest ? `< ${Units.ns(limit)}`
				: Units.ns(bins[0][0])), el("span", null, "calls by duration; up to "
			+ Units.count(most)), el("span", null, Units.ns(bins.at(-1)[1]))));
	},

	/* ---- who calls it, what it calls --------------------------------------------------------- */

	/*
	 * Of the call trees, by region: calls and inclusive time; of calls below others of what is wanted
	 * only how many they are, as the others have their time.
	 */
	sums() {
		const above = new Map(), below = new Map();
		const add = (sums, region, calls, ns) => {
			const name = region < 0 ? "(not called by a recorded call)" : Data.name(region);
			const sum = sums.get(region)
				|| sums.set(region, { region, name, count: 0, ns: 0 }).get(region);

			sum.count += calls;
			sum.ns += ns;
		};

		if (!Flame.trees)
			Flame.load();
		for (const nodes of Flame.trees.values()) {
			const inside = [];

			nodes.forEach(([parent, region, calls, inclusive], i) => {
				const under = parent >= 0 && inside[parent];
				const is = View.hits[Math.min(region, Data.regions.length)];

				inside[i] = under || is;
				if (is)
					add(above, parent < 0 ? -1 : nodes[parent][1], calls,
						under ? 0 : inclusive);
				if (parent >= 0 && View.hits[Math.min(nodes[parent][1], Data.regions.length)])
					add(below, region, calls, Calls.outermost(nodes, parent, inside)
						? inclusive : 0);
			});
		}
		return [above, below];
	},
	outermost: (nodes, at, inside) => nodes[at][0] < 0 || !inside[nodes[at][0]],
	around() {
		const columns = (head, time) => [{ key: "name", head, unit: "text", wide: true,
			color: (row) => Theme.regionPaint(Math.max(0, row.region)) },
		{ key: "count", head: "calls", unit: "count" },
		{ key: "ns", head: "time", unit: "ns", title: time }];
		const pick = (row) => row.region >= 0 && Search.exactly(row.name);
		const [above, below] = Calls.sums(), what = Calls.what();

		const make = (name, caption, sums, head, time) => table({ name, caption, sort: "ns", pick,
			note: "the whole run", rows: [...sums.values()], columns: columns(head, time) });

		return [make("callers", `Who calls ${what}`, above, "caller",
			"of the calls that it made, inclusive"),
		make("callees", `What ${what} calls`, below, "called",
			"of the calls made there, inclusive")];
	},
};
