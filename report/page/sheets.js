/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sheets below the timeline: findings, profile, waits, messages, GPUs, counters, flame graph, health; and
 * what is known of the selected call. Of the whole run they show the figures of the report; of a window what
 * the tiles say, or the server.
 *
 * Limits: of a window, sums are exact up to the finest tiles at its edges, which are weighed by their part.
 */

const Sheets = {
	all: [],       /* { id, title, count, make(sheet), windowed } */
	open: null,
	only: false,   /* the profile of the focused line alone */

	start() {
		const r = Data.report, gpu = r.devices?.length || r.kernels?.length || r.copies?.length;
		const add = (id, title, make, windowed, count) =>
			Sheets.all.push({ id, title, make, windowed, count });

		add("findings", "Findings", Sheets.findings, false, r.findings?.length || null);
		add("profile", "Profile", Sheets.profile, true);
		if (Data.meta.rows.some((row) => row.depth))
			add("calls", "Calls", Calls.sheet, true);
		if (r.waits?.length || r.critical_path?.length || r.locks?.length || r.thread_states?.length)
			add("waits", "Waits", Sheets.waits, true);
		if (r.messages?.matrix?.length || r.mpi?.length || r.collectives?.length)
			add("messages", "Messages", Sheets.messages, true);
		if (gpu)
			add("gpu", "GPU", Sheets.gpu, true);
		if (Data.meta.tracks.some((track) => !States.is(track)) || r.metrics?.length)
			add("counters", "Counters", Sheets.counters, true);
		add("flame", "Flame graph", Flame.sheet, false);
		if (Data.meta.rows.some((row) => row.depth))
			add("flow", "Flow", Flow.sheet, false);
		add("health", "Health", Sheets.health, false);
		for (const sheet of Sheets.all) {
			sheet.tab = el("button", { role: "tab", id: "tab-" + sheet.id,
				"aria-controls": "sheet-" + sheet.id,
				onclick: () => Sheets.show(sheet.id), onkeydown: Sheets.key }, sheet.title,
			sheet.count ? el("span", { class: "n" }, sheet.count) : null);
			sheet.body = el("div", { class: "sheet", role: "tabpanel", id: "sheet-" + sheet.id,
				tabindex: "0",
				"aria-labelledby": "tab-" + sheet.id, hidden: true });
			$("tabs").append(sheet.tab);
			$("sheets").append(sheet.body);
		}
		Sheets.show("findings");
	},
	key(event) {
		const at = Sheets.all.findIndex((s) => s.tab === event.currentTarget), n = Sheets.all.length;
		const to = { ArrowRight: (at + 1) % n, ArrowLeft: (at + n - 1) % n, Home: 0,
			End: n - 1 }[event.key];

		if (to === undefined)
			return;
		event.preventDefault();
		Sheets.show(Sheets.all[to].id);
		Sheets.all[to].tab.focus();
	},
	show(id) {
		for (const sheet of Sheets.all) {
			const chosen = sheet.id === id;

			sheet.tab.setAttribute("aria-selected", chosen);
			sheet.tab.tabIndex = chosen ? 0 : -1;
			sheet.body.hidden = !chosen;
			if (chosen)
				Sheets.open = sheet;
		}
		Sheets.fill(Sheets.open);
		$("details").classList.remove("open");
	},
	fill(sheet) {
		sheet.body.setAttribute("data-full", "");
		const at = sheet.body.scrollTop;

		sheet.body.replaceChildren(...[sheet.make(sheet)].flat().filter((e) => e));
		sheet.body.scrollTop = at;
	},
	/* The window has changed: what is about it is made again. */
	scoped() {
		if (Sheets.open?.windowed)
			Sheets.fill(Sheets.open);
	},
	note: () => View.whole() ? "the whole run" : `${Units.ns(View.scope()[1] - View.scope()[0])} ${
		View.selection ? "that are marked" : "that are shown"}`,

	/* ---- findings ---------------------------------------------------------------------------- */

	findings() {
		const r = Data.report, e = r.efficiencies || {}, list = r.findings || [];
		const share = (v) => v === null || v === undefined ? null : Units.share(v);

		return [
			figures([["duration", Units.seconds(r.duration_s)],
				["ranks", r.ranks && Units.count(r.ranks)],
				["processes", r.processes > 1 ? Units.count(r.processes) : null],
				["threads", r.threads && Units.count(r.threads)],
					["GPUs", r.gpus && Units.count(r.gpus)],
				["parallel efficiency", share(e.parallel_efficiency)],
					["load balance", share(e.load_balance)],
				["communication efficiency", share(e.communication_efficiency)],
				["offload efficiency", share(e.offload_efficiency)],
				["GPU parallel efficiency", share(e.device_parallel_efficiency)],
				["waiting for processors", share(Sheets.ready())]]),
			Sheets.hottest(),
			list.length ? el("ol", { class: "findings" }, list.map((f) => el("li", null,
				el("div", { class: "cost" }, f.seconds === null ? ""
					: Units.seconds(f.seconds), el("small", null, clean(f.id))),
				el("div", { class: "what" }, el("button", { class: "jump",
					onclick: () => Find.finding(f) }, named(withUnits(f.text)))),
				f.where ? el("div", { class: "try" }, "in ", named(f.where, 300)) : null,
				f.advice ? el("div", { class: "try" }, clean(f.advice)) : null)))
				: empty("No rule of gputrace's fired: tables and path say where time is."),
		];
	},

	/* The share of all threads' lives in which they waited for a processor; null: next to nothing. */
	ready() {
		const sum = (key) => (Data.report.thread_states || []).reduce((n, of) => n + of[key], 0);
		const part = sum("ready_s") / (sum("lifetime_s") || 1);

		return part > 0.01 ? part : null;
	},
	/*
	 * Rows with samples, how many samples these are, and the time of all rows (s). half: of the 95 %
	 * interval of a share of that time. even: as many samples of equal weight would be as exact (Kish).
	 */
	sampled() {
		const all = Data.report.samples || [], rows = all.filter((of) => of.cpu_s && of.error_s);
		const sum = (list, of) => list.reduce((n, row) => n + of(row), 0);
		const even = sum(rows, (row) => row.cpu_s) ** 2 / sum(rows, (row) => row.error_s ** 2);

		return { rows, count: sum(rows, (row) => row.samples), whole: sum(all, (row) => row.cpu_s),
			half: (share) => 1.96 * Math.sqrt(Math.max(0, share * (1 - share)) / even) };
	},
	/* The three functions with most processor time, as the summary of a run has them. */
	hottest() {
		const all = Sheets.sampled(), top = all.rows.slice(0, 3);

		if (!top.length || all.count < FEW_SAMPLES)
			return null;
		return el("p", null, "Most processor time: ", top.map((row, i) => [i ? ", " : "",
			el("button", { class: "jump", onclick: () => Sheets.show("profile") },
				named(row.function, 100)),
			` ${Units.share(row.share)}`]), ` (± ${Math.max(...top.map(({ share }) =>
			100 * all.half(share))).toFixed(1)}\u00a0%)`);
	},

	/* ---- profile ----------------------------------------------------------------------------- */

	regionCell: { key: "name", head: "region", unit: "text", wide: true,
		color: (row) => Theme.regionPaint(row.region ?? Find.region(row.name)) },
	profile(sheet) {
		const line = View.focus, only = Sheets.only && line, [begin, end] = View.scope();
		const name = line && (Data.meta.rows[line.row]?.label || line.label);
		const turn = () => {
			Sheets.only = !Sheets.only;
			Sheets.fill(sheet);
		};
		const chip = line ? el("button", { class: "more", "aria-pressed": String(!!only),
			onclick: turn }, only ? "of all rows" : "only of ",
			only ? "" : named(name, 60)) : null;
		const pick = (row) => Search.exactly(row.name);
		const is = (row) => View.query && View.query === clean(row.name).toLowerCase();

		const samples = [Sheets.samples("samples", "Samples of call stacks",
			[Sheets.functionCell, Sheets.placeCell]), Sheets.samples("lines",
			"Source lines of samples", [Sheets.placeCell, Sheets.functionCell])];
		const code = (Data.report.regions || []).some((of) => of.class === "code" && of.count);

		if (View.whole() && !only)
			return [chip, ...(code ? [] : samples), table({ name: "regions", caption: "Regions",
				note: "the whole run", pick, is, sort: "exclusive_s",
				rows: Data.report.regions || [], columns: [Sheets.regionCell,
					{ key: "count", head: "calls", unit: "count" },
					{ key: "exclusive_s", head: "exclusive", unit: "seconds" },
					{ key: "share", head: "of run", unit: "share", meter: true },
					{ key: "inclusive_s", head: "inclusive", unit: "seconds" },
					{ key: "mean_s", head: "mean", unit: "seconds" },
						{ key: "max_s", head: "longest", unit: "seconds" },
					{ key: "imbalance", head: "imbalance", unit: "share" },
						{ key: "class", head: "kind", unit: "text", spare: true },
					{ key: "group", head: "group", unit: "text" }] }),
			...(code ? samples : [])];
		const note = `${Sheets.note()}${only ? ", " + clean(name, 60) : ""}`;

		const rows = only ? Model.rowsOf(line) : null, all = new Map();
		const make = (sums) => Sheets.regions(sums, Sheets.time(rows, begin, end), note, pick, is);

		if (Data.view)
			return [chip, Sheets.served(begin, end, rows, make)];
		for (const row of rows || Data.meta.rows.keys())
			if (only || Data.meta.rows[row].kind !== "service")
				addSums(row, begin, end, all);
		return [chip, make(all)];
	},
	functionCell: { key: "function", head: "function", unit: "text", wide: true },
	placeCell: { key: "place", head: "where", unit: "text",
		of: (row) => row.file && row.line ? `${row.file}:${row.line}` : row.file || row.module },
	/* Processor time by function or source line: of whole runs, if there is any. */
	samples: (key, caption, [first, last]) => Data.report[key]?.length ? table({ name: key, caption,
		note: "the whole run", rows: Data.report[key],
		columns: [first,
			{ key: "cpu_s", head: "processor time", unit: "seconds" },
			{ key: "share", head: "of it", unit: "share", meter: true },
			{ key: "samples", head: "samples", unit: "count" }, last] }) : null,
	/* The ns that rows lived in a window: threads, as the report counts; of streams alone, streams. */
	time(rows, begin, end) {
		let threads = 0, streams = 0;

		for (const row of rows || Data.meta.rows.keys()) {
			const meta = Data.meta.rows[row];
			const ns = Math.max(0, Math.min(end, meta.end) - Math.max(begin, meta.begin));

			threads += meta.counts || (rows && meta.kind !== "stream") ? ns : 0;
			streams += rows && meta.kind === "stream" ? ns : 0;
		}
		return { threads, streams: threads ? 0 : streams };
	},
	share(time, region, ns) {
		const whole = Data.regions[region]?.time === "on a GPU" ? time.streams : time.threads;

		return whole ? ns / whole : null;
	},
	regions: (sums, time, note, pick, is) => table({ name: "regions", caption: "Regions",
		note, pick, is, sort: "ns",
		rows: [...sums.values()].filter((row) => row.inclusive > 0 || row.count > 0.5)
			.map((row) => ({ ...row, share: Sheets.share(time, row.region, row.ns) })),
		columns: [Sheets.regionCell,
			{ key: "count", head: "calls", unit: "count" },
			{ key: "ns", head: "exclusive", unit: "ns" },
			{ key: "share", head: "of window", unit: "share", meter: true,
				title: "of the time that all threads lived in the window" },
			{ key: "inclusive", head: "inclusive", unit: "ns" },
			{ key: "class", head: "kind", unit: "text", spare: true,
				of: (row) => Data.regions[row.region]?.class },
			{ key: "group", head: "group", unit: "text",
				of: (row) => Data.regions[row.region]?.group }] }),
	/* What is made of the sums of a window, when the server has said them: they are exact. */
	served(begin, end, rows, make) {
		const b = Math.floor(begin), e = Math.ceil(end), place = el("div", null, empty("…"));

		Page.later("served", async () => {
			const of = rows ? "&rows=" + Wanted.ranges(rows) : "", sums = new Map();

			try {
				const answer = await Data.fetch(`profile?from=${b}&to=${e}${of}`, "json");

				for (const row of answer.rows)
					if (rows || Data.meta.rows[row.row].kind !== "service")
						for (const [region, ...of] of row.regions)
							addSum(sums, region, { count: of[0], ns: of[1],
								inclusive: of[2], bytes: of[3] });
				place.replaceChildren(make(sums));
			} catch (error) {
				Page.trouble(error);
			}
		}, 100);
		return place;
	},

	/* ---- waits ------------------------------------------------------------------------------- */

	waits() {
		const r = Data.report, pick = (row) => Find.wait(row);
		const swatch = () => Theme.kinds[KIND["GPU wait"]]; /* as the overlay */

		if (!View.whole())
			return table({ name: "waits", caption: "Waits", note: Sheets.note(),
				rows: Sheets.waitsOf(...View.scope()),
				sort: "ns", pick, columns: [{ key: "class", head: "wait", unit: "text",
					color: swatch },
					{ key: "ns", head: "time", unit: "ns" },
						{ key: "count", head: "waits", unit: "count" },
					{ key: "location", head: "location", unit: "text" }] });
		return [
			table({ name: "waits", caption: "Waits", note: "the whole run", rows: r.waits || [],
				sort: "seconds", pick,
				columns: [{ key: "class", head: "wait", unit: "text", color: swatch },
					{ key: "seconds", head: "time", unit: "seconds" },
						{ key: "count", head: "waits", unit: "count" },
					{ key: "longest_s", head: "longest", unit: "seconds" },
					{ key: "location", head: "location", unit: "text" },
						{ key: "region", head: "in", unit: "text" },
					{ key: "cause_location", head: "for", unit: "text" },
					{ key: "path", head: "call path", unit: "text" }] }),
			r.critical_path?.length ? table({ name: "path", caption: "Critical path",
				rows: r.critical_path, sort: "seconds",
				pick: (row) => (Page.overlay("path", true), Search.exactly(row.region)),
				columns: [{ key: "region", head: "region", unit: "text", wide: true,
					color: (row) => Theme.regionPaint(Find.region(row.region)) },
				{ key: "seconds", head: "on the path", unit: "seconds" },
				{ key: "share", head: "share", unit: "share", meter: true },
				{ key: "group", head: "group", unit: "text" }] }) : null,
			r.delays?.length ? table({ name: "delays", caption: "Delays",
				note: "what made others wait", rows: r.delays,
				sort: "seconds", pick: (row) => Find.row(Model.rowOfLabel(row.location)),
				columns: [{ key: "location", head: "location", unit: "text" },
					{ key: "region", head: "in", unit: "text" },
					{ key: "seconds", head: "direct", unit: "seconds" },
					{ key: "long_term_s", head: "long-term", unit: "seconds" },
					{ key: "count", head: "waits", unit: "count" }] }) : null,
			r.locks?.length ? table({ name: "locks", caption: "Locks", rows: r.locks,
				sort: "wait_s",
				columns: [{ key: "name", head: "lock", unit: "text" },
					{ key: "process", head: "process", unit: "text" },
					{ key: "wait_s", head: "waited", unit: "seconds" },
						{ key: "waits", head: "waits", unit: "count" },
					{ key: "max_wait_s", head: "longest", unit: "seconds" },
					{ key: "acquisitions", head: "acquired", unit: "count" },
					{ key: "hold_s", head: "held", unit: "seconds" },
					{ key: "holder", head: "most held by", unit: "text" }] }) : null,
			r.thread_states?.length ? table({ name: "states", caption: "Thread states",
				note: "the whole run", rows: r.thread_states, sort: "ready_s",
				pick: (row) => Find.row(Model.rowOfLabel(row.location)),
				columns: [{ key: "location", head: "thread", unit: "text" },
					{ key: "lifetime_s", head: "lifetime", unit: "seconds" },
					...STATES.map(([name, says]) => ({ key: name + "_s", head: says,
						unit: "seconds" })),
					{ key: "unknown_s", head: "unknown", unit: "seconds" },
					{ key: "switches", head: "switches", unit: "count" },
					{ key: "migrations", head: "migrations", unit: "count" }] }) : null,
		];
	},
	/* By class and row, from the tiles. */
	waitsOf(begin, end) {
		const sums = [];

		Data.meta.rows.forEach((meta, row) => {
			const level = tilesFor(WAITS, row, levelFor((end - begin) / 2000, meta.levels), begin,
				end), own = new Map();
			const add = (wait, ns, count) => {
				const sum = own.get(wait) || own.set(wait,
					{ class: Data.meta.waits[wait] || "?", ns: 0, count: 0, row,
					location: meta.label }).get(wait);

				sum.ns += ns, sum.count += count;
			};

			if (level < 0)
				return;
			eachSpan(WAITS, row, level, 0, begin, end,
				(b, e, wait) => add(wait, Math.min(e, end) - Math.max(b, begin), 1));
			eachBucket(WAITS, row, level, 0, begin, end,
				(b, e, wait, cover, count) => add(wait, (e - b) * cover / 255, count));
			sums.push(...own.values());
		});
		return sums;
	},

	/* ---- messages ---------------------------------------------------------------------------- */

	messages() {
		const r = Data.report, whole = View.whole(), m = r.messages || {};
		const list = whole ? m.matrix || [] : Sheets.messagesOf(...View.scope());
		const total = whole ? m : { count: list.reduce((n, x) => n + x.count, 0),
			bytes: list.reduce((n, x) => n + x.bytes, 0) };

		return [
			list.length ? figures([["messages", Units.count(total.count || 0)],
				["bytes", Units.bytes(total.bytes || 0)],
				["pairs", Units.count(list.length)]])
					: empty(`No messages: ${Sheets.note()}.`),
			list.length ? el("div", { class: "pair" }, Matrix.make(list),
				table({ name: "matrix", caption: "Who sent to whom", note: Sheets.note(),
					rows: list, sort: "bytes",
					columns: [{ key: "from", head: "from", unit: "text" },
						{ key: "to", head: "to", unit: "text" },
						{ key: "count", head: "messages", unit: "count" },
							{ key: "bytes", head: "bytes", unit: "bytes" },
						{ key: "mean", head: "mean", unit: "bytes",
							of: (row) => row.bytes / row.count }] })) : null,
			whole && r.collectives?.length ? table({ name: "collectives", caption: "Collectives",
				rows: r.collectives,
				sort: "seconds", columns: [{ key: "name", head: "operation", unit: "text" },
					{ key: "count", head: "calls", unit: "count" },
						{ key: "seconds", head: "time", unit: "seconds" },
					{ key: "max_s", head: "longest", unit: "seconds" },
					{ key: "sent_bytes", head: "sent", unit: "bytes" },
						{ key: "received_bytes", head: "received", unit: "bytes" },
					{ key: "ranks", head: "ranks", unit: "count" },
					{ key: "communicator", head: "communicator", unit: "text" }] })
						: null,
		];
	},
	/* From the links that begin in a window; bundles at its edges count by their part. */
	messagesOf(begin, end) {
		const pairs = new Map(), level = levelFor((end - begin) / 1000, Data.meta.link_levels);
		const label = (row) => {
			const meta = Data.meta.rows[row], group = Data.meta.groups[meta?.group];

			return group && group.rank !== null && group.rank !== undefined ? "rank " + group.rank
				: meta?.label || "?";
		};
		const add = (link, count) => {
			if (Data.meta.links[link.type] !== "message")
				return;
			const key = label(link.from) + "\0" + label(link.to);
			const pair = pairs.get(key) || pairs.set(key,
				{ from: label(link.from), to: label(link.to), count: 0,
				bytes: 0 }).get(key);

			pair.count += count;
			pair.bytes += link.count ? link.bytes * count / link.count : link.bytes;
		};
		const best = Links.each(begin, end, level,
			(link) => link.begin >= begin && link.begin <= end && add(link, 1));

		if (best >= 0)
			Links.eachBundle(begin, end, best, (bundle) => {
				const b = Math.max(bundle.begin, begin), e = Math.min(bundle.end, end);

				add(bundle, bundle.count * (bundle.end > bundle.begin
					? Math.max(0, e - b) / (bundle.end - bundle.begin) : 1));
			});
		return [...pairs.values()].filter((pair) => pair.count >= 0.5);
	},

	/* ---- GPUs -------------------------------------------------------------------------------- */

	gpu() {
		const r = Data.report, whole = View.whole(), [begin, end] = View.scope(),
			length = (end - begin) / 1e9;
		const devices = whole ? (r.devices || []).map((d) => ({ ...d, length: r.duration_s }))
			: Gpu.devices(begin, end, length);
		const copies = (list) => list.length ? table({ name: "copies", caption: "Copies",
			note: Sheets.note(), rows: list, sort: "seconds",
			pick: (row) => Search.exactly(row.name),
			columns: [{ ...Sheets.regionCell, head: "copy" },
				{ key: "count", head: "copies", unit: "count" },
				{ key: "seconds", head: "time", unit: "seconds" },
				{ key: "bytes", head: "bytes", unit: "bytes" },
				{ key: "bandwidth", head: "rate", unit: "rate" }] }) : "";
		const bar = (d) => [[d.kernel_s / d.length, Theme.kinds[KIND.kernel], "kernels"],
			[d.copy_alone_s / d.length, Theme.kinds[KIND.copy], "only copies"]];

		return [
			el("table", { "data-table": "devices" },
				el("caption", null, "GPUs", el("small", null, Sheets.note())),
				el("thead", null, el("tr", null, ["GPU", "kernels", "of window", "copies",
					"only copies", "idle", ""].map((h, i) =>
					el("th", { scope: "col", class: i === 0 ? "text" : null },
						h ? el("button", { tabindex: "-1" }, h) : "")))),
				el("tbody", null, devices.map((d) => el("tr", null,
					el("td", { class: "text" }, named(d.name, 200)),
					el("td", null, Units.seconds(d.kernel_s)),
						el("td", null, Units.share(d.kernel_s / d.length)),
					el("td", null, Units.seconds(d.copy_s)),
						el("td", null, Units.seconds(d.copy_alone_s)),
					el("td", null, Units.seconds(d.idle_s)),
						el("td", null, stack(bar(d))))))),
			whole ? copies(r.copies || []) : Data.view ? Sheets.served(begin, end, Gpu.rows(),
				(sums) => copies(Gpu.copiesOf(sums))) : copies(Gpu.copies(begin, end)),
			whole && r.kernels?.length ? table({ name: "kernels", caption: "Kernels",
				rows: r.kernels, sort: "seconds",
				pick: (row) => Search.exactly(row.name),
					columns: [{ ...Sheets.regionCell, head: "kernel" },
					{ key: "count", head: "calls", unit: "count" },
						{ key: "seconds", head: "time", unit: "seconds" },
					{ key: "share", head: "of GPUs", unit: "share", meter: true },
						{ key: "mean_s", head: "mean", unit: "seconds" },
					{ key: "max_s", head: "longest", unit: "seconds" },
						{ key: "grid", head: "grid", unit: "count" },
					{ key: "block", head: "block", unit: "count" }] }) : null,
			whole && r.launches?.length ? table({ name: "launches", caption: "Launched by",
				rows: r.launches, sort: "seconds", pick: (row) => Search.exactly(row.name),
				columns: [{ ...Sheets.regionCell, head: "kernel or copy" },
					{ key: "count", head: "launches", unit: "count" },
					{ key: "seconds", head: "time", unit: "seconds" },
					{ key: "share", head: "of GPUs", unit: "share", meter: true },
					{ key: "path", head: "call path", unit: "text" }] }) : null,
		];
	},

	/* ---- counters ---------------------------------------------------------------------------- */

	counters() {
		const [begin, end] = View.scope(), rows = Data.meta.tracks.map((track, i) => {
			if (States.is(track))
				return null;
			const level = Tracks.level(i), points = level < 0 ? []
				: Tracks.points(i, level, begin, end)
				.filter(([b, e]) => e >= begin && b <= end);

			return { i, name: track.metric.name, unit: track.metric.unit,
				of: track.row !== null && track.row !== undefined
					? Data.meta.rows[track.row].label : null, points: points.length,
				least: points.length ? Math.min(...points.map((p) => p[2])) : null,
				most: points.length ? Math.max(...points.map((p) => p[3])) : null,
					last: points.at(-1)?.[4] ?? null };
		}).filter((row) => row);

		return [rows.length ? table({ name: "tracks", caption: "Tracks", note: Sheets.note(), rows,
			pick: (row) => Find.track(row.i),
			columns: [{ key: "name", head: "counter", unit: "text", wide: true },
				{ key: "of", head: "of", unit: "text" },
				{ key: "least", head: "least", unit: "number" },
					{ key: "most", head: "greatest", unit: "number" },
				{ key: "last", head: "last", unit: "number" },
					{ key: "unit", head: "unit", unit: "text" }] }) : null,
		Data.report.metrics?.length ? table({ name: "metrics", caption: "Whole run",
			rows: Data.report.metrics,
			columns: [{ key: "name", head: "counter", unit: "text", wide: true },
				{ key: "region", head: "region", unit: "text" },
				{ key: "count", head: "samples", unit: "count" },
					{ key: "min", head: "least", unit: "number" },
				{ key: "mean", head: "mean", unit: "number" },
					{ key: "max", head: "greatest", unit: "number" },
				{ key: "unit", head: "unit", unit: "text" },
					{ key: "scope", head: "of", unit: "text" }] }) : null];
	},

	/* ---- health ------------------------------------------------------------------------------ */

	health() {
		const l = Data.report.losses || {}, good = Sheets.healthy();
		const events = Data.meta.rows.reduce((n, row) => n + row.events, 0);
		const words = { complete: "complete", events: "events lost",
			events_left_out: "events left out on purpose",
			unmatched_messages: "messages with one side only",
				damaged: "locations whose events could not all be read",
				processes_killed: "processes that were killed",
			programs_untraced: "programs that were not traced", faults: "broken rules of OTF2",
				flushes: "flushes",
			flush_s: "time in flushes" };

		return [
			el("h2", null, good ? "The trace is complete."
				: "The trace is not complete: read the figures with that in mind."),
			el("div", { class: "narrow" }, terms(Object.entries(words).map(([key, text]) => [text,
				l[key] === null
				|| l[key] === undefined ? null : key === "flush_s" ? Units.seconds(l[key])
					: typeof l[key] === "number"
					? Units.count(l[key]) : clean(l[key])]))),
			l.causes?.length ? table({ name: "causes", caption: "Causes", rows: l.causes,
				columns: Object.keys(l.causes[0]).map((key) =>
					({ key, head: key.replace(/_/g, " "),
					unit: typeof l.causes[0][key] === "number" ? "count" : "text" })) })
						: null,
			...(l.shortfalls || []).map((row) => el("p", null, clean(row.text))),
			Data.meta.complete === false
				? empty("Detail was left out of this page so that it stays small; "
				+ "gputrace view shows every event.") : null,
			el("p", { class: "empty" },
				`${Units.count(events)} events in ${
				Units.count(Data.meta.rows.length)} rows;
					archive `, named(Data.meta.archive, 200),
			`; gputrace ${clean(Data.meta.gputrace)}`),
		];
	},
	healthy() {
		const l = Data.report.losses || {};

		return l.complete !== "no" && !l.events && !l.faults && !l.unmatched_messages
			&& !l.processes_killed
			&& !(l.causes?.length);
	},
};

/* ---- GPUs in a window ---------------------------------------------------------------------------- */

const Gpu = {
	/* Lengths of unions: kernels, copies, copies without kernels. */
	devices(begin, end, length) {
		return Data.meta.devices.map((device, i) => {
			const kernels = [], copies = [];

			Data.meta.rows.forEach((meta, row) => {
				if (meta.device !== i)
					return;
				const level = tilesFor(SPANS, row,
					levelFor((end - begin) / 4000, meta.levels), begin, end);
				const add = (b, e, region) => {
					const kind = Data.regions[region]?.kind;
					const list = kind === KIND.kernel ? kernels : kind === KIND.copy
						? copies : null;

					if (list && e > begin && b < end)
						list.push([Math.max(b, begin), Math.min(e, end)]);
				};

				for (let depth = 1; depth <= meta.depth && level >= 0; depth++) {
					eachSpan(SPANS, row, level, depth, begin, end, add);
					eachBucket(SPANS, row, level, depth, begin, end,
						(b, e, region, cover) =>
						add(b, b + (e - b) * cover / 255, region));
				}
			});
			const kernel = unionOf(kernels) / 1e9,
				both = unionOf([...kernels, ...copies]) / 1e9;

			return { name: device.name, length, kernel_s: kernel, copy_s: unionOf(copies) / 1e9,
				copy_alone_s: both - kernel, idle_s: length - both };
		});
	},
	rows: () => [...Data.meta.rows.keys()].filter((row) => Data.meta.rows[row].device !== null),
	copies(begin, end) {
		const sums = new Map();

		for (const row of Gpu.rows())
			addSums(row, begin, end, sums);
		return Gpu.copiesOf(sums);
	},
	/* Of the sums of devices' rows: time and bytes of copies, by region. */
	copiesOf: (sums) => [...sums.values()]
		.filter((sum) => Data.regions[sum.region]?.kind === KIND.copy && sum.ns > 0)
		.map((sum) => ({ ...sum, seconds: sum.ns / 1e9,
			bandwidth: sum.bytes ? sum.bytes / sum.ns * 1e9 : null })),
};

/* ---- matrix of messages -------------------------------------------------------------------------- */

const Matrix = {
	make(list) {
		const collate = (a, b) => a.localeCompare(b, "en", { numeric: true });
		const names = [...new Set(list.flatMap((m) => [m.from, m.to]))].sort(collate),
			at = new Map(names.map((n, i) => [n, i]));
		const canvas = el("canvas", { role: "img",
			"aria-label": `Bytes between ${names.length} ranks, as in the table beside` });
		const most = Math.max(...list.map((m) => m.bytes || m.count), 1), side = 230, edge = 26,
			size = (side - edge) / names.length;
		const ctx = canvas.getContext("2d"), scale = 2;

		canvas.width = canvas.height = side * scale;
		ctx.scale(scale, scale);
		ctx.fillStyle = Theme.css.soft;
		ctx.fillRect(edge, edge, side - edge, side - edge);
		for (const m of list) {
			ctx.fillStyle = Theme.css.accent;
			ctx.globalAlpha = 0.15 + 0.85 * Math.sqrt((m.bytes || m.count) / most);
			ctx.fillRect(edge + at.get(m.to) * size, edge + at.get(m.from) * size,
				Math.max(size - (size > 4 ? 1 : 0), 0.5),
				Math.max(size - (size > 4 ? 1 : 0), 0.5));
		}
		ctx.globalAlpha = 1;
		ctx.fillStyle = Theme.css.dim;
		ctx.font = "11px " + Draw.font();
		ctx.textBaseline = "middle";
		const step = Math.ceil(names.length / 12);

		for (let i = 0; i < names.length; i += step) {
			const text = isolated(clean(names[i].replace(/^rank /, ""), 4));

			ctx.textAlign = "right";
			ctx.fillText(text, edge - 4, edge + (i + 0.5) * size);
			ctx.textAlign = "center";
			ctx.fillText(text, edge + (i + 0.5) * size, edge - 8);
		}
		canvas.addEventListener("mousemove", (event) => {
			const box = canvas.getBoundingClientRect(), s = side / box.width;
			const to = Math.floor(((event.clientX - box.left) * s - edge) / size);
			const from = Math.floor(((event.clientY - box.top) * s - edge) / size);
			const m = list.find((x) => at.get(x.from) === from && at.get(x.to) === to);

			if (m)
				Tip.show(event.clientX, event.clientY, `${m.from} → ${m.to}`,
					`${Units.count(m.count)} messages`, Units.bytes(m.bytes));
			else
				Tip.hide();
		});
		canvas.addEventListener("mouseleave", Tip.hide);
		return canvas;
	},
};
