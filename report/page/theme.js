/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Colours. What a region is decides its colour. They are near those of Okabe and Ito and of Paul Tol, moved
 * apart in lightness until people with any colour vision can tell each from each other, however regions of
 * the same kind are shifted (test/page/colours.py has the measure). Waits are hatched, too. Pixels of the
 * timeline are written as numbers (little-endian RGBA), so a palette is a table of them.
 *
 * Limits: little-endian machines, as all browsers run on.
 */

const pixel = (r, g, b) => (0xff000000 | b << 16 | g << 8 | r) >>> 0;

/* Name, light, dark. */
const KINDS = [
	["code", "#7cbbea", "#81c0f5"],
	["annotation", "#9880e0", "#8f8bec"],
	["MPI", "#bb4800", "#b44e04"],
	["thread wait", "#f5de4a", "#efd252"],
	["GPU wait", "#d69603", "#d79705"],
	["GPU call", "#0865a2", "#276dad"],
	["kernel", "#059b6b", "#2da466"],
	["copy", "#b372a6", "#d287b8"],
	["file I/O", "#80155a", "#b0477d"],
	["runtime", "#95aaa5", "#a49d97"],
	["measurement", "#585047", "#ced6d8"],
	["idle", "#d9dce3", "#2c323a"],
];
/* How much lighter or darker a region may be than its kind. */
const SHIFT = 0.06;
/* Waits: which way their stripes go (of a slash, or of a backslash), and how dark these are, of 255. */
const STRIPES = { "thread wait": 1, "GPU wait": -1 };
const STRIPE = { every: 6, color: pixel(0x10, 0x14, 0x1a), strength: 50 };
const KIND = Object.fromEntries(KINDS.map(([name], index) => [name, index]));
const KIND_OF_TIME = {
	useful: "code", MPI: "MPI", waiting: "thread wait", "waiting for a GPU": "GPU wait",
		"I/O": "file I/O",
	"GPU calls": "GPU call", runtime: "runtime", "on a GPU": "kernel", measurement: "measurement",
		idle: "idle",
};
const KIND_OF_CLASS = { annotation: "annotation", copy: "copy", set: "copy" };

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
	stripes: null,  /* of regions: 0, or the way of STRIPES */
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
	/* Lightness by the name's hash: darker, as it is, or lighter. */
	regions() {
		if (!Data.meta)
			return;
		const count = Data.regions.length;

		Theme.pixels = new Uint32Array(count + 1);
		Theme.texts = new Uint8Array(count + 1);
		Theme.stripes = new Int8Array(count + 1);
		for (let i = 0; i <= count; i++) {
			const region = Data.regions[i];
			const kind = region ? region.kind : KIND.runtime;
			const base = parseColor(Theme.kinds[kind]);
			const shift = region ? (region.hash % 3 - 1) * SHIFT : 0;
			const rgb = base.map((c) => Math.round(shift < 0 ? c * (1 + shift)
				: c + (255 - c) * shift));

			Theme.pixels[i] = pixel(...rgb);
			Theme.texts[i] = darkTextOn(rgb) ? 1 : 0;
			Theme.stripes[i] = STRIPES[KINDS[kind][0]] || 0;
		}
	},
	regionColor(region) {
		const p = Theme.pixels[Math.min(region, Data.regions.length)];

		return `rgb(${p & 255} ${p >> 8 & 255} ${p >> 16 & 255})`;
	},
	/* The same for CSS, with the stripes. */
	regionPaint: (region) => striped(Theme.regionColor(region),
		Theme.stripes[Math.min(region, Data.regions.length)]),
	kindPaint: (kind) => striped(Theme.kinds[kind], STRIPES[KINDS[kind][0]]),
	textOn: (region) => Theme.texts[Math.min(region, Data.regions.length)] ? "#10141a" : "#ffffff",
};

/* A background of CSS. */
function striped(color, way) {
	const dark = `rgb(16 20 26 / ${STRIPE.strength / 2.55}%)`, most = STRIPE.every * Math.SQRT1_2;

	return way ? `repeating-linear-gradient(${way * 135}deg, transparent 0 ${most - 1}px, ${dark} ${
		most - 1}px ${most}px), ${color}` : color;
}

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
