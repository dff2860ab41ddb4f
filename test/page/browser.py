# SPDX-License-Identifier: BSD-3-Clause
"""Drives the page of `gputrace html` or `gputrace view` in headless Chromium, and says what is not right.

    browser.py NAME COURSE ... [-- NAME COURSE ...]    courses, one after the other in one browser:
        use PAGE REPORT.json FLOW.json    every way to move, find and select; the figures against the report's
        hostile PAGE                      names are text; a narrow window
        deep PAGE CALL                    far into a trace; CALL of row 0: [begin, end, depth]
        copies PAGE COPIES.json           copies of windows (cluster.py)
        samples PAGE REPORT.json          tables of samples and flame graphs (stacks.py, split)
        lane PAGE                         the lane of samples (stacks.py, dense)
        turns PAGE                        states of threads of one row (stacks.py, turns)
        differs PAGE NOW.json BEFORE.json flame graphs of differences; two reports
        frames PAGE                       how long the first picture and a frame take (said, not judged)
    browser.py shot PAGE PNG WIDTH HEIGHT light|dark [SCRIPT]

PAGE is a file or an address. A line for each claim: "ok NAME: CLAIM" or "not ok NAME: CLAIM: what was there".

Limits: needs chromium, chromium-driver and python3-selenium of Debian.
"""
import json
import re
import sys
import traceback

sys.dont_write_bytecode = True # beside the source

import looks # noqa: E402
from listed import listed, partly # noqa: E402
import sight # noqa: E402
import windows # noqa: E402
from page import ActionChains, begin, count, Keys, near, ok, Page, same_rows, say, seconds, share, size # noqa: E402


# ---- moving ----------------------------------------------------------------------------------------------

def moves(page, end):
    box = page.box()
    x, y = box[0] + box[2] / 2, box[1] + box[3] - 6
    ok(near(page.window()[1], end), "the whole run is shown first", page.window())
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-240, modifiers=2)
    page.settle()
    a, b = page.window()
    ok(b - a < end * 0.6 and near((a + b) / 2, end / 2, 0.02), "Ctrl and wheel zoom at the pointer", (a, b))
    page.drag(x, y, x - box[2] / 10, y)
    c, d = page.window()
    ok(near(c - a, (b - a) / 10, 0.03) and near(d - c, b - a, 0.001), "dragging moves by as many pixels",
       (a, b, c, d))
    page.mouse("mouseWheel", x, y, deltaX=120, deltaY=0)
    page.settle()
    ok(page.window()[0] > c, "a sideways wheel moves", page.window())
    page.find("#canvas").send_keys("0")
    page.settle()
    ok(near(page.window()[1] - page.window()[0], end), "0 shows the whole run", page.window())
    for key, name, holds in (
            ("w", "w zooms in", lambda o, n: n[1] - n[0] < o[1] - o[0]),
            ("+", "+ zooms in", lambda o, n: n[1] - n[0] < o[1] - o[0]),
            ("d", "d moves right", lambda o, n: n[0] > o[0]), ("a", "a moves left", lambda o, n: n[0] < o[0]),
            (Keys.ARROW_RIGHT, "the right arrow moves right", lambda o, n: n[0] > o[0]),
            (Keys.ARROW_LEFT, "the left arrow moves left", lambda o, n: n[0] < o[0]),
            (Keys.END, "End moves to the end", lambda o, n: near(n[1], end, 1e-6)),
            (Keys.HOME, "Home moves to the begin", lambda o, n: n[0] == 0),
            ("s", "s zooms out", lambda o, n: n[1] - n[0] > o[1] - o[0]),
            ("-", "- zooms out", lambda o, n: n[1] - n[0] > o[1] - o[0])):
        old = page.window()
        page.keys(key)
        ok(holds(old, page.window()), name, (old, page.window()))
    page.keys("0")
    fingers = [{"x": x - 100, "y": y, "id": 1}, {"x": x + 100, "y": y, "id": 2}]
    page.cdp("Input.dispatchTouchEvent", type="touchStart", touchPoints=fingers)
    apart = [{"x": x - 200, "y": y, "id": 1}, {"x": x + 200, "y": y, "id": 2}]
    page.cdp("Input.dispatchTouchEvent", type="touchMove", touchPoints=apart)
    page.cdp("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    page.settle()
    a, b = page.window()
    ok(near(b - a, end / 2, 0.03), "two fingers zoom", (a, b))
    page.keys("0")
    page.drag(x - 200, box[1] - 8, x + 100, box[1] - 8)
    marked = page.get("gt.View.selection")
    ok(marked and near(marked[1] - marked[0], end * 300 / box[2], 0.03),
       "dragging on the axis marks a window", marked)
    page.keys("f")
    ok(marked and near(page.window()[0], marked[0], 0.001), "f zooms to it", page.window())
    ok(page.get("location.hash") != "", "the address has the window")
    page.keys(Keys.ESCAPE)
    page.keys("0")
    ok(page.get("gt.View.selection") is None and page.get("location.hash") == "", "Esc and 0 end that")
    page.drag(box[0] + box[2] * 0.25, 90, box[0] + box[2] * 0.5, 90)
    a, b = page.window()
    ok(near(b - a, end / 4, 0.03), "dragging on the overview shows that part", (a, b))
    page.keys("0")


# ---- searching, selecting, folding -----------------------------------------------------------------------

def finds(page, report):
    region = max((r for r in report["regions"] if len(r["name"]) > 3), key=lambda r: r["max_s"])["name"]
    page.keys("/")
    ok(page.get("document.activeElement.id") == "search", "/ goes to the search")
    page.keys(region[:12], Keys.ENTER)
    picked = page.get("gt.View.picked && [gt.Data.name(gt.View.picked.region), gt.View.picked.begin]")
    ok(picked and region[:12].lower() in picked[0].lower(), "a search finds the region", picked)
    ok("region" in page.find("#found").text, "and says how many", page.find("#found").text)
    page.js("document.activeElement.blur()")
    many = page.js("return gt.Data.report.regions.filter(r => r.name.toLowerCase().includes(gt.View.query))"
                   ".reduce((n, r) => n + r.count, 0)")
    page.keys("n")
    later = page.get("gt.View.picked.begin")
    ok(later > picked[1] or many < 2 or later == picked[1] and page.get("gt.View.picked.row") > 0,
       "n goes to the next one", (picked, later))
    page.find("#found-back").click()
    page.settle()
    ok(page.get("gt.View.picked.begin") <= later, "and N back", later)
    page.keys(Keys.ESCAPE, Keys.ESCAPE)
    ok(page.get("gt.View.query") == "", "Esc ends the search", page.get("gt.View.query"))
    page.keys("0")


def covers(page):
    """Of a folded row no two names are drawn upon each other; rows of three depths have all of theirs."""
    clashes = page.js("""gt.View.all(); const depths = gt.Model.lines.map((line) => line.depth);
        for (const line of gt.Model.lines)
            if (line.type === 'row') line.open = false, line.depth = Math.min(line.depth, 3);
        gt.Model.lay(); gt.Page.layout(); gt.Draw.now();
        gt.Model.lines.forEach((line, i) => (line.depth = depths[i]));
        const l = gt.Draw.labels, found = [];
        for (let i = 0; i < l.length; i += 4)
            for (let j = 0; j < i; j += 4)
                if (l[i + 2] === l[j + 2] && l[j] < l[i + 1]
                    && l[i] < Math.min(l[j + 1], l[j] + 5 * gt.Data.name(l[j + 3]).length))
                    found.push([gt.Data.name(l[i + 3]), gt.Data.name(l[j + 3])]);
        return found""")
    ok(not clashes, "names of a folded row do not cover each other", clashes[:3])


def selects(page):
    """The longest call of all: clicked, its details are its own."""
    span = page.js("""gt.View.all(); let best = null;
        for (let r = 0; r < gt.Data.regions.length; r++) {
            const s = gt.Find.longest(r, -1);
            if (s && (!best || s.end - s.begin > best.end - best.begin)) best = s;
        }
        const line = gt.Model.ofRow[best.row];
        if (line.y < 0) gt.Model.reveal(line);
        line.open || gt.Model.fold(line, true);
        gt.Page.into(line);
        best.name = gt.Data.name(best.region);
        best.x = gt.Draw.x((best.begin + best.end) / 2);
        best.y = line.y - gt.Draw.top() + 2 + (best.depth - 0.5) * gt.Model.lane;
        return best""")
    box = page.box()
    page.mouse("mouseMoved", box[0] + span["x"], box[1] + span["y"])
    ok(span["name"][:20] in page.find("#tip").text, "the pointer shows the name", page.find("#tip").text)
    page.click(box[0] + span["x"], box[1] + span["y"])
    text = page.find("#details").text.replace("\u00a0", " ")
    ok(span["name"] in text and seconds((span["end"] - span["begin"]) / 1e9) in text,
       "a click shows the details", text)
    page.find("#details p button").click()
    page.settle()
    a, b = page.window()
    ok(a <= span["begin"] and b >= span["end"], "Zoom to it", (a, b))
    page.keys("0", Keys.ESCAPE)
    ok(page.get("gt.View.picked") is None, "Esc ends the selection")


def folds(page):
    page.keys("e")
    before = page.get("gt.Model.shown.length")
    twist = next((t for t in page.all("#tree .row.group .twist") if t.text == "▾"), None)
    if twist:
        twist.click()
        page.settle()
        ok(page.get("gt.Model.shown.length") < before, "a click folds a group", before)
    page.keys("e")
    ok(page.get("gt.Model.shown.length") >= before, "e unfolds all")
    page.js("document.querySelector('#tree .row[tabindex=\"0\"]').focus()")
    page.keys(Keys.HOME, Keys.ARROW_DOWN)
    ok(page.get("gt.View.focus === gt.Model.shown[1]"), "arrows walk the tree")
    page.keys(Keys.HOME)
    if page.get("gt.Model.foldable(gt.Model.shown[0])"):
        page.keys(Keys.ARROW_LEFT)
        ok(page.get("gt.Model.shown[0].open") is False, "and fold")
        page.keys(Keys.ARROW_RIGHT)
    sort = ("const s = document.getElementById('sort'); s.value = arguments[0];"
            "s.dispatchEvent(new Event('change'))")
    page.js(sort, "name")
    names = page.get("[...gt.Model.root.children].sort((a, b) => a.y - b.y).map((line) => line.label)")
    wanted = page.js("return arguments[0].sort((a, b) => a.localeCompare(b, 'en', {numeric: true}))", names)
    ok(names == wanted, "rows sort", names)
    page.js(sort, "tree")


# ---- figures ---------------------------------------------------------------------------------------------

def numbers(page, report):
    page.keys("0", Keys.ESCAPE)
    page.sheet("profile")
    same_rows(page, "regions", report["regions"], lambda r: [
        r["name"], count(r["count"]), seconds(r["exclusive_s"]), share(r["share"]), seconds(r["inclusive_s"]),
        seconds(r["mean_s"]), seconds(r["max_s"]), share(r["imbalance"]), r["class"] or "–",
        r["group"] or "–"],
        "exclusive_s")
    sums = page.js("""const all = new Map();
        gt.Data.meta.rows.forEach((row, i) =>
            row.kind !== 'service' && gt.addSums(i, 0, gt.Data.meta.end, all));
        return [...all.values()].map((s) => [s.name, s.count, s.ns, s.inclusive])""")
    mine, theirs = {}, {}
    for name, *values in sums:
        mine[name] = [a + b for a, b in zip(mine.get(name, (0, 0, 0)), values)]
    for r in report["regions"]:
        if r["name"].isascii():
            theirs[r["name"]] = [a + b for a, b in zip(theirs.get(r["name"], (0, 0, 0)), (
                r["count"], round(r["exclusive_s"] * 1e9), round(r["inclusive_s"] * 1e9)))]
    wrong = [(n, mine.get(n), theirs[n]) for n in theirs if mine.get(n) != theirs[n]]
    ok(not wrong, "the tiles' sums are the report's, to the nanosecond", wrong[:2])
    page.js("""const cut = gt.Data.span(2), end = gt.Data.meta.end;
        for (const [a, b] of [[0, cut], [cut, end]])
            gt.Data.meta.rows.forEach((row, i) => gt.addSums(i, a, b, new Map()));""")
    page.settle()
    halves = page.js("""const all = new Map(), cut = gt.Data.span(2), end = gt.Data.meta.end;
        gt.Data.meta.rows.forEach((row, i) => { gt.addSums(i, 0, cut, all); gt.addSums(i, cut, end, all); });
        const whole = new Map();
        gt.Data.meta.rows.forEach((row, i) => gt.addSums(i, 0, end, whole));
        return [...whole].filter(([r, s]) => Math.abs(s.ns - all.get(r).ns) > 2 ||
            Math.abs(s.inclusive - all.get(r).inclusive) > 2).length""")
    ok(halves == 0, "two windows add up to the whole", halves)
    page.js("gt.View.set(0, gt.Data.span(2))")
    page.settle()
    part = page.js("""const all = new Map();
        gt.Data.meta.rows.forEach((row, i) =>
            row.kind !== 'service' && gt.addSums(i, 0, gt.Data.span(2), all));
        return [...all.values()].map((s) => [s.name, s.count, s.ns, s.inclusive])""")
    page.wait("document.querySelector('[data-table=regions] tbody tr')") # a server is asked for it
    wanted = sorted([name, seconds(ns / 1e9), seconds(inclusive / 1e9)]
                    for name, calls, ns, inclusive in part if inclusive or calls)
    there = sorted([row[0], row[2], row[4]] for row in page.table("regions"))
    wrong = [row for row in there + wanted if row not in there or row not in wanted]
    ok(there and not wrong, "of a window the table has its tiles' sums", wrong)
    page.keys("0")
    if page.all("#tab-messages") and report["messages"]["matrix"]:
        page.sheet("messages")
        same_rows(page, "matrix", report["messages"]["matrix"], lambda m: [
            m["from"], m["to"], count(m["count"]), size(m["bytes"]), size(m["bytes"] / m["count"])], "bytes")
        links = page.js("const all = gt.Sheets.messagesOf(0, gt.Data.meta.end);"
                        "return [all.reduce((n, m) => n + m.count, 0), all.reduce((n, m) => n + m.bytes, 0)]")
        wanted = [sum(m[k] for m in report["messages"]["matrix"]) for k in ("count", "bytes")]
        ok(links == wanted, "the lines' messages are the report's", (links, wanted))
    if page.all("#tab-waits"):
        page.sheet("waits")
        same_rows(page, "waits", report["waits"], lambda w: [
            w["class"], seconds(w["seconds"]), count(w["count"]), seconds(w["longest_s"]), w["location"],
            w["region"] or "–", w["cause_location"] or "–", w["path"] or "–"], "seconds")
    if page.all("#tab-gpu") and report["devices"]:
        page.sheet("gpu")
        there = [row[1:6] for row in page.table("devices")]
        wanted = [[seconds(d["kernel_s"]), share(d["kernel_s"] / report["duration_s"]), seconds(d["copy_s"]),
                   seconds(d["copy_alone_s"]), seconds(d["idle_s"])] for d in report["devices"]]
        ok(there == wanted, "devices: the figures are those of the report", (there, wanted))
        same_rows(page, "copies", report["copies"], lambda c: [
            c["name"], count(c["count"]), seconds(c["seconds"]), size(c["bytes"]),
            "–" if c["bandwidth"] is None else size(c["bandwidth"]) + "/s"], "seconds")
        if report["launches"]:
            same_rows(page, "launches", report["launches"], lambda n: [
                n["name"], count(n["count"]), seconds(n["seconds"]), share(n["share"]), n["path"]], "seconds")
        before = len(page.js("return performance.getEntriesByType('resource')"))
        page.js("gt.View.set(gt.Data.meta.end * 0.31, gt.Data.meta.end * 0.47)")
        page.settle()
        page.wait("document.querySelector('[data-table=copies] tbody tr')") # a server is asked for it
        asked = len(page.js("return performance.getEntriesByType('resource')")) - before
        ok(asked <= 10, "a window of the GPU sheet takes few requests", asked)
        page.keys("0")
        mine = page.js("const d = gt.Gpu.devices(0, gt.Data.meta.end, gt.Data.meta.end / 1e9);"
                       "return d.map(x => [x.name, x.kernel_s, x.copy_alone_s])")
        wrong = [(m, d) for m, d in zip(mine, report["devices"])
                 if not near(m[1] * 1e6, d["kernel_s"] * 1e6, 0.05)]
        ok(not wrong, "a window that is the run has the GPUs' times", wrong)
        mine = dict(page.js("return gt.Gpu.copies(0, gt.Data.meta.end).map((c) => [c.name, c.bytes])"))
        ok(all(mine.get(c["name"]) == c["bytes"] for c in report["copies"]), "and their bytes", mine)


def works(page, report):
    """The share of the run that is beside each row."""
    there = dict(page.js("return gt.Model.lines.filter((line) => line.row >= 0).map((l) => [l.row, l.busy])"))
    wrong, end = [], page.get("gt.Data.meta.end / 1e9")
    for row, of in enumerate(report["locations"]):
        if of["kind"] in ("main", "thread") and of["count"]:
            waits = sum(of[k] for k in ("mpi_s", "waiting_s", "device_wait_s", "idle_s", "measurement_s"))
            work = (of["duration_s"] - waits) / end
            wrong += [(of["name"], work, there[row])] if abs(work - there[row]) > 1e-6 else []
    ok(there and not wrong, "rows work for the part of the run that the report says", wrong[:2])


def sheets(page, report):
    works(page, report)
    page.sheet("findings")
    there = [b.text for b in page.all(".findings .jump")]
    ok(len(there) == len(report["findings"]), "all findings are there", there)
    placed = next((i for i, f in enumerate(report["findings"]) if f["time_s"] is not None), None)
    if placed is not None:
        page.all(".findings .jump")[placed].click()
        page.settle()
        a, b = page.window()
        ok(a <= report["findings"][placed]["time_s"] * 1e9 <= b, "a finding jumps to its place", (a, b))
    page.keys(Keys.ESCAPE, "0")
    page.sheet("flame")
    boxes = page.all(".flame button")
    ok(len(boxes) > 1, "the flame graph has boxes", len(boxes))
    total = page.get("[...gt.Flame.tree([...gt.Flame.trees.keys()]).children.values()]"
                     ".reduce((n, child) => n + child.now.ns, 0)")
    wanted = sum(c["inclusive_s"] for c in report["call_tree"] if c["parent"] is None) * 1e9
    ok(near(total, wanted, 0.001), "its times are those of the call tree", (total, wanted))
    boxes[1].click()
    page.settle()
    ok(page.all(".flame button")[1].size["width"] > 0.9 * page.find(".flame").size["width"],
       "a click widens a box")
    page.sheet("health")
    ok("complete" in page.find("#sheet-health").text, "trace health is told", page.find("#sheet-health").text)
    for button in page.all("#overlays button"):
        was = button.get_attribute("aria-pressed")
        key = button.get_attribute("data-overlay")
        button.click()
        page.settle()
        ok(page.find(f"[data-overlay={key}]").get_attribute("aria-pressed") != was, f"overlay {key} switches")
    page.find("#legend button").click()
    ok(page.find("#legend button").get_attribute("aria-pressed") == "true", "the legend highlights a kind")
    page.find("#legend button").click()
    page.keys("t")
    ok(page.get("document.documentElement.dataset.theme") == "dark", "t makes it dark")
    page.keys("t", "?")
    ok(page.get("document.getElementById('help').open"), "? shows the keys")
    page.keys(Keys.ESCAPE)
    unnamed = page.js("""
        const used = document.querySelectorAll('button, input, select, [role=tree], canvas[tabindex]');
        return [...used].filter((e) => !(e.innerText || '').trim() && !e.getAttribute('aria-label')
            && !e.labels?.length && e.offsetParent).map((e) => e.outerHTML)""")
    ok(not unnamed, "everything that can be used has a name", unnamed[:3])
    poor = page.js("""
        const light = (rgb) => rgb.map((c) => c <= 10 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4)
            .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0.05);
        const color = (text) => text.match(/\\d+/g).slice(0, 3).map(Number), found = [];
        const check = (what, a, b) => {
            const [x, y] = [light(color(a)), light(color(b))];
            if (Math.max(x, y) / Math.min(x, y) < 4.4)
                found.push([what, a, b]);
        };
        for (const dark of [0, 1]) {
            gt.Theme.toggle();
            const of = (e) => getComputedStyle(document.querySelector(e));
            check("share", of("#tree .meta").color, of("body").backgroundColor);
            for (let i = 0; i < gt.Data.regions.length; i++) {
                const hex = gt.Theme.textOn(i).slice(1).match(/../g).map((n) => parseInt(n, 16)).join(" ");
                check(gt.Data.name(i), hex, gt.Theme.regionColor(i));
            }
        }
        return found""")
    ok(not poor, "text has contrast, light and dark", poor[:3])


def contrasts(page):
    """Forced colours: the legend keeps its own, and what is pressed or chosen does not look as the others."""
    page.cdp("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
    page.settle()
    there = page.js("""
        const back = (e) => getComputedStyle(document.querySelector(e)).backgroundColor;
        return [back("#legend i") === document.querySelector("#legend i").style.backgroundColor,
            back("#overlays [aria-pressed=true]"), back("#overlays [aria-pressed=false]"),
            back("#tabs [aria-selected=true]"), back("#tabs [aria-selected=false]"),
            matchMedia("(forced-colors: active)").matches]""")
    legend, pressed, other, chosen, tab, forced = there
    ok(forced and legend and pressed != other and chosen != tab,
       "forced colours leave the legend's, and show what is pressed and chosen", there)
    page.cdp("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "none"}])


def flows(page, flow):
    page.sheet("flow")
    for graph in flow["graphs"]:
        if len(graph["streams"]) < 2:
            continue
        there = page.table("flow-" + graph["name"].replace(" ", "-"))
        wanted = {(s["name"], share(s["similarity"]), count(s["states"])) for s in graph["streams"]}
        least = min(s["similarity"] for s in graph["streams"])
        wrong = [row for row in there if tuple(row[:3]) not in wanted]
        ok(there and not wrong and there[0][1] == share(least),
           f"how alike the {graph['name']} are, as gputrace flow says", (there[:1], wrong[:1]))
    odd = min(flow["graphs"][0]["streams"], key=lambda s: s["similarity"])["name"]
    alone = page.get("gt.Flow.data.graphs[0].draws[0].boxes.findIndex((b) => b[4] === 1)")
    box = ".graph button[data-kind='%s'][data-box='%d']"
    find = box % (flow["graphs"][0]["name"], alone)
    page.find(find).click()
    page.settle()
    text = page.find("#details").text
    ok([b.get_attribute("data-box") for b in page.all(".graph [aria-pressed=true]")] == [str(alone)],
       "a click presses a box")
    rows = page.get("[...gt.View.rows].map((row) => gt.Data.meta.rows[row].label)")
    ok(odd in text and rows == [odd], "the box that only one does is picked, in the timeline too", (text, rows))
    page.keys(Keys.ARROW_LEFT)
    ok(page.get("document.activeElement.dataset.box") != str(alone), "arrows walk the boxes")
    page.keys(Keys.ENTER)
    ok(len(page.get("[...gt.View.rows]")) > 1, "Enter picks")
    stacked = page.js("return gt.Flow.data.graphs.map((g) => g.draws[0].boxes.findIndex((b) => b[9] > 0))")
    kind = next(i for i, box in enumerate(stacked) if box >= 0)
    boxes = page.get(f"gt.Flow.data.graphs[{kind}].draws[gt.Flow.data.graphs[{kind}].draws[0]"
                     f".boxes[{stacked[kind]}][9]].boxes.length")
    page.js("document.querySelector(arguments[0]).focus()", box % (flow["graphs"][kind]["name"], stacked[kind]))
    page.keys(Keys.ENTER, Keys.ENTER)
    ok(len(page.all(".graph button")) == boxes, "a stack opens", len(page.all(".graph button")))
    page.keys(Keys.BACKSPACE)
    ok(page.get("gt.Flow.path.length") == 0 and len(page.all(".graph button")) > boxes, "and Backspace leaves it")
    page.find(find).click()
    page.js("document.activeElement.blur()")
    page.keys(Keys.ESCAPE)
    ok(page.get("gt.View.rows === null && gt.Flow.picked === null"), "Esc ends the selection of rows")


# ---- courses ---------------------------------------------------------------------------------------------

def clean_end(page):
    errors = page.errors()
    ok(not errors, "no error in the console", errors[:3])
    elsewhere, every = page.elsewhere()
    ok(every and not elsewhere, "no request to anywhere else", elsewhere or every)
    ok(page.get("gt.Page.failed === undefined"), "nothing failed", page.get("gt.Page.failed"))


def use(address, report, flow):
    with open(report, encoding="utf-8") as f:
        report = json.load(f)
    with open(flow, encoding="utf-8") as f:
        flow = json.load(f)
    page = Page(address)
    looks.striped(page, ok)
    looks.shaded(page, ok)
    looks.helped(page, ok)
    moves(page, page.get("gt.Data.meta.end"))
    finds(page, report)
    selects(page)
    folds(page)
    covers(page)
    sight.see(page, report)
    numbers(page, report)
    windows.rates(page)
    windows.nearly_all(page)
    sheets(page, report)
    listed(page, report)
    looks.prints(page, ok)
    contrasts(page)
    flows(page, flow)
    clean_end(page)


def paths(report):
    """Inclusive ns and calls by call path."""
    above, sums = {}, {}
    for call in report["call_tree"]:
        path = above[call["id"]] = above.get(call["parent"], ()) + (call["name"],)
        old = sums.get(path, (0, 0))
        sums[path] = (old[0] + round(call["inclusive_s"] * 1e9), old[1] + call["count"])
    return sums


def of_copies(address, known):
    page = Page(address)
    windows.copies(page, known)
    windows.nearly_all(page)
    clean_end(page)


def of_samples(address, known):
    """Processor time by function and by line, as the report has them."""
    page = Page(address)
    with open(known, encoding="utf-8") as f:
        report = json.load(f)
    page.sheet("profile")
    for key, first, last in (("samples", "function", "place"), ("lines", "place", "function")):
        wanted = []
        for row in report[key]:
            row["place"] = f"{row['file']}:{row['line']}" if row["line"] else row["file"] or row["module"] or "\u2013"
            wanted.append([row[first], seconds(row["cpu_s"]), row["samples"], row[last]])
        there = [[row[0], row[1], int(row[3]), row[4]] for row in page.table(key)]
        ok(wanted and there == wanted, f"the table of {key} is the report's", (there, wanted))
    page.sheet("flame")
    there = page.js("return [...document.querySelectorAll('.flame button')].map((b) => [b.textContent, b.style.width])")
    main = next(row for row in report["call_tree"] if row["kind"] == "measured")
    wanted = [["main", 1.0]] + [["~" + row["name"], row["inclusive_s"] / main["inclusive_s"]]
                                for row in report["call_tree"] if row["kind"] == "sampled"]
    there = [[name, float(width.rstrip("%")) / 100] for name, width in there][1:]
    ok(len(there) == len(wanted) and all(a[0] == b[0] and near(a[1], b[1], 0.001) for a, b in zip(there, wanted)),
       "the flame graph has sampled functions below measured ones", (there, wanted))
    says = page.js("""return Object.fromEntries([...document.querySelectorAll('.flame button')].map((b) =>
        [b.textContent, b.getAttribute('aria-label').replace(/.*, (?=measured|sampled)/, '')]))""")
    # 1.96 * 100 ms * sqrt(0.55 * 0.45 / n), and n = 100^2 / (40 + 30/4 + 10 + 125 + 10), as the report has it
    ok(says["main"] == "measured" and says["~alpha"] == "sampled: 70 samples, ± 13.5\u00a0ms"
       and says["~[gputrace]"] == "sampled: 10 samples, too few to say how exactly",
       "a box says whether it is measured or sampled, by how many samples and how exactly", says)
    clean_end(page)


# How much of the column at a time each state has in the strip of row 0, which begins at y.
STRIP = """
    const {Draw, Model, States} = gt, line = Model.shown.find((l) => l.row === 0), colors = States.colors();
    const y = line.y + Model.statesTop(line), column = (t) => {
        const x = Math.round(Draw.x(t) * Draw.scale), found = [0, 0, 0];
        for (let i = Math.round(y * Draw.scale); i < Math.round((y + Model.stated(line) - 1) * Draw.scale); i++)
            found[colors.indexOf(Draw.pixels[i * Draw.canvas.width + x])]++;
        return found;
    };
"""


def lane(address):
    """stacks.py's dense: a lane of half the height below the thread's, which says what it stands for."""
    page = Page(address)
    there = page.js("""
        const {Data, Draw, Model, Samples, Theme} = gt, line = Model.shown.find((l) => l.row === 0), found = [];
        const y = Math.round((line.y + Model.samplesTop(line) + Model.sampled(line) / 2) * Draw.scale);
        const width = Draw.canvas.width, pixels = Draw.pixels.subarray(y * width, (y + 1) * width);
        let last = 0;
        pixels.forEach((pixel, x) => pixel === Theme.paper || (last = x));
        Samples.each(0, 0, Data.meta.end, (s) => found.push([s.time + s.length / 2, Data.name(s.region), s.part,
            s.even, s.count, s.cover, s.length]));
        return {last: last / width, found, high: Model.sampled(line) / Model.lane, x: [0.25, 0.75].map((t) =>
            Draw.x(t * 1e9)), y: y / Draw.scale}""")
    found, inner = there["found"], [b for b in there["found"] if abs(b[0] % 5e8 - 2.5e8) < 2.3e8]
    ok(0.12 < there["last"] < 0.128 and 0.4 < there["high"] < 0.7, "samples are seen below the thread, where they are",
       (there["last"], there["high"]))
    ok(len(inner) > 90 and all(name == ("alpha" if at < 5e8 else "beta") for at, name, *_ in inner),
       "a pixel has the function with most of its time", inner[:3])
    odd = [b for b in inner if abs(b[2] / 255 - 0.75) > 0.03 or b[3] != b[4] or abs(b[4] - b[6] / 1e5) > 1
           or abs(b[5] / 127 - 1) > 0.04]
    ok(not odd, "... for its share, of so many, so long", odd)
    ok(sum(b[4] for b in found) == 10000, "... and each sample is in one", sum(b[4] for b in found))
    says = [sight.tip(page, x, there["y"]) for x in there["x"]]
    ok(all(re.match(name + r"\s+4[12] samples in 4\.19 ms: 7[3-7]\.\d % \(± 1[23]\.\d %\) of them, processor time "
                    r"(49|50)\.\d % of it\s+at [^$]*one of them called by\s+main$", text)
           for name, text in zip(("alpha", "beta"), says)), "it says so, and who calls it", says)
    page.js("gt.View.set(249.95e6, 250.55e6)")
    page.settle()
    there = page.js("""const {Data, Draw, Samples} = gt, found = [];
        Samples.each(0, 249.95e6, 250.55e6, (s) => found.push([s.time, Data.name(s.region), s.length, s.ns]));
        return [found, Draw.x(250e6)]""")
    names = ["beta" if i % 4 == 3 else "alpha" for i in range(2499, 2505)]
    ok(sorted(there[0]) == [[(i + 1) * 1e5, name, 0, 5e4] for i, name in zip(range(2499, 2505), names)],
       "near by: single samples, which have no length", there[0])
    says = sight.tip(page, there[1], there_y(page))
    ok(re.match(r"beta\s+a sample of 50\.0 µs of processor time\s+at [^$]*called by\s+main$", says),
       "... of which it says that", says)
    states = page.js("""return [...document.querySelectorAll('.row .states')].map((bar) => [bar.parentNode.title,
        ...[...bar.children].map((part) => part.style.width)])""")
    ok([row[1:] for row in states] == [["6.25%", "3.75%", "90%"]]
       and "ran 6.3 %, waited for a processor 3.8 %, was blocked 90.0 % of its life" in states[0][0].replace("\u00a0", " "),
       "a bar has the states of its life", states)
    page.keys("0")
    there = page.js(STRIP + """
        return [States.shares(0, 0, 5e8), States.shares(0, 25e8, 26e8), States.shares(0, 5e8, 15e8),
            column(5e8), column(25e8), Draw.x(5e8), y + 3]""")
    wanted = [[0.5, 0.3, 0.2], [0, 0, 1], [0.25, 0.15, 0.6]]
    ok(all(near(a, b, 0.01) for got, want in zip(there, wanted) for a, b in zip(got, want)),
       "in a window the thread's states have the shares that the archive says", there[:3])
    ok(there[3][0] >= there[3][1] >= there[3][2] > 0 and there[4][0] == there[4][1] == 0 < there[4][2],
       "a strip has them, below that it ran", there[3:5])
    says = sight.tip(page, there[5], there[6]).replace("\u00a0", " ")
    ok(re.search(r"ran 50\.0 %\s+waited for a processor 30\.0 %\s+was blocked 20\.0 %", says), "and says them", says)
    page.keys("9")
    ok(page.get("gt.Model.stated(gt.Model.shown.find((l) => l.row === 0))") == 0, "a key hides it")
    page.sheet("waits")
    there = page.table("states")
    ok(there and there[0][1:5] == ["8.00 s", "500 ms", "300 ms", "7.20 s"], "and a table", there)
    page.sheet("findings")
    there = page.find("#sheet-findings").text.replace("\u00a0", " ")
    ok(re.search("3.8 %\\s+waiting for processors", there)
       and re.search(r"Most processor time: (alpha|beta) 50.0 %, (alpha|beta) 50.0 % \(± 1.0 %\)", there),
       "the first sheet has the hottest functions, and how long threads waited for a processor", there)
    page.keys("8")
    ok(page.get("gt.Model.sampled(gt.Model.shown.find((l) => l.row === 0))") == 0, "a key hides them")
    page.sheet("flame")
    page.js("""const of = document.querySelector('.flame-head select');
        of.value = 'callers'; of.dispatchEvent(new Event('change'))""")
    page.settle()
    there = page.js("""return [...document.querySelectorAll('.flame button')].map((b) => [b.textContent,
        Number(b.style.width.slice(0, -1)).toFixed(1), b.getAttribute('aria-label').split(', ').slice(-2)])""")
    # 1.96 * 0.5 s * sqrt(0.5 * 0.5 / 10000)
    ok(there[1:] == [[name, "50.0", ["sampled: 5,000 samples", "± 4.90\u00a0ms"]]
                     for name in ("~alpha", "~main", "~beta", "~main")],
       "functions with their callers below, which says that they are sampled, and how exactly", there)
    clean_end(page)


def turns(address):
    """Threads that use a row one after another: between them it is empty."""
    page = Page(address)
    there = page.js(STRIP + """
        return [States.shares(0, 0, 8e7), States.shares(0, 1e9, 2e9), column(5e7), column(15e8), Draw.x(15e8), y + 3]""")
    wanted = [[0.5, 0.3, 0.2], [50 / 3000, 30 / 3000, 20 / 3000]]
    ok(all(near(a, b, 0.01) for got, want in zip(there, wanted) for a, b in zip(got, want)),
       "between two threads of a row its states have the shares of the time, not of what was added", there[:2])
    ok(there[2][0] >= there[2][1] >= there[2][2] > 0 and there[3] == [0, 0, 0], "the strip is empty there", there[2:4])
    says = sight.tip(page, there[4], there[5]).replace("\u00a0", " ")
    ok(re.search(r"ran 1\.7 %\s+waited for a processor 1\.0 %\s+was blocked 0\.7 %\s+no thread, or not known 96\.\d %",
                 says), "and says so", says)
    clean_end(page)


def there_y(page):
    """The middle of the lane of samples of row 0."""
    return page.get("((line) => line.y + gt.Model.samplesTop(line) + gt.Model.sampled(line) / 2)"
                    "(gt.Model.shown.find((l) => l.row === 0))")


def differs(address, now, before):
    page, reports = Page(address), []
    for name in (now, before):
        with open(name, encoding="utf-8") as f:
            reports.append(paths(json.load(f)))
    page.sheet("flame")
    there = page.js("""const all = [], visit = (node, path) => {
            all.push([path, [node.now.ns, node.now.calls], [node.before.ns, node.before.calls]]);
            for (const child of node.children.values()) visit(child, [...path, child.name]);
        };
        for (const child of gt.Flame.tree([...gt.Flame.trees.keys()], true).children.values())
            visit(child, [child.name]);
        return all""")
    wrong = [row for row in there for i in (0, 1)
             if tuple(row[i + 1]) != reports[i].get(tuple(row[0]), (0, 0))]
    ok(len(there) == len(set(reports[0]) | set(reports[1])) and not wrong,
       "times of both runs are those of their reports", (len(there), wrong[:2]))
    box = page.all(".flame button")[1]
    top = max((row for row in there if len(row[0]) == 1), key=lambda row: row[1][0])
    ActionChains(page.driver).move_to_element(box).perform()
    text = page.find("#tip").text.replace("\u00a0", " ")
    wanted = [seconds(top[i][0] / 1e9) for i in (1, 2)]
    ok(all(figure in text for figure in wanted), "a box has both figures", (text, wanted))
    less, same, more = (page.get(f"gt.Flame.shade({i})") for i in (-1, 0, 1))
    ok((less, more) == ("rgb(0 114 178)", "rgb(213 94 0)") and same not in (less, more),
       "blue is less, vermilion more", (less, same, more))
    page.js("const s = document.querySelector('.flame-head select'); s.value = s.options[s.length - 1].value;"
            "s.dispatchEvent(new Event('change'))")
    page.settle()
    ok(len(page.all(".flame button")) > 1 and "was" in page.find(".flame-head").text, "of one row, too")
    clean_end(page)


def hostile(address):
    page = Page(address)
    ok(page.get("window.broken") is None and not page.all("img, #tree b, td b"), "names make no elements")
    names = "[...document.querySelectorAll('#tree .name')]"
    text = page.get(names + ".map((e) => e.textContent).join(' ')")
    ok("<img src=x onerror=alert(1)>" in text and "</script><script>" in text,
       "they are shown as they are", text)
    isolated = page.get(names + ".every((e) => e.querySelector('bdi'))")
    ok("\u202e" not in text and isolated, "changes of direction stay in their name")
    for sheet in page.js("return gt.Sheets.all.map(s => s.id)"):
        page.sheet(sheet)
        ok(not page.all("#sheets img, #sheets script"), f"as in the sheet {sheet}")
    page.device(400, 800)
    page.settle()
    seen = page.js("""const e = document.elementFromPoint(60, document.getElementById('tabs')
        .getBoundingClientRect().top + 10); return e && e.closest('#tabs') !== null""")
    ok(seen, "tables can be chosen in a narrow window", seen)
    wide = page.get("document.documentElement.scrollWidth")
    ok(wide <= 400, "400 pixels are enough", wide)
    clean_end(page)


def made(address):
    """A server says who made the call that is selected."""
    page = Page(address)
    page.settle()
    page.js("gt.Page.jump({ row: 1, depth: 1, begin: 100000000, end: 120000000, region: 0 })")
    page.wait("document.getElementById('details').textContent.includes('made by')") # the server is asked for it
    text = page.get("document.getElementById('details').textContent")
    ok("made by waiter > rare > take (calls.c:12)" in text, "who made a call", text)
    clean_end(page)


def deep(address, first):
    """Far into a trace of many calls: a server has single ones, a page says where its detail ends."""
    page = Page(address)
    if not page.get("gt.Data.view"):
        page.js("const t = gt.Data.meta.end / 2; gt.View.set(t, t + 40)")
        page.settle()
        ok("detail ends here" in page.find("#window").text, "it says where detail ends")
        page.js("gt.View.set(0, gt.Data.meta.end)")
        page.settle()
        partly(page)
    else:
        begin, end, depth = json.loads(first)
        page.js("""gt.Page.pick({ line: gt.Model.ofRow[0], row: 0, depth: arguments[2], count: 9, region: 0,
            t: (arguments[0] + arguments[1]) / 2, begin: arguments[0] - 500, end: arguments[1] + 500 });
            gt.View.set(arguments[0] - 20, arguments[1] + 20)""", begin, end, depth)
        page.settle()
        page.settle()
        middle = (begin + end) / 2
        found = page.js("return gt.spanAt(0, arguments[0], arguments[1], 0)", depth, middle)
        ok(found and [found["begin"], found["end"], found["count"]] == [begin, end, 1],
           "a short call is there, to the nanosecond", (found, begin, end))
        picked = page.get("[gt.View.picked.begin, gt.View.picked.end, gt.View.picked.count]")
        ok(picked == [begin, end, 1], "what was picked as a sum of calls is that call then", picked)
    clean_end(page)


def frames(address):
    """For bench/page.py, too: figures as NAME=VALUE."""
    page = Page(address)
    first = page.get("performance.now()") # since the address was opened
    page.settle()
    page.js("""gt.Draw.frames.length = 0;
        for (let i = 0; i < 60; i++) { gt.View.zoom(i < 30 ? 0.9 : 1 / 0.9); gt.Draw.now(); }""")
    times = sorted(page.get("gt.frames"))
    second = page.driver.execute_async_script("""
        const done = arguments[0], begin = performance.now();
        let frames = 0;
        const step = () => {
            gt.View.zoom(frames++ % 60 < 30 ? 0.9 : 1 / 0.9);
            const passed = performance.now() - begin;
            if (passed < 2000)
                requestAnimationFrame(step);
            else
                done(1000 * frames / passed);
        };
        requestAnimationFrame(step);""")
    say(f"first_ms={first:.0f} frame_ms={times[len(times) // 2]:.2f} most_ms={times[-1]:.2f} "
        f"frames_per_s={second:.1f}")


def shot(address, path, width, height, scheme, script=None):
    page = Page(address, int(width), int(height), scheme == "dark")
    if script:
        page.js(script)
    page.settle()
    page.settle()
    page.driver.save_screenshot(path)


def main(arguments):
    while arguments:
        end = arguments.index("--") if "--" in arguments else len(arguments)
        (name, what, *rest), arguments = arguments[:end], arguments[end + 1:]
        begin(name)
        try:
            {"use": use, "hostile": hostile, "deep": deep, "differs": differs, "frames": frames,
             "copies": of_copies, "samples": of_samples, "lane": lane, "made": made,
             "turns": turns}[what](*rest)
            ok(True, "the browser was driven to the end")
        except Exception:  # a claim that fails, not a course that ends
            ok(False, "the browser was driven to the end", traceback.format_exc())
            traceback.print_exc()


if __name__ == "__main__":
    try:
        if sys.argv[1] == "shot":
            shot(*sys.argv[2:])
        else:
            main(sys.argv[1:])
    finally:
        if Page.driver:
            Page.driver.quit()
