/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flame graphs of the call trees: of the run, a process, a thread or a stream, by inclusive time, or by how
 * that differs from another run if the page has both (gputrace html --against). Callers are above. Calls of
 * two runs are the same if their names and those of their callers are, rows if their labels are. With samples
 * of call stacks, the tree of the report has sampled functions ("~"), which divide the time of the call
 * above; the same tree is also shown by callers.
 *
 * Limits: calls of less than 0.1 % of the width are not drawn; at most 3000 boxes.
 */

/* Less than before, more: Okabe and Ito's blue and vermilion. */
const LESS = parseColor("#0072b2"), MORE = parseColor("#d55e00");

const Flame = {
	trees: null,   /* row -> nodes [parent, region, calls, inclusive, exclusive] */
	of: null,      /* "all" rows, "samples": with them, "callers": inverted, or a place in Model.lines */
	by: "now",     /* what widths are: times of this run, or of the one before */
	top: null,     /* the node that fills the width */
	all: null,     /* Sheets.sampled(), with trees that have samples */

	load() {
		Flame.trees = new Map(Data.meta.rows.map((_, row) => [row, Data.tile(CALLS, row, 0, 0).calls])
			.filter(([, calls]) => calls.length));
	},
	node: (region, name) => ({ region, name, children: new Map(), parent: null, depth: 0,
		now: { ns: 0, calls: 0, own: 0 }, before: { ns: 0, calls: 0, own: 0 } }),
	/* Adds a call tree, whose regions have these names; `region` finds them in this run. */
	add(root, nodes, run, name, region) {
		const made = [];

		for (const [parent, of, calls, inclusive, exclusive] of nodes) {
			const above = parent < 0 ? root : made[parent], text = name(of);
			const key = Data.against ? text : of;
			let node = above.children.get(key);

			if (!node) {
				above.children.set(key, node = Flame.node(region(of, text), text));
				node.parent = above;
			}
			node[run].ns += inclusive, node[run].calls += calls, node[run].own += exclusive;
			made.push(node);
		}
	},
	/* The trees of some rows as one, and of the rows of the same labels of the other run. */
	tree(rows, all = false) {
		const root = Flame.node(-1, ""), other = Data.against;
		const labels = new Set(rows.map((row) => Data.meta.rows[row].label));

		for (const row of rows)
			Flame.add(root, Flame.trees.get(row) || [], "now", Data.name, (of) => of);
		for (const row of other?.rows || [])
			if (row.calls && (all || labels.has(row.label)))
				Flame.add(root, row.calls, "before", (of) => other.regions[of]?.name ?? "?",
					(of, name) => Find.region(name));
		for (const child of root.children.values())
			root.now.ns += child.now.ns, root.before.ns += child.before.ns;
		return root;
	},
	sampled: () => !Data.against && Data.report.call_tree?.some((call) => call.kind === "sampled"),
	/* Without trees of rows, and with samples: the one of the report. */
	ofReport() {
		const root = Flame.node(-1, ""), made = new Map();

		for (const call of Data.report.call_tree || []) {
			const above = call.parent === null ? root : made.get(call.parent) || root;
			const mark = call.kind === "sampled" ? "~" : "";
			const node = Flame.node(Find.region(call.name), mark + call.name);

			node.now = { ns: call.inclusive_s * 1e9, calls: call.count,
				own: call.exclusive_s * 1e9 };
			node.kind = call.kind;
			node.samples = call.samples;
			node.parent = above;
			above.children.set(call.id, node);
			made.set(call.id, node);
			root.now.ns += above === root ? node.now.ns : 0;
		}
		Flame.count(root);
		Flame.all = Sheets.sampled();
		return root;
	},
	isSampled: (node) => node.kind === "sampled",
	/* Of sampled functions: how many samples are in them and in what they call. */
	count(node) {
		node.children.forEach(Flame.count);
		if (Flame.isSampled(node))
			node.samples += [...node.children.values()].filter(Flame.isSampled)
				.reduce((n, child) => n + child.samples, 0);
	},
	/* "sampled: 123 samples, ± 4.1 ms": half the width of the 95 % interval, as the report has it. */
	certainty({ kind, samples, now }) {
		const { whole, half } = Flame.all, exact = whole * half(now.ns / 1e9 / whole);

		return kind !== "sampled" ? kind : `sampled: ${Units.count(samples)} sample${
			samples === 1 ? "" : "s"}${samples < FEW_SAMPLES ? ", too few to say how exactly"
			: exact >= 0 ? ", ± " + Units.seconds(exact) : ""}`;
	},
	/* The same from inside: functions, below them callers, each with its part of their exclusive time. */
	inverted() {
		const root = Flame.node(-1, "");
		const visit = (node) => {
			const inside = [...node.children.values()].filter(Flame.isSampled);
			const called = inside.reduce((n, child) => n + child.samples, 0);
			const own = node.kind === "measured" /* which samples divide */
				? node.now.own - inside.reduce((ns, n) => ns + n.now.ns, 0) : node.now.own;
			let at = root;

			root.now.ns += own;
			for (let of = node; own > 0 && of.parent; of = of.parent) {
				let next = at.children.get(of.name);

				if (!next) {
					at.children.set(of.name, next = Flame.node(of.region, of.name));
					next.parent = at;
					next.kind = of.kind;
					next.samples = of.kind === "sampled" ? 0 : undefined;
				}
				next.now.ns += own;
				if (Flame.isSampled(node) && Flame.isSampled(next))
					next.samples += node.samples - called;
				at = next;
			}
			node.children.forEach(visit);
		};

		visit(Flame.ofReport());
		return root;
	},
	select: (name, value, options, change) => {
		const select = el("select", { "aria-label": name, onchange: change },
			options.map(([key, text]) => el("option", { value: key }, text)));

		select.value = value;
		return select;
	},
	lines: () => Model.lines.map((l, i) => [l, i]).filter(([l]) => l.type !== "root" && l.type !== "track"
		&& Model.rowsOf(l).some((row) => Flame.trees.has(row)))
		.map(([l, i]) => [i, "\u00a0\u00a0".repeat(Math.max(0, l.level)) + clean(l.label, 80)]),
	sheet(sheet) {
		if (!Flame.trees)
			Flame.load();
		const sampled = Flame.sampled(), have = Flame.trees.size, other = Data.against;

		Flame.of ??= sampled ? "samples" : "all";
		const line = Model.lines[Flame.of];
		const rows = line ? Model.rowsOf(line) : [...Flame.trees.keys()];
		const root = other ? Flame.tree(rows, !line) : Flame.of === "callers" ? Flame.inverted()
			: have && Flame.of !== "samples" ? Flame.tree(rows, !line) : Flame.ofReport();
		const place = el("div", { class: "flame", role: "tree", "aria-label": "Flame graph" });
		const said = el("span"), refill = () => (Flame.top = null, Sheets.fill(sheet));
		const out = el("button", { onclick: () => (Flame.top = null, draw()) }, "Whole width");

		root.name = `${line ? line.label : "all rows"}${View.whole() ? "" : ", the whole run"}`;
		Flame.top = null;
		function draw() {
			out.disabled = !Flame.top;
			Flame.boxes(place, root, said, draw);
		}
		draw();
		if (!root.children.size)
			return empty("No calls were recorded.");
		return [el("div", { class: "flame-head" },
			Flame.select("Of", Flame.of, [
				...(sampled ? [["samples", "all rows, with samples"],
					["callers", "callers of functions, with samples"]] : []),
				["all", "all rows"], ...(have ? Flame.lines() : [])],
				(event) => (Flame.of = event.target.value, refill())),
			other ? Flame.select("Widths", Flame.by, [["now", "widths: this run"],
				["before", "widths: " + clean(other.archive, 40)]],
			(event) => (Flame.by = event.target.value, refill())) : null,
			out, said, other ? Flame.legend(other) : null),
		other && !root.before.ns ? el("p", { class: "empty" }, named(root.name, 100), " is not in ",
			named(other.archive, 100), ".") : null, place];
	},
	legend: (other) => el("span", { class: "ramp" }, el("b", null, "against ", named(other.archive, 60)),
		"less ",
		el("span", { role: "img",
			"aria-label": "from blue: less, over grey: the same, to orange: more" },
			Array.from({ length: 11 }, (_, i) => el("i", { color: Flame.shade(i / 5 - 1) }))),
				" more"),
	boxes(place, root, said, draw) {
		const focused = Flame.top || root, boxes = [], above = [], by = Flame.by;
		let deepest = 0, count = 0;

		for (let node = focused.parent; node; node = node.parent)
			above.unshift(node);
		above.forEach((node, depth) => boxes.push(Flame.box(node, 0, 1, depth, draw, root)));
		const visit = (node, left, width, depth) => {
			if (width < 0.001 || count++ > 3000)
				return;
			deepest = Math.max(deepest, depth);
			boxes.push(Flame.box(node, left, width, depth, draw, root));
			let at = left;

			for (const child of [...node.children.values()].sort((a, b) => b[by].ns - a[by].ns)) {
				const part = node[by].ns ? child[by].ns / node[by].ns * width : 0;

				visit(child, at, part, depth + 1);
				at += part;
			}
		};

		visit(focused, 0, 1, above.length);
		place.replaceChildren(...boxes);
		place.style.height = (deepest + 1) * 18 + "px";
		said.replaceChildren(named(focused.name, 120), " " + Flame.figures(focused, "now")
			+ (Data.against ? `, was ${Flame.figures(focused, "before")}` : ""));
	},
	figures: (node, run) => Units.ns(node[run].ns) + (node[run].calls
		? `, ${Units.count(node[run].calls)} call${node[run].calls === 1 ? "" : "s"}, own ${
			Units.ns(node[run].own)}` : ""),
	/* -1: only before, 0: the same, 1: only now. */
	more: (node) => (node.now.ns - node.before.ns) / Math.max(node.now.ns, node.before.ns, 1),
	shade(more) {
		const same = parseColor(Theme.css.soft), full = more > 0 ? MORE : LESS;
		const mix = same.map((c, i) => Math.round(c + (full[i] - c) * Math.abs(more)));

		return `rgb(${mix.join(" ")})`;
	},
	says(node, root) {
		const other = Data.against, by = node.now.ns - node.before.ns, sign = by < 0 ? "−" : "+";

		if (!other)
			return [Flame.figures(node, "now"), Units.share(root.now.ns
				? node.now.ns / root.now.ns : 0)
				+ " of " + clean(root.name, 60),
			...(node.kind ? [Flame.certainty(node)] : [])];
		const was = (run) => node[run].ns || node[run].calls ? Flame.figures(node, run)
			: "not called";

		return [`this run: ${was("now")}`, `${clean(other.archive, 60)}: ${was("before")}`,
			sign + Units.ns(Math.abs(by)) + (node.before.ns
				? ` (${sign}${Units.share(Math.abs(by) / node.before.ns)})` : "")];
	},
	box(node, left, width, depth, draw, root) {
		const hit = !View.hits || View.hits[node.region], says = Flame.says(node, root);
		const box = el("button", { class: hit || node === root ? null : "dim", role: "treeitem",
			"aria-level": depth + 1, "aria-label": clean(node.name, 200) + ", " + says.join(", "),
			onmousemove: (event) => Tip.show(event.clientX, event.clientY, node.name, ...says),
			onmouseleave: Tip.hide,
			onclick: () => {
				Tip.hide();
				Flame.top = node === root ? null : node;
				draw();
			} }, named(node.name, 200));

		box.style.left = left * 100 + "%";
		box.style.width = width * 100 + "%";
		box.style.top = depth * 18 + "px";
		if (Data.against) {
			const more = Flame.more(node);

			box.style.backgroundColor = Flame.shade(more);
			box.style.color = Math.abs(more) > (more > 0 ? 0.9 : 0.45) ? "#ffffff"
				: Theme.css.ink;
		} else if (node === root) {
			box.style.backgroundColor = Theme.css.soft;
			box.style.color = Theme.css.ink;
		} else {
			box.style.background = Theme.regionPaint(node.region);
			box.style.color = Theme.textOn(node.region);
		}
		return box;
	},
};
