/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mouse, touch and keyboard. Dragging moves the timeline; with Shift, or on the time axis, it marks a window;
 * Ctrl+wheel or a pinch zooms. Keys are listed in KEYS, which is also the help.
 *
 * Limits: keys do nothing while a field has the focus, and none has a meaning with Ctrl, Alt or Meta.
 */

/* Keys, what they do, in words. */
const KEYS = [
	[["w", "+", "="], () => View.zoom(0.6, Input.cursor()), "zoom in"],
	[["s", "-", "_"], () => View.zoom(1 / 0.6, Input.cursor()), "zoom out"],
	[["a", "ArrowLeft"], () => View.pan(-0.2), "move left"],
	[["d", "ArrowRight"], () => View.pan(0.2), "move right"],
	[["ArrowUp"], () => Input.scroll(-40), "scroll up"],
	[["ArrowDown"], () => Input.scroll(40), "scroll down"],
	[["0"], () => View.all(), "the whole run"],
	[["u", "Backspace"], () => View.back(), "the window before"],
	[["Home"], () => View.pan(-1e9), "to its begin"],
	[["End"], () => View.pan(1e9), "to its end"],
	[["f"], () => Input.fit(), "zoom to the marked window, or to the selected call"],
	[["m"], () => View.mark(View.begin, View.end), "mark what is shown: tables are of that window"],
	[["Escape"], () => Input.clear(), "clear marks, selection and search"],
	[["/"], () => $("search").focus(), "search"],
	[["n"], () => Search.step(1), "next occurrence"],
	[["N"], () => Search.step(-1), "previous occurrence"],
	[["."], () => Input.next(1), "next call of the selected row"],
	[[","], () => Input.next(-1), "previous call of the selected row"],
	[["e"], () => Model.foldAll(true), "unfold all"],
	[["c"], () => Model.foldAll(false), "fold all"],
	[["1", "2", "3", "4", "5", "6", "7", "8", "9"], (key) => Page.overlay(Number(key) - 1),
		"switch an overlay"],
	[["x"], () => Page.tall(), "more room for the tables, or less"],
	[["t"], () => Theme.toggle(), "light or dark"],
	[["?"], () => Page.help(), "this list"],
];
const KEY_NAMES = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc",
	Backspace: "⌫" };

const Input = {
	pointers: new Map(),
	drag: null,
	over: null,     /* where the pointer is on the canvas */

	start() {
		const canvas = $("canvas");

		canvas.addEventListener("pointerdown", Input.down);
		canvas.addEventListener("pointermove", Input.move);
		canvas.addEventListener("pointerup", Input.up);
		canvas.addEventListener("pointercancel", Input.cancel);
		canvas.addEventListener("pointerleave", () => (Input.over = null, Tip.hide(), Guide.hide()));
		canvas.addEventListener("dblclick", Input.double);
		for (const id of ["scroll", "ruler", "overview"])
			$(id).addEventListener("wheel", Input.wheel, { passive: false });
		$("scroll").addEventListener("scroll", () => Draw.soon(), { passive: true });
		Input.marker($("ruler"), (x) => Draw.t(x));
		Input.marker($("overview"), (x, box) => x / box.width * Data.meta.end, true);
		$("overview").addEventListener("keydown", Input.key);
		$("tree").addEventListener("click", Input.treeClick);
		$("tree").addEventListener("dblclick",
			(event) => Input.lineOf(event) && Model.fold(Input.lineOf(event)));
		$("tree").addEventListener("keydown", Input.treeKey);
		document.addEventListener("keydown", Input.key);
		Input.splitter($("grip"), "--names", (event) => event.clientX, 60, 600, "ArrowRight",
			"ArrowLeft");
		Input.splitter($("split"), "--panel", (event) => innerHeight - event.clientY - 4, 80,
			() => innerHeight - 220,
			"ArrowUp", "ArrowDown");
	},
	place(event) {
		const box = Draw.canvas.getBoundingClientRect();

		return [event.clientX - box.left, event.clientY - box.top];
	},
	/* The time under the pointer if it is on the canvas: where keys zoom. */
	cursor: () => Input.over ? Draw.t(Input.over[0]) : undefined,

	down(event) {
		const [x, y] = Input.place(event);

		if (event.button > 1)
			return;
		Draw.canvas.setPointerCapture(event.pointerId);
		Input.pointers.set(event.pointerId, [x, y]);
		if (Input.pointers.size === 2)
			Input.drag = Input.pinch();
		else
			Input.drag = { x, y, begin: View.begin, end: View.end, top: Draw.top(), moved: false,
				mark: event.shiftKey, from: Draw.t(x) };
		Tip.hide();
	},
	pinch() {
		const [a, b] = [...Input.pointers.values()];

		return { two: true, from: Draw.t(a[0]), to: Draw.t(b[0]), moved: true };
	},
	move(event) {
		const [x, y] = Input.place(event), drag = Input.drag;

		Input.over = event.pointerType === "touch" ? null : [x, y];
		Guide.at(Input.over);
		if (!Input.pointers.has(event.pointerId)) {
			Draw.canvas.classList.toggle("pick", event.shiftKey);
			Tip.at(x, y, event);
			return;
		}
		Input.pointers.set(event.pointerId, [x, y]);
		if (!drag)
			return;
		if (drag.two) {
			Input.stretch(drag);
			return;
		}
		if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < 4)
			return;
		drag.moved = true;
		if (drag.mark) {
			View.mark(drag.from, Draw.t(x));
			return;
		}
		const by = (drag.x - x) / Draw.width * (drag.end - drag.begin);

		Draw.canvas.classList.add("drag");
		if (event.pointerType !== "touch")
			$("scroll").scrollTop = drag.top + drag.y - y;
		View.set(drag.begin + by, drag.end + by);
	},
	/* The two times that were under the fingers stay there. */
	stretch(drag) {
		const [a, b] = [...Input.pointers.values()], apart = b[0] - a[0];

		if (Math.abs(apart) < 10)
			return;
		const per = Math.abs((drag.to - drag.from) / apart), left = Math.min(drag.from, drag.to);

		View.set(left - Math.min(a[0], b[0]) * per, left + (Draw.width - Math.min(a[0], b[0])) * per);
	},
	up(event) {
		const [x, y] = Input.place(event), drag = Input.drag;

		Input.cancel(event);
		if (drag && !drag.moved)
			Page.pick(Draw.hit(x, y));
		else if (drag && drag.mark)
			Page.scoped();
	},
	cancel(event) {
		Input.pointers.delete(event.pointerId);
		Input.drag = null;
		Draw.canvas.classList.remove("drag");
	},
	double(event) {
		const hit = Draw.hit(...Input.place(event));

		if (hit && hit.row >= 0)
			View.around(hit.begin, hit.end);
		else
			View.zoom(0.4, Draw.t(Input.place(event)[0]));
	},
	/* Ctrl and wheel zoom, Shift or a sideways wheel moves, else the rows scroll. */
	wheel(event) {
		const on = event.currentTarget.id, step = event.deltaMode === 1 ? 16 : 1;
		const x = event.clientX - Draw.canvas.getBoundingClientRect().left;
		const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX
			: event.shiftKey ? event.deltaY : 0;

		if (sideways && !event.ctrlKey) {
			event.preventDefault();
			View.pan(sideways * step / Draw.width);
		} else if (event.ctrlKey || event.metaKey || on !== "scroll") {
			event.preventDefault();
			const at = on === "overview" ? undefined : Draw.t(clamp(x, 0, Draw.width));

			View.zoom(Math.exp(clamp(event.deltaY * step, -240,
				240) * (event.ctrlKey ? 0.004 : 0.002)), at);
		}
	},
	/* Dragging on the axis marks a window, on the overview shows it; a click there moves. */
	marker(canvas, time, zooms) {
		let from = null;

		canvas.addEventListener("pointerdown", (event) => {
			const box = canvas.getBoundingClientRect();

			canvas.setPointerCapture(event.pointerId);
			from = time(event.clientX - box.left, box);
		});
		canvas.addEventListener("pointermove", (event) => {
			if (from === null)
				return;
			const box = canvas.getBoundingClientRect();
			const to = time(clamp(event.clientX - box.left, 0, box.width), box);

			if (Math.abs(to - from) < (zooms ? Data.meta.end
				: View.end - View.begin) / box.width * 3)
				return;
			if (zooms)
				View.set(Math.min(from, to), Math.max(from, to));
			else
				View.mark(from, to);
		});
		canvas.addEventListener("pointerup", (event) => {
			const box = canvas.getBoundingClientRect(), to = time(event.clientX - box.left, box);
			const length = View.end - View.begin;

			if (from !== null && Math.abs(to - from) < (zooms ? Data.meta.end
				: length) / box.width * 3)
				if (zooms)
					View.set(to - length / 2, to + length / 2);
				else
					View.mark(null);
			from = null;
			Page.scoped();
		});
	},
	/* Keys of no field. */
	key(event) {
		const target = event.target;

		if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey
			|| $("help").open)
			return;
		if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName))
			return;
		const arrow = event.key.startsWith("Arrow");

		if (arrow && target !== document.body && target.id !== "canvas" && target.id !== "overview")
			return;
		if ((event.key === "Home" || event.key === "End")
			&& target.closest("[role=tab], [role=separator]"))
			return;
		for (const [keys, act] of KEYS)
			if (keys.includes(event.key)) {
				event.preventDefault();
				Tip.hide();
				act(event.key);
				return;
			}
		if (event.key === "Enter" && target.id === "canvas" && View.picked) {
			event.preventDefault();
			View.around(View.picked.begin, View.picked.end);
		}
	},
	scroll(by) {
		$("scroll").scrollTop += by;
	},
	fit() {
		if (View.selection)
			View.set(...View.selection);
		else if (View.picked)
			View.around(View.picked.begin, View.picked.end);
	},
	clear() {
		if (View.selection)
			View.mark(null);
		else if (View.picked)
			Page.pick(null);
		else if (Flow.picked)
			Flow.clear();
		else
			Search.set("");
	},
	/* The neighbour of the picked call in its row and depth, or the first one in sight. */
	next(way) {
		const p = View.picked, row = p ? p.row
			: (View.focus || Model.shown.find((l) => l.row >= 0))?.row ?? -1;

		if (row < 0)
			return;
		const depth = p ? p.depth : 1, level = Data.finest(Data.meta.rows[row].levels);
		let best = null;
		const from = p && p.depth ? (way > 0 ? p.end : p.begin) : way > 0 ? View.begin - 1
			: View.end + 1;
		const loaded = tilesFor(SPANS, row, Math.min(level,
			levelFor(Draw.perPixel(), Data.meta.rows[row].levels)),
			View.begin, View.end);

		eachSpan(SPANS, row, loaded, depth, way > 0 ? from : 0, way > 0 ? Data.meta.end : from,
			(b, e, region) => {
			const there = way > 0 ? b >= from : e <= from;

			if (there && (!best || (way > 0 ? b < best.begin : e > best.end)))
				best = { line: Model.ofRow[row], row, depth, begin: b, end: e, region,
					count: 1 };
		});
		if (best)
			Page.jump(best);
	},

	/* ---- the tree of names ------------------------------------------------------------------- */

	lineOf: (event) => event.target.closest(".row")?.line,
	treeClick(event) {
		const line = Input.lineOf(event);

		if (!line)
			return;
		Page.focus(line);
		if (event.target.classList.contains("lanes"))
			Model.widen(line);
		else if (event.target.classList.contains("twist"))
			Model.fold(line);
	},
	treeKey(event) {
		const line = View.focus || Input.lineOf(event), at = Model.shown.indexOf(line);
		const go = (to) => to && Page.focus(to, true);

		if (!line || event.ctrlKey || event.altKey || event.metaKey)
			return;
		if (event.key === "ArrowDown")
			go(Model.shown[at + 1]);
		else if (event.key === "ArrowUp")
			go(Model.shown[at - 1]);
		else if (event.key === "Home")
			go(Model.shown[0]);
		else if (event.key === "End")
			go(Model.shown.at(-1));
		else if (event.key === "ArrowRight" && Model.foldable(line) && !line.open)
			Model.fold(line, true);
		else if (event.key === "ArrowRight" && line.depth > Model.lanes(line))
			Model.widen(line, true);
		else if (event.key === "ArrowLeft" && line.full && line.open && line.depth > LANES)
			Model.widen(line, false);
		else if (event.key === "ArrowRight")
			go(line.children.length && Model.shown[at + 1]);
		else if (event.key === "ArrowLeft" && Model.foldable(line) && line.open)
			Model.fold(line, false);
		else if (event.key === "ArrowLeft")
			go(line.parent !== Model.root && line.parent);
		else if (event.key === "Enter" || event.key === " ")
			Model.fold(line);
		else
			return;
		event.preventDefault();
	},

	/* ---- splitters --------------------------------------------------------------------------- */

	splitter(bar, variable, of, least, most, more, less) {
		const set = (value) => {
			value = Math.round(clamp(value, least, typeof most === "function" ? most() : most));
			document.documentElement.style.setProperty(variable, value + "px");
			bar.setAttribute("aria-valuenow", value);
		};
		const now = () =>
			parseInt(getComputedStyle(document.documentElement).getPropertyValue(variable), 10);

		bar.addEventListener("pointerdown", (event) => bar.setPointerCapture(event.pointerId));
		bar.addEventListener("pointermove", (event) => bar.hasPointerCapture(event.pointerId)
			&& set(of(event)));
		bar.addEventListener("keydown", (event) => {
			if (event.key !== more && event.key !== less)
				return;
			event.preventDefault();
			set(now() + (event.key === more ? 20 : -20));
		});
	},
};

/* ---- what is under the pointer ------------------------------------------------------------------- */

/* A line through all rows, with the time, where the pointer is. */
const Guide = {
	hide() {
		$("guide").hidden = true;
	},
	at(place) {
		const guide = $("guide");

		guide.hidden = !place;
		if (!place)
			return;
		guide.firstChild.textContent = Units.exact(Draw.t(place[0]));
		guide.style.left = Draw.canvas.getBoundingClientRect().left + place[0] + "px";
		guide.classList.toggle("left", place[0] > Draw.width - 140);
	},
};

const Tip = {
	hide() {
		$("tip").hidden = true;
	},
	show(x, y, title, ...lines) {
		const tip = $("tip");

		tip.replaceChildren(el("b", null, named(title, 300)),
			...lines.filter((l) => l).map((l) => el("span", null, l)));
		tip.hidden = false;
		const box = tip.getBoundingClientRect();

		tip.style.left = clamp(x + 14, 4, Math.max(4, innerWidth - box.width - 6)) + "px";
		tip.style.top = (y + 18 + box.height > innerHeight ? y - box.height - 10 : y + 18) + "px";
	},
	at(x, y, event) {
		const marker = View.overlays.markers && Markers.at(x, y),
			link = marker ? null : Links.at(x, y), hit = marker || link ? null : Draw.hit(x, y);

		Draw.canvas.style.cursor = hit && hit.row >= 0 ? "pointer" : "";
		if (marker) {
			Tip.show(event.clientX, event.clientY, marker.text || marker.name, clean(marker.name),
				Units.exact(marker.time));
			return;
		}
		if (link) {
			Tip.show(event.clientX, event.clientY, ...Links.text(link));
			return;
		}
		if (hit && hit.line.type === "track") {
			const track = Data.meta.tracks[hit.line.track];
			const values = Tracks.valueAt(hit.line.track, Draw.t(x))?.slice(2, 4);
			const texts = new Set(values?.map((v) => Tracks.value(track, v)));

			if (values)
				Tip.show(event.clientX, event.clientY, track.metric.name,
					[...texts].join(" to "), Units.exact(Draw.t(x)));
			return;
		}
		if (hit?.wait) {
			Tip.wait(event, hit.wait);
			return;
		}
		if (hit?.states) {
			const shares = States.shares(hit.line.row, ...hit.states);
			const rest = shares && 1 - shares[0] - shares[1] - shares[2];

			return shares ? Tip.show(event.clientX, event.clientY, "states of the thread",
				...STATES.map(([, says], i) => `${says} ${Units.share(shares[i])}`),
				...rest > 0.01 ? [`no thread, or not known ${Units.share(rest)}`] : [],
				`of ${Units.ns(hit.states[1] - hit.states[0])} at ${
					Units.exact(hit.states[0])}`,
				named(Data.meta.rows[hit.line.row].label, 200)) : Tip.hide();
		}
		if (hit?.sample) {
			Tip.sample(event, hit.line.row, hit.sample);
			return;
		}
		if (!hit || hit.row < 0) {
			Tip.hide();
			return;
		}
		const onPath = View.overlays.path && flatAt(PATH, [hit.row], Draw.t(x), 0);

		Tip.show(event.clientX, event.clientY, Data.name(hit.region), hit.count > 1
			? `${Units.count(hit.count)} calls in ${Units.ns(hit.end - hit.begin)}, `
				+ `${Units.share((hit.cover || 0) / 255)} of it`
			: Units.ns(hit.end - hit.begin), `at ${Units.exact(hit.begin)}`,
				named(Data.meta.rows[hit.row].label, 200),
				onPath ? "on the critical path" : null);
	},
	/* Samples at a place: the function with most of their time, its share and error, and its callers. */
	sample(event, row, { begin, end, region, count, cover, part, even, context, ns }) {
		const path = Data.path(context - 1).slice(1), deep = path.slice(0, 12);

		Tip.show(event.clientX, event.clientY, Data.name(region), count > 1
			? `${Units.count(count)} samples in ${Units.ns(end - begin)}: ${
				Samples.share(part / 255, count, even)} of them${cover
				? `, processor time ${Units.share(cover / 255)} of it` : ""}`
			: "a sample" + (ns ? ` of ${Units.ns(ns)} of processor time` : ""),
		`at ${Units.exact(begin)}`, named(Data.meta.rows[row].label, 200),
		path.length ? count > 1 ? "one of them called by" : "called by" : null,
		...deep.map((name) => ["\u00a0\u00a0", named(name, 100)]),
		path.length > deep.length ? `… and ${path.length - deep.length} more` : null);
	},
	/* A bar of waits: which one, and for whom. */
	wait(event, wait) {
		const label = (row) => named(Data.meta.rows[row]?.label, 200);

		Tip.show(event.clientX, event.clientY, Data.meta.waits[wait.of] || "wait",
			wait.count ? `${Units.count(wait.count)} waits in ${Units.ns(wait.end - wait.begin)}`
				: Units.ns(wait.end - wait.begin), ["of ", label(wait.row)],
			wait.who ? ["for ", label(wait.who - 1)] : null,
			wait.more ? `and of ${Units.count(wait.more)} more row${wait.more > 1 ? "s" : ""}`
				: null);
	},
};
