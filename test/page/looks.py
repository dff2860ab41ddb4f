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
