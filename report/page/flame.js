/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flame graphs of the call trees: of the run, a process, a thread or a stream, by inclusive time, or by how
 * that differs from another run if the data has both. Callers are above.
 *
 * Limits: calls of less than 0.1 % of the width are not drawn; at most 3000 boxes.
 */

const Flame = {
	trees: null,   /* row -> nodes [parent, region, calls, inclusive, exclusive, (before ...)] */
	of: "all",     /* or the index of a line in Model.lines */
	top: null,     /* the node that fills the width */
	differs: false,

	load() {
		Flame.trees = new Map(Data.meta.rows.map((_, row) => [row, Data.tile(CALLS, row, 0, 0).calls])
			.filter(([, calls]) => calls.length));
		Flame.differs = [...Flame.trees.values()].some((nodes) => nodes.some((n) => n.length > 5));
	},
	node: (region, name) => ({ region, name, calls: 0, ns: 0, own: 0, before: 0, children: new Map(),
		parent: null }),
	/* The trees of some rows as one. */
	tree(rows) {
		const root = Flame.node(-1, "");

		for (const row of rows) {
			const made = [], nodes = Flame.trees.get(row) || [];

			nodes.forEach(([parent, region, calls, inclusive, exclusive, before]) => {
				const above = parent < 0 ? root : made[parent];
				let node = above.children.get(region);

				if (!node) {
					above.children.set(region,
						node = Flame.node(region, Data.name(region)));
					node.parent = above;
				}
				node.calls += calls, node.ns += inclusive, node.own += exclusive,
					node.before += before || 0;
				made.push(node);
			});
		}
		return root;
	},
	/* Without trees of rows: the one of the report. */
	ofReport() {
		const root = Flame.node(-1, ""), made = new Map();

		for (const call of Data.report.call_tree || []) {
			const above = call.parent === null ? root : made.get(call.parent) || root;
			const node = Flame.node(Find.region(call.name), call.name);

			Object.assign(node, { calls: call.count, ns: call.inclusive_s * 1e9,
				own: call.exclusive_s * 1e9, parent: above });
			above.children.set(call.id, node);
			made.set(call.id, node);
		}
		return root;
	},
	sheet(sheet) {
		if (!Flame.trees)
			Flame.load();
		const have = Flame.trees.size, line = Model.lines[Flame.of];
		const root = have ? Flame.tree(line ? Model.rowsOf(line) : [...Flame.trees.keys()])
			: Flame.ofReport();

		root.name = line ? line.label : "all rows";
		for (const child of root.children.values())
			root.ns += child.ns, root.before += child.before;
		const place = el("div", { class: "flame", role: "tree", "aria-label": "Flame graph" });
		const said = el("span");
		const choose = el("select", { "aria-label": "Of", onchange: (event) => {
			Flame.of = event.target.value;
			Flame.top = null;
			Sheets.fill(sheet);
		} }, el("option", { value: "all" }, "all rows"),
			!have ? [] : Model.lines.map((l, i) => [l, i])
			.filter(([l]) => l.type !== "root" && l.type !== "track"
				&& Model.rowsOf(l).some((row) => Flame.trees.has(row)))
			.map(([l, i]) => el("option", { value: i },
				"\u00a0\u00a0".repeat(Math.max(0, l.level)) + clean(l.label, 80))));
		const out = el("button", { onclick: () => (Flame.top = null, draw()) }, "Whole width");

		choose.value = Flame.of;
		Flame.top = null;
		function draw() {
			out.disabled = !Flame.top;
			Flame.boxes(place, root, said, draw);
		}
		draw();
		return root.children.size ? [el("div", { class: "flame-head" }, choose, out, said), place]
			: empty("No calls were recorded.");
	},
	boxes(place, root, said, draw) {
		const focused = Flame.top || root, boxes = [], above = [];
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

			for (const child of [...node.children.values()].sort((a, b) => b.ns - a.ns)) {
				const part = node.ns ? child.ns / node.ns * width : 0;

				visit(child, at, part, depth + 1);
				at += part;
			}
		};

		visit(focused, 0, 1, above.length);
		place.replaceChildren(...boxes);
		place.style.height = (deepest + 1) * 18 + "px";
		said.replaceChildren(...[named(focused.name, 120), ` ${Units.ns(focused.ns)}`
			+ (focused.calls
				? `, ${Units.count(focused.calls)} calls, own ${Units.ns(focused.own)}` : "")
			+ (Flame.differs ? `, before ${Units.ns(focused.before)}` : "")]);
	},
	box(node, left, width, depth, draw, root) {
		const share = root.ns ? node.ns / root.ns : 0, hit = !View.hits || View.hits[node.region];
		const box = el("button", { class: hit || node === root ? null : "dim", role: "treeitem",
			"aria-level": depth + 1,
			title: `${clean(node.name, 300)}\n${Units.ns(node.ns)}, ${Units.share(share)}`
				+ (node.calls ? `, ${Units.count(node.calls)} calls` : ""),
			onclick: () => {
				Flame.top = node === root ? null : node;
				draw();
			} }, named(node.name, 200));

		box.style.left = left * 100 + "%";
		box.style.width = width * 100 + "%";
		box.style.top = depth * 18 + "px";
		if (node === root) {
			box.style.backgroundColor = Theme.css.soft;
			box.style.color = Theme.css.ink;
		} else if (Flame.differs) {
			const more = clamp((node.ns - node.before) / Math.max(node.ns, node.before, 1), -1,
				1);
			const full = parseColor(more > 0 ? "#d55e00" : "#0072b2");

			const mixed = full.map((c) => Math.round(235 + (c - 235) * Math.abs(more)));

			box.style.backgroundColor = `rgb(${mixed.join(" ")})`;
			box.style.color = Math.abs(more) > 0.6 ? "#ffffff" : "#10141a";
		} else {
			box.style.backgroundColor = Theme.regionColor(node.region);
			box.style.color = Theme.textOn(node.region);
		}
		return box;
	},
};
