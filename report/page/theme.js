/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Colours. What a region is decides its hue; the hues are Okabe and Ito's and Paul Tol's, which people with
 * any colour vision can tell apart. Regions of the same kind differ a little in lightness. Pixels of the
 * timeline are written as numbers (little-endian RGBA), so a palette is a table of them.
 *
 * Limits: little-endian machines, as all browsers run on.
 */

/* Name, light, dark. */
const KINDS = [
	["code", "#5aa9dc", "#4a9ad0"],
	["annotation", "#8f7fd0", "#9585dc"],
	["MPI", "#d55e00", "#d9691a"],
	["thread wait", "#e8cf3a", "#d8c23c"],
	["GPU wait", "#e69f00", "#dd9a0c"],
	["GPU call", "#0072b2", "#2a80c4"],
	["kernel", "#009e73", "#0fa57c"],
	["copy", "#cc79a7", "#cf7dab"],
	["file I/O", "#882255", "#b04a80"],
	["runtime", "#8c95a1", "#7d8794"],
	["measurement", "#3b424d", "#c3cad4"],
	["idle", "#e2e5ea", "#272d36"],
];
const KIND = Object.fromEntries(KINDS.map(([name], index) => [name, index]));
const KIND_OF_TIME = {
	useful: "code", MPI: "MPI", waiting: "thread wait", "waiting for a GPU": "GPU wait",
		"I/O": "file I/O",
	"GPU calls": "GPU call", runtime: "runtime", "on a GPU": "kernel", measurement: "measurement",
		idle: "idle",
};
const KIND_OF_CLASS = { annotation: "annotation", copy: "copy", set: "copy" };

const pixel = (r, g, b) => (0xff000000 | b << 16 | g << 8 | r) >>> 0;

function parseColor(text) {
	const n = parseInt(text.trim().slice(1), 16);

	return [n >> 16, n >> 8 & 255, n & 255];
}

/* a: share of the upper colour, 0 to 255. */
function blend(under, upper, a) {
	const rest = 255 - a;
	const r = (upper & 255) * a + (under & 255) * rest;
	const g = (upper >> 8 & 255) * a + (under >> 8 & 255) * rest;
	const b = (upper >> 16 & 255) * a + (under >> 16 & 255) * rest;

	return (0xff000000 | (b / 255 & 255) << 16 | (g / 255 & 255) << 8 | r / 255 & 255) >>> 0;
}

const Theme = {
	dark: false,
	version: 0,     /* grows when colours change */
	kinds: [],      /* CSS colours by kind */
	kindPixels: [],
	waits: 0,
	pixels: null,   /* of regions: Uint32Array */
	texts: null,    /* of regions: 1 if black text is readable on it */
	css: {},        /* variables of page.css */

	start() {
		const system = matchMedia("(prefers-color-scheme: dark)");
		const choose = () => Theme.set(Settings.get("theme") || (system.matches ? "dark" : "light"));

		system.addEventListener("change", choose);
		addEventListener("beforeprint", () => Theme.set("light"));
		addEventListener("afterprint", choose);
		choose();
	},
	toggle() {
		Settings.set("theme", Theme.dark ? "light" : "dark");
		Theme.set(Theme.dark ? "light" : "dark");
	},
	set(name) {
		document.documentElement.dataset.theme = name;
		Theme.dark = name === "dark";
		const style = getComputedStyle(document.documentElement);

		for (const key of "paper raised sunken line soft ink dim faint accent".split(" "))
			Theme.css[key] = style.getPropertyValue("--" + key).trim();
		Theme.kinds = KINDS.map((k) => k[Theme.dark ? 2 : 1]);
		Theme.kindPixels = Theme.kinds.map((k) => pixel(...parseColor(k)));
		Theme.paper = pixel(...parseColor(Theme.css.paper));
		Theme.ink = pixel(...parseColor(Theme.css.ink));
		Theme.version++;
		Theme.regions();
		document.dispatchEvent(new Event("theme"));
	},
	/* Lightness by the name's hash: -1, 0 or 1 steps. */
	regions() {
		if (!Data.meta)
			return;
		const count = Data.regions.length;

		Theme.pixels = new Uint32Array(count + 1);
		Theme.texts = new Uint8Array(count + 1);
		for (let i = 0; i <= count; i++) {
			const region = Data.regions[i];
			const base = parseColor(Theme.kinds[region ? region.kind : KIND.runtime]);
			const shift = region ? (region.hash % 5 - 2) * 0.09 : 0;
			const rgb = base.map((c) => Math.round(shift < 0 ? c * (1 + shift)
				: c + (255 - c) * shift));

			Theme.pixels[i] = pixel(...rgb);
			Theme.texts[i] = darkTextOn(rgb) ? 1 : 0;
		}
	},
	regionColor(region) {
		const p = Theme.pixels[Math.min(region, Data.regions.length)];

		return `rgb(${p & 255} ${p >> 8 & 255} ${p >> 16 & 255})`;
	},
	textOn: (region) => Theme.texts[Math.min(region, Data.regions.length)] ? "#10141a" : "#ffffff",
};

/* Whether dark text has more contrast than white one, as WCAG has it. */
function darkTextOn(rgb) {
	const [r, g, b] = rgb.map((c) => c < 10.3 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4);
	const light = 0.05 + r * 0.2126 + g * 0.7152 + b * 0.0722;

	return light / 0.057 > 1.05 / light;
}

function kindOfRegion(region) {
	return KIND[KIND_OF_CLASS[region.class] || KIND_OF_TIME[region.time] || "code"];
}

function hashOf(text) {
	let h = 7;

	for (let i = 0; i < text.length; i++)
		h = h * 31 + text.charCodeAt(i) >>> 0;
	return h;
}
