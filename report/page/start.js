/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The page as a whole: what is picked and where to jump, search, overlays, legend, help, and the start.
 *
 * Limits: a search finds what the levels that are loaded hold; after a jump the finer ones come.
 */

const OVERLAYS = [["messages", "Messages", "message"], ["launches", "Launches", "launch"],
	["collectives", "Collectives", "collective"], ["locks", "Locks", "lock"], ["path", "Critical path"],
	["waits", "Waits"], ["markers", "Markers"], ["samples", "Samples"],
	["states", "Thread states"]];

const Page = {
	async start() {
		try {
			await Data.start();
			Theme.start();
			document.title = `${clean(Data.meta.program || Data.meta.archive, 80)} – gputrace`;
			$("program").textContent = clean(Data.meta.program || Data.meta.archive, 400);
			$("program").title = clean(Data.meta.program || "", 400);
			View.begin = 0;
			View.end = Math.max(20, Data.meta.end);
			Model.build();
			Page.facts();
			Page.bar();
			Page.layout();
			Draw.start();
			await later(); /* the timeline first */
			Sheets.start();
			Page.details();
			Input.start();
			Search.start();
			Page.buttons();
			Data.changed = Page.changed;
			addEventListener("hashchange", Page.fromHash);
			Page.fromHash();
			document.addEventListener("theme", Page.repaint);
			Print.start();
			Page.ready = true;
		} catch (error) {
			Page.trouble(error);
			throw error;
		}
	},
	facts() {
		const good = Sheets.healthy(), meta = Data.meta;
		const events = meta.rows.reduce((n, row) => n + row.events, 0);

		$("facts").replaceChildren(
			el("button", { class: `badge ${good ? "good" : "warn"}`, id: "health-badge",
				title: "Trace health",
				onclick: () => Sheets.show("health") }, good ? "✓ complete" : "⚠ losses"),
			el("span", { class: "fact" }, Units.seconds(Data.report.duration_s)),
			el("span", { class: "fact" }, `${Units.count(meta.rows.length)} rows`),
			el("span", { class: "fact" }, `${Units.count(events)} events`));
	},
	/* Overlays that this trace has, and the kinds that occur as a legend. */
	bar() {
		const meta = Data.meta;
		const there = { path: Data.report.critical_path?.length, waits: Data.report.waits?.length,
			markers: meta.markers.length, samples: meta.rows.some((row) => row.sample_levels),
			states: meta.tracks.some(States.is) };
		const linked = Links.types();

		$("overlays").replaceChildren(...OVERLAYS.map(([key, title, link], i) =>
			(link ? linked.has(link) : there[key])
			? el("button", { "data-overlay": key, title: `${title} (${i + 1})`,
				onclick: () => Page.overlay(i) }, title) : null).filter((e) => e));
		const used = new Set(Data.regions.map((r) => r.kind));

		$("legend").replaceChildren(...KINDS.map(([name], kind) => used.has(kind)
			&& kind !== KIND.idle
			? el("button", { "data-kind": kind, title: `Only ${name}`,
				onclick: () => {
					View.kind = View.kind === kind ? -1 : kind;
					Page.repaint();
				} }, el("i"), name) : null).filter((e) => e));
		Page.pressed();
	},
	/* What of it is on, and the colours of now. */
	pressed() {
		for (const button of $("overlays").children)
			button.setAttribute("aria-pressed", View.overlays[button.dataset.overlay]);
		for (const button of $("legend").children) {
			button.setAttribute("aria-pressed", View.kind === Number(button.dataset.kind));
			button.firstChild.style.background = Theme.kindPaint(button.dataset.kind);
		}
	},
	overlay(which, on) {
		const key = typeof which === "number" ? OVERLAYS[which][0] : which;

		View.overlays[key] = on === undefined ? !View.overlays[key] : on;
		Model.lay();
		Page.layout();
		Page.repaint();
	},
	buttons() {
		$("theme").addEventListener("click", Theme.toggle);
		$("tall").addEventListener("click", Page.tall);
		$("help-open").addEventListener("click", Page.help);
		$("fold-all").addEventListener("click", () => Model.foldAll(false));
		$("unfold-all").addEventListener("click", () => Model.foldAll(true));
		$("sort").addEventListener("change", (event) => {
			Model.sort = event.target.value;
			Model.lay();
			Page.layout();
		});
	},
	tall() {
		const style = document.documentElement.style,
			tall = $("tall").getAttribute("aria-pressed") !== "true";

		Page.panel = tall ? style.getPropertyValue("--panel") : Page.panel;
		style.setProperty("--panel", tall ? "calc(100vh - 232px)" : Page.panel || "");
		$("tall").setAttribute("aria-pressed", tall);
	},
	help() {
		const help = $("help");

		help.replaceChildren(...[
			el("h2", { id: "help-title", tabindex: "-1" }, "Keys and mouse"),
			el("dl", null, KEYS.map(([keys, , text]) =>
				[el("dt", null, keys.filter((k) => k !== "=" && k !== "_")
				.map((k) => el("kbd", null, KEY_NAMES[k] || k))), el("dd", null, text)]),
			[["drag", "move"], ["Shift-drag", "mark a window; so does dragging on the time axis"],
				["Ctrl-wheel", "zoom; so do two fingers"], ["Shift-wheel", "move"],
					["click", "select a call"],
				["double click", "zoom to a call"],
				["+9", "beside a name: a lane for each depth of its calls, too"],
			].map(([k, text]) =>
					[el("dt", null, el("kbd", null, k)), el("dd", null, text)])),
			el("p", null,
				`Last frames took ${Draw.mean().toFixed(1)} ms. `
				+ "This page fetches nothing from anywhere else."),
			Data.view ? el("p", null,
				el("button", { onclick: () => Data.fetch("quit", "text", "POST") },
				"End the server")) : null,
			el("button", { onclick: () => help.close() }, "Close")].filter((e) => e));
		help.showModal();
		$("help-title").focus(); /* a button at the end would scroll there */
		help.scrollTop = 0;
	},

	/* ---- changes ----------------------------------------------------------------------------- */

	timers: new Map(),
	/* Does something once, when nothing of its kind was asked for a while. */
	later(kind, act, ms) {
		clearTimeout(Page.timers.get(kind));
		Page.timers.set(kind, setTimeout(() => (Page.timers.delete(kind), act()), ms));
	},
	/* The window moved. */
	moved() {
		Draw.soon();
		Page.window();
		Page.later("moved", Page.settled, 120);
	},
	settled() {
		Sheets.scoped();
		Page.toHash();
		$("spoken").textContent =
			`${Units.ns(View.begin)} to ${Units.ns(View.end)}`;
	},
	/* What tables are about changed. */
	scoped() {
		Page.window();
		Draw.soon();
		Page.later("moved", Page.settled, 60);
	},
	window() {
		const [b, e] = View.scope(), whole = View.whole(), marked = View.selection;

		$("window").replaceChildren(...[
			Page.coarse() ? el("span", { class: "badge warn",
				title: "gputrace view shows every event" }, "detail ends here") : null,
			el("span", { id: "scope" }, marked ? "marked " : whole ? "whole run " : "window ",
				el("b", null, whole ? Units.seconds(Data.report.duration_s)
					: Units.ns(e - b)),
				whole ? null : ` from ${Units.ns(b)}`),
			...(marked ? [el("button", { onclick: () => View.set(...marked) }, "zoom"),
				el("button", { onclick: () => View.mark(null) }, "clear")]
				: whole ? [] : [el("button", { onclick: View.all }, "whole run")]),
		].filter((x) => x));
	},
	/* Is the window finer than what the page holds of a row? */
	coarse: () => !Data.view && Data.meta.rows.some((row) => row.depth
		&& !(row.exact && row.levels <= Data.meta.page_levels)
		&& (View.end - View.begin) / 500 < Data.bucket(Data.finest(row.levels)) / 4),
	/* More data came. */
	changed() {
		Page.repick();
		Overview.stale = true;
		Draw.soon();
		Page.later("changed", Sheets.scoped, 200);
	},
	repaint() {
		Overview.stale = true;
		Page.pressed();
		Draw.soon();
		if (Sheets.open)
			Sheets.fill(Sheets.open);
		Page.details();
	},
	/* Lines were folded, sorted. */
	layout() {
		const box = $("scroll").clientHeight;

		Model.fit(box);
		$("spacer").style.height = Math.max(0, Model.height - box) + "px";
		Draw.soon();
	},
	trouble(error) {
		const text = error && error.message ? error.message : String(error);

		$("spoken").textContent = text;
		Page.failed = text;
		if (!Page.ready)
			document.body.append(el("p", { class: "failed" },
				"The data could not be read: " + text));
		else
			$("window").replaceChildren(el("span", { class: "badge warn" }, clean(text, 200)));
	},

	/* ---- the place in the address: #begin-end ------------------------------------------------ */

	toHash() {
		const text = View.begin <= 0 && View.end >= Data.meta.end ? ""
			: `#${Math.round(View.begin)}-${Math.round(View.end)}`;

		if (location.hash !== text)
			history.replaceState(null, "", location.pathname + location.search + text);
	},
	fromHash() {
		const found = /^#(\d+)-(\d+)$/.exec(location.hash);

		if (found && Number(found[2]) > Number(found[1]))
			View.set(Number(found[1]), Number(found[2]));
		else
			Page.window();
	},

	/* ---- selecting --------------------------------------------------------------------------- */

	focus(line, keyboard) {
		View.focus = line;
		if (keyboard) {
			Page.into(line);
			Draw.now();
			Labels.lines.get(line)?.focus({ preventScroll: true });
		}
		Draw.soon();
		if (Sheets.open?.id === "profile")
			Sheets.fill(Sheets.open);
	},
	/* Scrolls a line into sight. */
	into(line) {
		const scroll = $("scroll"), top = scroll.scrollTop, room = scroll.clientHeight;

		if (line.y < top)
			scroll.scrollTop = line.y;
		else if (line.y + line.height > top + room)
			scroll.scrollTop = Math.min(line.y, line.y + line.height - room);
	},
	pick(hit) {
		View.picked = hit && hit.row >= 0 ? hit : null;
		if (View.picked && Flow.picked)
			Flow.clear();
		if (hit)
			View.focus = hit.line;
		Page.details();
		$("details").classList.toggle("open", !!View.picked);
		Draw.soon();
		if (Sheets.open?.id === "profile" && Sheets.only)
			Sheets.fill(Sheets.open);
	},
	/* What was a sum of calls when it was picked may be one call by now. */
	repick() {
		const p = View.picked, found = p && p.count > 1 && p.t !== undefined
			? spanAt(p.row, p.depth, p.t, Draw.perPixel() * 2) : null;

		if (found && found.count === 1)
			Page.pick({ ...p, cover: undefined, ...found });
	},
	/* Picks a call and brings it into sight. */
	jump(span, zoom) {
		const line = Model.ofRow[span.row];

		if (!line)
			return;
		if (line.y < 0)
			Model.reveal(line);
		Page.pick({ count: 1, ...span, line });
		Page.into(line);
		const seen = span.begin >= View.begin && span.end <= View.end;

		if (zoom || !seen || span.end - span.begin < Draw.perPixel() * 3)
			View.around(span.begin, span.end);
	},
	details() {
		const p = View.picked, box = $("details");

		if (Flow.picked) {
			box.replaceChildren(...Flow.details().filter((e) => e));
			return;
		}
		if (!p) {
			box.replaceChildren(el("p", { class: "empty" },
				"Select a call in the timeline to see what is known of it. "
				+ "Drag on the time axis to mark a window: tables are then of that window."));
			return;
		}
		const region = Data.regions[p.region] || { name: "?" }, merged = p.count > 1;
		const row = Data.meta.rows[p.row];

		box.replaceChildren(...[
			el("button", { class: "shut", "aria-label": "Close", onclick: () => Page.pick(null) },
				"×"),
			el("h2", null, el("i", { class: "swatch", color: Theme.regionPaint(p.region) }),
				named(region.name)),
			terms([[merged ? "calls" : null, merged ? Units.count(p.count) : null],
				[merged ? "within" : "duration", Units.ns(p.end - p.begin)],
					["begin", Units.exact(p.begin)],
				["end", Units.exact(p.end)], ["share of run",
					Units.share((p.end - p.begin) / Math.max(1, Data.meta.end))],
				["in", named(row.label, 400)], ["kind", region.class && clean(region.class)],
				["group", region.group && named(region.group, 200)], ["source", region.file
					&& named(`${region.file}${region.line ? ":" + region.line : ""}`,
						400)],
				["depth", row.depth > 1 && !merged ? p.depth : null]]),
			el("p", null, el("button", { onclick: () => View.around(p.begin, p.end) },
				"Zoom to it"), " ",
				el("button", { onclick: () => Search.exactly(region.name) }, "Find all"), " ",
				el("button", { id: "list-calls", onclick: () => Page.list(region.name) },
					"List its calls")),
			merged ? null : Page.around(p), merged ? null : Page.madeBy(p)].filter((e) => e));
	},
	/* All calls of a region in a list. */
	list(name) {
		Search.set(clean(name), false, name);
		Sheets.show("calls");
	},
	/* The functions that made the call, which nothing has recorded: only a server says them. */
	madeBy(p) {
		const list = Data.view ? el("ul", { class: "list" }) : null;
		const where = `events?row=${p.row}&from=${p.end}&to=${p.end + 1}`;

		if (list)
			Data.fetch(where, "json").then((answer) => {
				const call = answer.spans.find(([begin, end, , depth]) =>
					begin === p.begin && end === p.end && depth === p.depth);

				if (call?.[4])
					list.append(el("li", null, "made by ", named(call[4], 400)));
			}, Page.trouble);
		return list;
	},
	/* Who called it, and what it is tied to. */
	around(p) {
		const items = [];

		for (let depth = p.depth - 1; depth >= 1; depth--) {
			const above = spanAt(p.row, depth, (p.begin + p.end) / 2, 0);

			if (above && above.begin <= p.begin && above.end >= p.end && above.count === 1)
				items.push(el("li", null, "called by ",
					el("button", { class: "jump", onclick: () =>
					Page.jump({ row: p.row, depth, ...above }) },
						named(Data.name(above.region), 200))));
		}
		for (const link of Links.of(p)) {
			const other = link.out ? link.to : link.from, type = Data.meta.links[link.type];

			items.push(el("li", null, `${type} ${link.out ? "to" : "from"} `,
				el("button", { class: "jump",
				onclick: () => Find.time(other, link.out ? link.end : link.begin) },
					named(Data.meta.rows[other]?.label, 200)),
			link.bytes ? `, ${Units.bytes(link.bytes)}` : "",
				link.end > link.begin ? `, ${Units.ns(link.end - link.begin)}` : "",
			type === "message" ? `, tag ${link.tag}` : ""));
		}
		const wait = Page.waitIn(p);

		if (wait)
			items.push(el("li", null,
				`${clean(Data.meta.waits[wait.wait])}, ${Units.ns(wait.end - wait.begin)}`,
				wait.who ? [" for ", el("button", { class: "jump",
					onclick: () => Find.time(wait.who - 1, wait.end) },
					named(Data.meta.rows[wait.who - 1]?.label, 200))] : ""));
		return items.length ? el("ul", { class: "list" }, items) : null;
	},
	waitIn(p) {
		let found = null;

		if (Data.meta.waits.length > 1) {
			const level = tilesFor(WAITS, p.row, levelFor(Draw.perPixel(),
				Data.meta.rows[p.row].levels), p.begin, p.end);

			eachSpan(WAITS, p.row, level, 0, p.begin, p.end, (begin, end, wait, who) => {
				if (begin >= p.begin && end <= p.end
					&& (!found || end - begin > found.end - found.begin))
					found = { begin, end, wait, who };
			});
		}
		return found;
	},
};

/* As the report prints names: bytes that are no text, and changes of direction, as \\xNN. */
const escaped = (name) =>
	name.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
	(c) => [...new TextEncoder().encode(c)].map((b) => "\\x" + b.toString(16).padStart(2, "0")).join(""));

/* ---- places -------------------------------------------------------------------------------------- */

const Find = {
	names: null,

	region(name) {
		if (!Find.names) {
			const all = Data.regions.map((r, i) => [r.name, i]).reverse();

			Find.names = new Map([...all.map(([name, i]) => [escaped(name), i]), ...all]);
		}
		return Find.names.get(name) ?? Data.regions.length;
	},
	/* Brings a line into sight. */
	line(line) {
		if (!line)
			return;
		if (line.y < 0)
			Model.reveal(line);
		Page.focus(line);
		Page.into(line);
	},
	row: (row) => Find.line(Model.ofRow[row]),
	track: (i) => Find.line(Model.lines.find((l) => l.track === i)),
	/* The last region of a call path "main > solve (file:line) > ..."; names may have " > ", too. */
	last(path) {
		const parts = path.split(" > ");

		for (let i = 0; i < parts.length; i++)
			for (const name of [parts.slice(i).join(" > "),
				parts.slice(i).join(" > ").replace(/ \([^()]*:\d+\)$/, "")]) {
				const region = Find.region(name);

				if (region < Data.regions.length)
					return region;
			}
		return -1;
	},
	/* The call of a row that is there at a time. */
	time(row, t) {
		if (row < 0 || !Data.meta.rows[row])
			return;
		for (let depth = Math.min(Data.meta.rows[row].depth, DEEPEST); depth >= 1; depth--) {
			const found = spanAt(row, depth, t, 1);

			if (found && found.count === 1) {
				Page.jump({ row, depth, ...found });
				return;
			}
		}
		Find.row(row);
	},
	/* The longest call of a region, in a row or in any. */
	longest(region, row, kind = SPANS) {
		let best = null;

		Data.meta.rows.forEach((meta, i) => {
			if (row >= 0 && i !== row)
				return;
			const loaded = tilesFor(kind, i, Data.view ? Math.min(4, meta.levels - 1)
				: Data.finest(meta.levels), 0, Data.meta.end);

			for (let depth = kind === SPANS ? 1 : 0; depth <= (kind === SPANS
				? Math.min(meta.depth, DEEPEST) : 0); depth++)
				eachSpan(kind, i, loaded, depth, 0, Data.meta.end, (begin, end, r) => {
					if (r === region && (!best || end - begin > best.end - best.begin))
						best = { row: i, depth: depth || 1, begin, end, region };
				});
		});
		return best;
	},
	finding(f) {
		const line = Model.lineOfLabel(f.location), row = line ? line.row : -1;
		const region = f.where ? Find.last(f.where) : -1;

		if (f.time_s !== null && f.time_s !== undefined) {
			Find.line(line);
			Find.moment(f.time_s * 1e9, f.until_s ? f.until_s * 1e9 : null);
			return;
		}
		if (region >= 0) {
			const best = Find.longest(region, row) || Find.longest(region, -1);

			Search.exactly(Data.name(region));
			if (best)
				Page.jump(best);
			return;
		}
		Find.line(line);
	},
	/* A time that is known to last until another one is marked. */
	moment(at, until) {
		const length = Math.min(View.end - View.begin, Data.meta.end / 25);

		View.mark(until === null ? null : at, until);
		if (until === null)
			View.set(at - length / 2, at + length / 2);
		else
			View.around(at, until);
	},
	/* The longest wait of a row of the table. */
	wait(row) {
		const where = row.row ?? Model.rowOfLabel(row.location);
		const best = Find.longest(Data.meta.waits.indexOf(row.class), where, WAITS);

		Page.overlay("waits", true);
		Find.row(where);
		if (best)
			View.around(best.begin, best.end);
	},
};

/* ---- search -------------------------------------------------------------------------------------- */

const Search = {
	rows: [],    /* lines whose names match */
	place: -1,   /* the one that was shown last; as many as there are: calls */

	start() {
		$("search").addEventListener("input", (event) => Search.set(event.target.value, true));
		$("search").addEventListener("keydown", (event) => {
			if (event.key === "Enter")
				Search.step(event.shiftKey ? -1 : 1);
			else if (event.key === "Escape")
				Search.set(""), $("canvas").focus();
		});
		$("found-next").addEventListener("click", () => Search.step(1));
		$("found-back").addEventListener("click", () => Search.step(-1));
	},
	exactly(name) {
		Search.set(View.query === clean(name).toLowerCase() ? "" : clean(name), false, name);
	},
	set(text, typed, exact) {
		View.query = text.toLowerCase();
		if (!typed)
			$("search").value = text;
		View.hits = null;
		let count = 0;

		if (View.query) {
			View.hits = new Uint8Array(Data.regions.length + 1);
			Data.regions.forEach((region, i) => {
				const hit = exact === undefined
					? clean(region.name).toLowerCase().includes(View.query)
					: region.name === exact;

				if (hit)
					View.hits[i] = 1, count++;
			});
		}
		Search.rows = View.query && exact === undefined ? Model.inOrder(Model.root)
			.filter((line) => line.label.toLowerCase().includes(View.query)) : [];
		Search.place = -1;
		const some = (n, what) => n ? `${Units.count(n)} ${what}${n === 1 ? "" : "s"}` : null;

		$("found").textContent = !View.query ? ""
			: [some(count, "region"), some(Search.rows.length, "row")].filter((text) => text)
				.join(", ") || "nothing";
		if (!count)
			View.hits = null;
		Page.repaint();
	},
	/* First the rows, then the calls; without calls the rows again. */
	step(way) {
		const rows = Search.rows.length, among = Search.place === rows; /* the calls */
		let next = among ? -1 : Search.place + way;

		if (!View.query)
			return;
		if (!View.hits && rows)
			next = (Math.max(Search.place + way, -1) + rows) % rows;
		if (next >= 0 && next < rows)
			Search.show(next);
		else if (View.hits && Search.call(way))
			Search.place = rows;
		else if (way < 0 && among && rows)
			Search.show(rows - 1);
		else
			$("spoken").textContent = "No further occurrence";
	},
	/* The next call after (before) the picked one, or after the begin of what is shown. */
	call(way) {
		const p = View.picked && View.hits[View.picked.region] ? View.picked : null;
		const from = p ? p.begin : way > 0 ? View.begin : View.end;
		let best = null;
		const take = (row, depth, begin, end, region, count) => {
			if (!View.hits[region] || (p && row === p.row && begin === p.begin
				&& depth === p.depth))
				return;
			const later = begin - from || (p ? row - p.row || depth - p.depth : 1);

			if (later * way <= 0)
				return;
			const nearer = !best ? 1 : best.begin - begin || best.row - row || best.depth - depth;

			if (nearer * way > 0)
				best = { row, depth, begin, end, region, count };
		};

		Data.meta.rows.forEach((meta, row) => {
			const want = Math.min(Data.finest(meta.levels),
				levelFor(Draw.perPixel(), meta.levels));
			const a = way > 0 ? from : 0, b = way > 0 ? Data.meta.end : from;
			const level = Data.view ? tilesFor(SPANS, row, want, View.begin, View.end)
				: tilesFor(SPANS, row, want, a, b);

			for (let depth = 1; depth <= Math.min(meta.depth, DEEPEST) && level >= 0; depth++) {
				eachSpan(SPANS, row, level, depth, a, b,
					(begin, end, region) => take(row, depth, begin, end, region, 1));
				eachBucket(SPANS, row, level, depth, a, b,
					(begin, end, region, cover, count) =>
					take(row, depth, begin, end, region, count));
			}
		});
		if (best)
			Page.jump(best);
		return !!best;
	},
	/* A row, in the upper third. */
	show(place) {
		const line = Search.rows[place], scroll = $("scroll");

		Search.place = place;
		Find.line(line);
		scroll.scrollTop = line.y - scroll.clientHeight / 4;
		$("spoken").textContent = `${line.label}, row ${place + 1} of ${Search.rows.length}`;
	},
};

/* For tests, and for those who look. */
const gt = {
	get ready() {
		return !!Page.ready;
	},
	/* All that was asked for is there, drawn and in the sheets. */
	get idle() {
		return !Data.requests && !Draw.queued && !Page.timers.size && !Wanted.timer
			&& (Data.view || Data.packs.every((pack) => pack === true || pack === undefined));
	},
	window: () => [View.begin, View.end],
	get frames() {
		return [...Draw.frames];
	},
	Calls, Data, Draw, Find, Flame, Flow, Gpu, Input, Links, Model, Page, Path, Samples, Search, Sheets,
	States, Theme, Units, View, addSums, flatAt, spanAt,
};

window.gt = gt;
Page.start();
