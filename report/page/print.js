/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The page on paper. A canvas cannot go over several sheets of paper, so the timeline is drawn once for each
 * of them, cut between rows, as copies that stand there only while the browser prints. All tables follow.
 *
 * Limits: the width of A4 and of Letter, landscape, whatever the window has; at most 60 sheets of timeline;
 * of gputrace view the flow graph only if it has been looked at.
 */

const PAPER = { height: 690, head: 120, most: 60 };

const Print = {
	start() {
		addEventListener("beforeprint", Print.begin);
		addEventListener("afterprint", Print.end);
	},
	begin() {
		Print.end();
		Print.top = $("scroll").scrollTop;
		document.documentElement.classList.add("printing");
		for (const sheet of Sheets.all)
			if (sheet.id !== "flow" || !Data.view || Flow.data !== undefined)
				Sheets.fill(sheet);
		Print.fit();
		Print.stage(PAPER.height - PAPER.head);
		Page.layout();
		Print.leaves();
	},
	/* The flow graph, as small as its width needs. */
	fit() {
		for (const graph of document.querySelectorAll(".graph"))
			graph.style.zoom = Math.min(1, 945 / Math.max(1, parseFloat(graph.style.width)));
	},
	stage(height) {
		$("stage").style.height = height + "px";
	},
	/* The last boundary of rows that a sheet has room for: a row that is higher is cut. */
	until(from, room) {
		const last = Model.shown.filter((line) => line.y > from && line.y <= from + room).at(-1);

		return from + room >= Model.height ? Model.height : last ? last.y : from + room;
	},
	leaves() {
		const head = $("stage").clientHeight - $("scroll").clientHeight, leaves = [];
		let from = 0;

		while (from < Model.height && leaves.length < PAPER.most) {
			const room = PAPER.height - head - (leaves.length ? 0 : PAPER.head);
			const end = Print.until(from, room);

			Print.stage(head + end - from);
			$("spacer").style.height = Model.height - (end - from) + "px";
			$("scroll").scrollTop = from;
			Draw.resize();
			Draw.now();
			leaves.push(Print.leaf());
			from = end;
		}
		const left = Model.shown.filter((line) => line.y >= from).length;

		if (left)
			leaves.push(el("p", { class: "unprinted" },
				`${Units.count(left)} more rows are not printed: fold some.`));
		$("stage").after(...leaves);
	},
	/* What is drawn now. */
	leaf() {
		const copy = $("stage").cloneNode(true), all = copy.querySelectorAll("canvas");

		$("stage").querySelectorAll("canvas").forEach((canvas, i) => {
			all[i].width = canvas.width;
			all[i].height = canvas.height;
			all[i].getContext("2d").drawImage(canvas, 0, 0);
		});
		copy.querySelector("#spacer").remove();
		copy.removeAttribute("id");
		copy.className = "printed";
		return copy;
	},
	end() {
		if (!document.documentElement.classList.contains("printing"))
			return;
		document.documentElement.classList.remove("printing");
		for (const leaf of document.querySelectorAll(".printed, .unprinted"))
			leaf.remove();
		$("stage").style.height = "";
		Page.layout();
		$("scroll").scrollTop = Print.top;
		Draw.resize();
		Draw.now();
		Sheets.fill(Sheets.open);
	},
};
