/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables that sort by a click on a head, and other small pieces of the sheets.
 *
 * Limits: 100 rows are shown until more are asked for.
 */

const FORMATS = {
	text: (v) => named(v, 400), seconds: Units.seconds, ns: Units.ns, count: Units.count,
		bytes: Units.bytes,
	rate: Units.rate, share: Units.share, number: Units.number,
};
const MOST_ROWS = 100;

/* spare: gives way where there is little room. */
const classOf = (column, wide) => [column.unit === "text" ? "text" : "", wide ? "wide" : "",
	column.spare ? "spare" : ""].filter(Boolean).join(" ") || null;

/*
 * A cell. Columns: { key, head, unit, of: (row) => value, color: (row) => css, meter, wide, spare }, of which
 * the last three are booleans.
 */
function cell(column, row) {
	const value = column.of ? column.of(row) : row[column.key];

	if (value === null || value === undefined || value === "")
		return el("td", { class: classOf(column) }, "–");
	const shown = FORMATS[column.unit](value);

	return el("td", { class: classOf(column, column.unit === "text" && column.wide),
		title: column.unit === "text" ? clean(value, 400) : null },
	column.color ? el("i", { class: "swatch", color: column.color(row) }) : null,
	column.meter ? el("span", { class: "meter" }, el("i", { width: clamp(value * 100, 0, 100) + "%" }))
		: null,
	column.meter ? el("span", { class: "value" }, shown) : shown);
}

/*
 * A table. options: caption, note, columns, rows, sort (key of the first order), down (its way), pick(row)
 * when a row is chosen, is(row) whether it is.
 */
function table(options) {
	const state = { key: options.sort || null, down: options.down ?? true, all: false,
		rows: options.rows };
	const body = el("tbody"), heads = el("tr"), more = el("button", { class: "more" });
	const whole = el("div", null, el("table", { "data-table": options.name || null },
		options.caption ? el("caption", null, options.caption,
			options.note ? el("small", null, options.note) : null) : null,
		el("thead", null, heads), body), more);
	const valueOf = (column, row) => column.of ? column.of(row) : row[column.key];

	function order() {
		const column = options.columns.find((c) => c.key === state.key);

		if (!column)
			return state.rows;
		const way = state.down ? -1 : 1;

		return [...state.rows].sort((a, b) => {
			const x = valueOf(column, a) ?? null, y = valueOf(column, b) ?? null;

			if (x === null || y === null)
				return (x === null) - (y === null);
			return way * (typeof x === "string" ? x.localeCompare(y, "en", { numeric: true })
				: x - y);
		});
	}
	function line(row) {
		const tr = el("tr", options.pick ? { tabindex: "0" } : null,
			options.columns.map((c) => cell(c, row)));

		if (options.is && options.is(row))
			tr.setAttribute("aria-selected", "true");
		if (options.pick) {
			tr.addEventListener("click", () => options.pick(row));
			tr.addEventListener("keydown", (event) => {
				if (event.key !== "Enter" && event.key !== " ")
					return;
				event.preventDefault();
				options.pick(row);
			});
		}
		return tr;
	}
	function fill() {
		const rows = order();

		heads.replaceChildren(...options.columns.map((column) => el("th", { scope: "col",
			class: classOf(column),
			"aria-sort": column.key === state.key ? state.down ? "descending" : "ascending"
				: null },
		el("button", { title: column.title, onclick: () => {
			state.down = column.key === state.key ? !state.down : column.unit !== "text";
			state.key = column.key;
			fill();
		} }, column.head))));
		body.replaceChildren(...(state.all ? rows : rows.slice(0, MOST_ROWS)).map(line));
		more.hidden = state.all || rows.length <= MOST_ROWS;
		more.textContent = `${Units.count(rows.length - MOST_ROWS)} more`;
	}
	fill();
	if (!state.rows.length)
		body.append(el("tr", null,
			el("td", { class: "text", colspan: options.columns.length }, "none")));
	more.addEventListener("click", () => (state.all = true, fill()));
	return whole;
}

/* [[key, value], ...] as a list of terms; nothing for values that are not there. */
const terms = (pairs) => el("dl", null, pairs.filter(([, v]) => v !== null && v !== undefined && v !== "")
	.map(([k, v, text]) => [el("dt", null, k), el("dd", { class: text ? "text" : null }, v)]));

/* Large figures beside each other. */
const figures = (pairs) => el("div", { class: "figures" },
	pairs.filter(([, v]) => v !== null && v !== undefined)
	.map(([k, v]) => el("div", null, el("b", null, v), el("span", null, k))));

const empty = (text) => el("p", { class: "empty" }, text);

/* Parts of a whole, [share, css color, name], as one bar. */
const stack = (parts) => el("div", { class: "stack", role: "img",
	"aria-label": parts.map(([share, , name]) => `${name} ${Units.share(share)}`).join(", ") },
parts.map(([share, color, name]) => el("i", { width: share * 100 + "%", color,
	title: `${name}: ${Units.share(share)}` })));
