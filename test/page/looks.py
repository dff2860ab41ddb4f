# SPDX-License-Identifier: BSD-3-Clause
"""How the page looks, as far as that can be counted: what browser.py asks of a page that it drives.

Each function takes the page and ok(HOLDS, CLAIM, WHAT WAS THERE).

Limits: as browser.py.
"""


def helped(page, ok):
    """The list of keys: nothing but text, and its begin."""
    page.find("#help-open").click()
    page.settle()
    text = page.find("#help").text
    ok("Close" in text and "null" not in text, "help says what it means", text[-80:])
    at = page.js("return [document.activeElement.id, document.getElementById('help').scrollTop]")
    ok(at == ["help-title", 0], "... from its begin", at)
    page.js("document.getElementById('help').close()")


def striped(page, ok):
    """Waits have stripes that darken their colour by a fifth: in the timeline, in the legend and in tables."""
    found = page.js("""
        const {Theme, Data, Draw} = gt, waits = new Map();
        Data.regions.forEach((region, i) => {
            if (Theme.kindPaint(region.kind) === Theme.kinds[region.kind])
                return;
            const light = Theme.regionColor(i).match(/\\d+/g).map(Number);
            waits.set(light.join(), 0).set([16, 20, 26].map((ink, k) => Math.trunc(
                (ink * 50 + light[k] * 205) / 255)).join(), 1);
        });
        const found = [0, 0];
        for (const p of Draw.pixels)
            found[waits.get([p & 255, p >> 8 & 255, p >> 16 & 255].join())] += 1;
        const legend = [...document.querySelectorAll("#legend i")].map((i) => i.style.background);
        return [...found.slice(0, 2), legend.filter((b) => b.includes("gradient")).length]""")
    plain, dark, legend = found
    ok(plain > 500 and plain / 8 < dark < plain / 3 and legend >= 1, "waits are striped, here and in the legend",
       found)


def shaded(page, ok):
    """Hundreds of links in a few columns are a shade through which rows can be read, in both directions."""
    found = page.js("""
        const {Data, Draw, Links, Model, View} = gt, canvas = document.createElement("canvas");
        const type = Data.meta.links.indexOf("message"), shades = [];
        const rows = Data.meta.rows.map((r, i) => i).filter((i) => Links.middle(i, 0) !== null);
        const [a, b] = [rows[0], rows[rows.length - 1]], [y0, y1] = [a, b].map((row) => Links.middle(row, 0));
        const ns = (View.end - View.begin) / Draw.width, seen = Links.seen;
        canvas.width = 200;
        canvas.height = Math.max(y0, y1) + 10;
        const ctx = canvas.getContext("2d", {willReadFrequently: true});
        for (const [count, swap] of [[700, 0], [700, 2], [5, 0]]) {
            const links = Array.from({length: count}, (_, i) => ({type, from: i % 2 < swap - 1 ? b : a,
                to: i % 2 < swap - 1 ? a : b, begin: View.begin + 100 * ns + (i % 10) * ns, bytes: 1, tag: 0,
                comm: 0, end: View.begin + 101 * ns + (i % 10) * ns}));
            ctx.globalAlpha = 1;
            ctx.fillStyle = "#fff";
            ctx.fillRect(0, 0, canvas.width, canvas.height);
            Links.lines(ctx, 0, links, type);
            shades.push(Math.min(...ctx.getImageData(0, (y0 + y1) / 2, 200, 1).data));
        }
        Links.seen = seen;
        return shades""")
    ok(all(170 < shade < 230 for shade in found[:2]) and found[2] < 170, "many messages are a shade, few are lines", found)


def prints(page, ok):
    """On paper: all rows, all sheets, in light colours; and the screen as before after it."""
    page.sheet("flow")    # which gputrace view asks for when it is looked at
    page.settle()
    page.js("""
        gt.Theme.dark || gt.Theme.toggle();
        gt.Model.foldAll(true);
        addEventListener("beforeprint", () => {
            const pages = [...document.querySelectorAll(".printed")], seen = new Set(), high = [];
            for (const copy of pages) {
                const canvas = copy.querySelector("#canvas"), tree = copy.querySelector("#tree");
                high.push(parseFloat(copy.style.height));
                for (const row of tree.children) {
                    const y = Number(/translateY\\((.*)px/.exec(row.style.transform)[1]);
                    if (y >= 0 && y + parseFloat(row.style.height) <= canvas.height + 1)
                        seen.add(row.title);
                }
            }
            const canvas = pages[0].querySelector("#canvas");
            window.printed = {width: gt.Draw.width + 220, rows: [...seen], high: Math.max(...high),
                paper: canvas.getContext("2d").getImageData(canvas.width - 1, 0, 1, 1).data[0],
                flow: document.querySelectorAll(".graph button").length,
                flame: document.querySelectorAll(".flame button").length,
                wanted: gt.Model.shown.map((line) => line.title || line.label)};
        }, { once: true })""")
    page.settle()
    before = page.js("return [gt.Draw.canvas.width, gt.Draw.height, document.getElementById('scroll').scrollTop]")
    page.cdp("Page.printToPDF", preferCSSPageSize=True)
    page.settle()
    there = page.get("printed")
    left = set(there["wanted"]) - set(there["rows"])
    ok(len(there["wanted"]) > 100 and not left, "all rows are printed", (len(there["wanted"]), list(left)[:3]))
    ok(there["width"] <= 945 and there["high"] <= 690, "each part of the timeline fits its paper", there)
    ok(there["flow"] > 2 and there["flame"] > 2, "with the graphs", (there["flow"], there["flame"]))
    ok(there["paper"] > 200, "it is printed in light colours", there["paper"])
    now = page.js("return [gt.Draw.canvas.width, gt.Draw.height, document.getElementById('scroll').scrollTop]")
    ok(now == before and page.get("gt.Theme.dark") and not page.all(".printed"),
       "the screen is as before after printing", (before, now))
    page.js("gt.Theme.toggle()")
