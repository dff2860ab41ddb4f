# SPDX-License-Identifier: BSD-3-Clause
"""What can be seen and reached in the page: rows whatever the room, folded groups, overlays, lines, places.

Limits: as page.py.
"""
import time

from page import Keys, near, ok, seconds, size


BOTTOM = """const scroll = document.getElementById('scroll'), line = gt.Model.shown.at(-1);
    scroll.scrollTop = 1e9;
    return line.y + line.height - scroll.scrollTop - scroll.clientHeight"""


def reaches(page, how):
    page.settle()
    hidden = page.js(BOTTOM)
    ok(hidden <= 1, f"the last row can be reached {how}", hidden)


def resizes(page):
    """However the room for the timeline changes, all rows can be scrolled to."""
    page.keys("e", "x")
    reaches(page, "after x")
    page.sheet("findings")
    for place in (0, -1):
        page.all(".findings .jump")[place].click()
        page.settle()
        seen = page.js("""const line = gt.View.focus, scroll = document.getElementById('scroll');
            return line.y >= scroll.scrollTop && line.y + Math.min(line.height, scroll.clientHeight)
                <= scroll.scrollTop + scroll.clientHeight + 1""")
        ok(seen, "the row of a finding is in sight then", place)
    page.keys("x", Keys.ESCAPE, "0")
    page.js("document.getElementById('split').focus()")
    page.keys(*[Keys.ARROW_UP] * 8)
    reaches(page, "after the splitter was moved")
    page.keys(*[Keys.ARROW_DOWN] * 8)
    page.js("document.activeElement.blur()")
    page.device(1280, 560)
    page.wait("gt.Draw.height === document.getElementById('scroll').clientHeight")
    reaches(page, "in a lower window")
    page.device(1280, 800)
    page.settle()
    page.js("document.getElementById('scroll').scrollTop = 0")


def tip(page, x, y):
    box = page.box()
    page.mouse("mouseMoved", box[0] + x, box[1] + y)
    page.mouse("mouseMoved", box[0] + x + 0.3, box[1] + y)
    return page.js("const t = document.getElementById('tip'); return t.hidden ? '' : t.innerText") \
        .replace("\u00a0", " ")


def strip(page, kind):
    """The longest call of a kind of regions that lies in a folded group: its place on the canvas, its names."""
    return page.js("""gt.View.all(); gt.Model.foldAll(false); let best = null;
        gt.Data.regions.forEach((region, r) => {
            const s = region.class === arguments[0] && gt.Find.longest(r, -1);
            if (s && (!best || s.end - s.begin > best.end - best.begin)) best = s;
        });
        let line = gt.Model.ofRow[best.row];
        while (line.y < 0) line = line.parent;
        const rows = gt.Model.rowsOf(line), scroll = document.getElementById('scroll');
        scroll.scrollTop = line.y - 60;
        return {...best, name: gt.Data.name(best.region), label: gt.Data.meta.rows[best.row].label,
            folded: line.row < 0, x: gt.Draw.x((best.begin + best.end) / 2), top: line.y - scroll.scrollTop,
            y: line.y - scroll.scrollTop + 2 + (rows.indexOf(best.row) + 0.5) * (line.height - 5) / rows.length}
        """, kind)


def strips(page):
    """A folded group shows its rows as strips, which can be pointed at and picked."""
    there = strip(page, "kernel")
    page.settle()
    for overlay in ("messages", "collectives"): # their lines have texts of their own
        page.js("gt.Page.overlay(arguments[0], false)", overlay)
    page.settle()
    text = tip(page, there["x"], there["y"])
    ok(there["folded"] and there["name"] in text and there["label"] in text, "the pointer names a call of a strip",
       (text, there))
    box = page.box()
    page.click(box[0] + there["x"], box[1] + there["y"])
    picked = page.get("gt.View.picked && [gt.View.picked.row, gt.View.picked.begin, gt.View.picked.end]")
    ok(picked == [there["row"], there["begin"], there["end"]], "a click on a strip picks its call", picked)
    page.keys(Keys.ESCAPE)


DARK = """const [x, y0, y1] = arguments, from = gt.Draw.canvas;
    const ctx = Object.assign(document.createElement('canvas'), { width: 1, height: from.height })
        .getContext('2d', { willReadFrequently: true });
    ctx.drawImage(from, -Math.round(x * gt.Draw.scale), 0);
    const data = ctx.getImageData(0, 0, 1, from.height).data;
    let dark = 0;
    for (let y = Math.floor(y0 * gt.Draw.scale); y < y1 * gt.Draw.scale; y++)
        dark += data[4 * y] + data[4 * y + 1] + data[4 * y + 2] < 150;
    return dark"""


def overlays(page):
    """Waits and the critical path on folded groups; a wait says what it is."""
    found = page.js("""gt.View.all(); gt.Model.foldAll(false);
        for (const node of [...gt.Model.shown].reverse()) gt.Model.foldable(node) && gt.Model.fold(node, false);
        let best = null;
        for (let r = 0; r <= gt.Data.regions.length; r++) {
            const s = gt.Find.longest(r, -1, 2);
            if (s && (!best || s.end - s.begin > best.end - best.begin)) best = s;
        }
        return best""")
    if found:
        where = """let line = gt.Model.ofRow[arguments[0]];
            while (line.y < 0) line = line.parent;
            document.getElementById('scroll').scrollTop = line.y - 60;
            const top = line.y - document.getElementById('scroll').scrollTop;
            return [gt.Draw.x((arguments[1] + arguments[2]) / 2), top, top + line.height, line.row < 0]"""
        place = page.js(where, found["row"], found["begin"], found["end"])
        page.settle()
        before = page.js(DARK, *place[:3])
        page.js("gt.Page.overlay('path', true)")
        page.settle()
        place = page.js(where, found["row"], found["begin"], found["end"])
        page.settle()
        ok(place[3] and page.js(DARK, *place[:3]) >= before + 2, "a folded group shows the critical path",
           (place, before, page.js(DARK, *place[:3])))
        page.js("gt.Page.overlay('path', false)")
    wait = page.js("""const all = gt.Data.meta.waits.map((name, i) => ({ ...gt.Find.longest(i, -1, 1), name }))
        .filter((w) => w.end).sort((a, b) => (b.end - b.begin) - (a.end - a.begin));
        return all[0] || null""")
    if wait:
        page.js("gt.Page.overlay('waits', true); gt.Model.reveal(gt.Model.ofRow[arguments[0]])", wait["row"])
        page.js("document.getElementById('scroll').scrollTop = gt.Model.ofRow[arguments[0]].y - 60", wait["row"])
        page.settle()
        x, y = page.js("""return [gt.Draw.x((arguments[1] + arguments[2]) / 2),
            gt.Model.ofRow[arguments[0]].y - document.getElementById('scroll').scrollTop + 2]""",
                       wait["row"], wait["begin"], wait["end"])
        text = tip(page, x, y)
        length = seconds((wait["end"] - wait["begin"]) / 1e9)
        ok(wait["name"] in text and length in text, "the pointer says what a wait is", (text, wait))
        page.js("gt.Page.overlay('waits', false)")
    page.js("gt.Page.overlay('messages', true); gt.Page.overlay('collectives', true)")
    page.keys("0")


def lines(page, report):
    """The pointer on a line of a message: who sends what to whom. Lines that are too many are counted."""
    if not (report.get("messages") or {}).get("matrix"):
        return
    page.js("gt.Model.foldAll(true); gt.View.all()")
    page.js("document.getElementById('scroll').scrollTop = 0")
    page.settle()
    at = page.js("""let best = null;
        for (const k of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
            for (const tile of (gt.Data.level(4, 0, k) || new Map()).keys())
                for (const link of gt.Data.tile(4, 0, k, tile).links)
                    if (gt.Data.meta.links[link.type] === 'message' && !best && link.from < link.to) best = link;
        return best""")
    page.js("gt.Model.foldAll(false); gt.View.set(arguments[0] - 2e5, arguments[1] + 2e5)", at["begin"], at["end"])
    page.settle()
    x, y = page.js("""const y = [arguments[0], arguments[1]].map((row) => {
            const line = gt.Model.seen(row);
            return line.y + (line.row === row ? 2 + gt.Model.lane / 2 : line.height / 2);
        }), x = [gt.Draw.x(arguments[2]), gt.Draw.x(arguments[3])];
        const part = Math.min(0.5, 200 / Math.abs(y[1] - y[0]));
        const scroll = document.getElementById('scroll');
        scroll.scrollTop = y[0] - 50;
        return [x[0] + part * (x[1] - x[0]), y[0] + part * (y[1] - y[0]) - scroll.scrollTop]""",
                   at["from"], at["to"], at["begin"], at["end"])
    page.settle()
    text = tip(page, x, y)
    labels = page.js("return arguments[0].map((row) => gt.Data.meta.rows[row].label)", [at["from"], at["to"]])
    ok(all(label in text for label in labels) and size(at["bytes"]) in text and f"tag {at['tag']}" in text,
       "the pointer on a message says whose it is", (text, at))
    page.js("gt.Links.left = 1234; gt.Links.badge()")
    ok("1,234" in page.find("#links-left").text, "lines that are too many are counted")
    page.js("gt.Draw.now()")
    ok(page.find("#links-left").text == "", "and only then", page.find("#links-left").text)
    guide = page.js("const g = document.getElementById('guide'); return g && !g.hidden && g.innerText")
    ok(guide and page.get("window.gt.Draw.canvas.getBoundingClientRect().left") + x, "the time is beside the pointer",
       guide)
    page.find("#canvas").send_keys("w")
    page.settle()
    ok(page.get("document.getElementById('tip').hidden"), "a key that zooms hides what was under the pointer")
    page.keys("0")


def backs(page):
    """u and Backspace lead to the windows before."""
    page.keys("0")
    windows = [page.window()]
    for a, b in ((0.2, 0.5), (0.3, 0.35)):
        time.sleep(0.6) # another movement
        page.js("gt.View.set(gt.Data.meta.end * arguments[0], gt.Data.meta.end * arguments[1])", a, b)
        page.settle()
        windows.append(page.window())
    page.keys("u")
    ok(page.window() == windows[1], "u leads back", page.window())
    page.keys(Keys.BACKSPACE)
    ok(page.window() == windows[0], "Backspace, too", page.window())


def rows_found(page):
    """A search for rows says how many there are, and Enter steps through them, in the upper third."""
    name = page.get("gt.Model.lines.find((l) => l.type === 'row').label")
    page.keys("/")
    page.keys(name)
    many = page.js("const seen = (l) => [l, ...l.children.flatMap(seen)];"
                   "return seen(gt.Model.root).filter((l) => l.label.toLowerCase().includes(arguments[0])).length",
                   name.lower())
    ok(f"{many} row" in page.find("#found").text, "a search counts rows", (many, page.find("#found").text))
    labels = set()
    for _ in range(min(many, 4)):
        page.keys(Keys.ENTER)
        there = page.js("""const l = gt.View.focus, s = document.getElementById('scroll');
            return l && [gt.Model.shown.indexOf(l), l.label, l.y - s.scrollTop, s.clientHeight, s.scrollTop,
                s.scrollHeight]""")
        low = there and there[2] > there[3] / 3 and there[4] + there[3] < there[5] - 1 # the end has no more
        ok(there and name.lower() in there[1].lower() and not low, "Enter shows a row in the upper third", there)
        labels.add(there and there[0])
    ok(len(labels) == min(many, 4), "Enter steps through rows", labels)
    page.js("document.activeElement.blur()")
    page.keys(Keys.ESCAPE, Keys.ESCAPE)


def places(page, report):
    """Findings: no window is marked that nobody knows; a device is its group; a call path leads to its region."""
    page.sheet("findings")
    for i, finding in enumerate(report["findings"]):
        if finding["time_s"] is None:
            continue
        page.keys(Keys.ESCAPE, "0")
        page.all(".findings .jump")[i].click()
        page.settle()
        marked, (a, b) = page.get("gt.View.selection"), page.window()
        until = finding.get("until_s")
        ok((marked is None) if until is None else marked and near(marked[1], until * 1e9, 1e-3),
           "a finding marks what is known to last", (marked, finding))
        ok(a <= finding["time_s"] * 1e9 <= b, "and jumps there", (a, b))
        device = next((n for n, d in enumerate(page.get("gt.Data.meta.devices"))
                       if d["name"] == finding["location"]), None)
        if device is not None:
            rows = page.js("return gt.Model.rowsOf(gt.View.focus)")
            wanted = page.js("return [...gt.Data.meta.rows.keys()].filter((r) =>"
                             " gt.Data.meta.rows[r].device === arguments[0])", device)
            ok(sorted(rows) == wanted, "a device's finding selects all of its streams", (rows, wanted))
            break
    name = page.get("gt.Data.regions[1].name")
    ok(page.js("return gt.Find.last(arguments[0])", f"main > a > {name} (x.c:17)") ==
       page.js("return gt.Find.region(arguments[0])", name), "the last call of a path is what is looked for")
    page.keys(Keys.ESCAPE, "0")


def says(page, report):
    """The same figures wherever they stand."""
    facts = page.find("#facts").get_attribute("textContent").replace("\u00a0", " ")
    ok(seconds(report["duration_s"]) in facts, "the head has the report's duration", facts)
    ticks = page.js("return [[1e9, 5e8, 3.5e9], [2e6, 1e5, 2.5e6], [0, 1e3, 9e3]]"
                    ".map((t) => gt.Units.tick(...t))")
    ok(ticks == ["1.0 s", "2.0 ms", "0 µs"], "the axis has the unit of its end", ticks)


def lanes(page):
    """Deep calls share the last lane until the row is opened wholly."""
    heights = page.js("""const line = gt.Model.lines.find((l) => l.row >= 0 && l.depth > 1), depth = line.depth;
        line.depth = 20;
        const heights = [false, true].map((full) => {
            gt.Model.reveal(line);
            gt.Model.fold(line, true);
            gt.Model.widen(line, full);
            return line.height / gt.Model.lane;
        });
        line.depth = depth;
        gt.Model.widen(line, false);
        return heights""")
    ok(heights[0] < 9 and heights[1] > 20, "deep calls share a lane until all are wanted", heights)


def see(page, report):
    resizes(page)
    strips(page)
    overlays(page)
    lines(page, report)
    lanes(page)
    backs(page)
    rows_found(page)
    places(page, report)
    says(page, report)
