/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all parts of the page use: elements, clean names, numbers as people read them, a store of settings.
 * Names of the trace come from anyone: they become text nodes, isolated by <bdi>, and control characters
 * are shown as what they are.
 *
 * Limits: the files of report/page/ are one script, in the order of report/page/local.mk.
 */
"use strict";

const $ = (id) => document.getElementById(id);

/* With visible symbols for control characters and changes of direction; at most `most` long. */
function clean(text, most = 4096) {
	let s = String(text);

	if (s.length > most)
		s = s.slice(0, most - 1) + "…";
	return s.replace(/[\u0000-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
		.replace(/[\u007f-\u009f]/g, "\u2421").replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
			"\u2423");
}

/* An element ("svg:path": of SVG): its attributes (on...: listeners), then its children, elements or text. */
function el(tag, props, ...children) {
	const svg = tag.startsWith("svg:");
	const e = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag.slice(4))
		: document.createElement(tag);

	for (const [key, value] of Object.entries(props || {}))
		if (value === null || value === undefined || value === false)
			continue;
		else if (key.startsWith("on"))
			e.addEventListener(key.slice(2), value);
		else if (key === "color")
			e.style.background = value;
		else if ((key === "width" || key === "height") && !svg)
			e.style[key] = value;
		else
			e.setAttribute(key, value === true ? "" : value);
	for (const child of children.flat(9))
		if (child !== null && child !== undefined)
			e.append(child.nodeType ? child : document.createTextNode(String(child)));
	return e;
}

/* A sentence whose numbers stay with their units. */
const withUnits = (text) => text.replace(/(\d) (?=(?:[num]?s|[kMGTP]?B|%)\b)/g, "$1\u00a0");

/* A name of the trace. */
const named = (text, most) => el("bdi", null, clean(text, most));

/* Canvas has no <bdi>: the name stands between marks that isolate it. */
const isolated = (text) => "\u2068" + text + "\u2069";

/* ---- numbers ------------------------------------------------------------------------------------- */

/* As `gputrace report` prints them (faces.c): three digits, whole numbers of the smallest unit. */
function scaled(value, units, suffix = "") {
	let at = 0;

	while (Math.abs(value) >= 999.5 && at < units.length - 1)
		value /= 1000, at++;
	const size = Math.abs(value);

	return value.toFixed(!at || size >= 99.95 ? 0 : size < 9.995 ? 2 : 1) + "\u00a0" + units[at] + suffix;
}

const SECONDS = ["ns", "µs", "ms", "s"];
const BYTES = ["B", "kB", "MB", "GB", "TB", "PB"];

const Units = {
	ns: (ns) => scaled(ns, SECONDS),
	seconds: (s) => scaled(Math.round(s * 1e9), SECONDS),
	/* To the nanosecond: 1.234 567 890 s. */
	exact(ns) {
		const sign = ns < 0 ? "−" : "", n = Math.abs(Math.round(ns));
		const s = Math.floor(n / 1e9), part = String(n % 1e9).padStart(9, "0").replace(/(...)(...)/,
			"$1\u2009$2\u2009");

		return `${sign}${Units.count(s)}.${part}\u00a0s`;
	},
	bytes: (n) => scaled(n, BYTES),
	rate: (n) => scaled(n, BYTES, "/s"),
	count: (n) => Math.round(n).toLocaleString("en-US"),
	share: (n) => (n * 100).toFixed(1) + "\u00a0%",
	number: (n) => String(Number(n.toPrecision(6))),
	/* A label of the time axis: in the unit of the last one, with the digits that the step needs. */
	tick(ns, step, last) {
		const unit = last >= 1e9 ? [1e9, "s"] : last >= 1e6 ? [1e6, "ms"] : last >= 1e3 ? [1e3, "µs"]
			: [1, "ns"];
		const places = Math.max(0, -Math.floor(Math.log10(step / unit[0]) + 1e-9));

		return (ns / unit[0]).toLocaleString("en-US",
			{ minimumFractionDigits: places, maximumFractionDigits: places }) + " " + unit[1];
	},
};

/* When the browser has drawn, and done what else waits. */
const later = () => new Promise((done) => setTimeout(done, 0));

/* ---- settings, which a file: page may not be allowed to keep ------------------------------------- */

const Settings = {
	get(key) {
		try {
			return localStorage.getItem("gputrace." + key);
		} catch {
			return null;
		}
	},
	set(key, value) {
		try {
			localStorage.setItem("gputrace." + key, value);
		} catch {
			/* then it is not kept */
		}
	},
};

/* The first index in a sorted array whose value is at least `value`. */
function lowerBound(array, value) {
	let low = 0, high = array.length;

	while (low < high) {
		const middle = (low + high) >> 1;

		if (array[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const clamp = (value, least, most) => Math.max(least, Math.min(most, value));
