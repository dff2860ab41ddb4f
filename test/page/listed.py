# SPDX-License-Identifier: BSD-3-Clause
"""The list of single calls of a region in the page, how long they are, who calls it and what it calls.

Limits: as page.py.
"""
from page import near, ok


def figure(page, name):
    """What stands above it, as it is read."""
    lines = page.find("#sheet-calls").text.split("\n")
    return lines[lines.index(name) - 1].replace(",", "").replace("\u00a0", " ") if name in lines else None


def of_region(page, region):
    """What is said of one region's calls, against the report."""
    page.js("gt.Search.exactly(arguments[0]); gt.Sheets.show('calls')", region["name"])
    page.settle()
    ok(figure(page, "calls") == str(region["count"]), "all calls of a region are counted",
       (figure(page, "calls"), region["count"]))
    lengths = page.js("""const rows = gt.Calls.of(0, gt.Data.meta.end).list.map((call) => call.end - call.begin);
        return [rows.length, Math.max(...rows), Math.min(...rows), rows.reduce((a, b) => a + b)]""")
    wanted = [region[key] * 1e9 for key in ("max_s", "min_s", "inclusive_s")]
    ok(lengths[0] == region["count"] and all(near(a, b, 1e-6) for a, b in zip(lengths[1:], wanted)),
       "longest, shortest and sum are the report's", (lengths, wanted))
    rows = page.table("calls")
    ok(len(rows) >= min(region["count"], 100) and rows[0][1] == figure(page, "longest"),
       "the longest call comes first", rows[:1])
    bars = page.js("return [...document.querySelectorAll('.bars button')].map((b) => +b.dataset.count)")
    ok(sum(bars) == region["count"] and len(bars) > 1, "each call is in one bar", bars)
    page.all(".bars button")[-1].click()
    page.settle()
    kept = page.table("calls")
    ok(len(kept) >= min(bars[-1], 100) and kept[0] == rows[0], "a bar lists its calls only", (len(kept), bars[-1]))
    page.all(".bars button")[-1].click()
    page.settle()
    page.all("#sheet-calls [data-table=calls] tbody tr")[0].click()
    page.settle()
    longest = page.js("""const [call] = gt.Calls.of(0, gt.Data.meta.end).list
            .sort((a, b) => b.end - b.begin - a.end + a.begin);
        return [call.begin, call.end]""")
    a, b = page.window()
    ok(a <= longest[0] and longest[1] <= b, "a row jumps to its call", (a, b, longest))
    page.js("gt.View.set(0, gt.Data.meta.end)")
    page.settle()


def around(page, report):
    """Callers and what is called, of a region that has both, against the call tree."""
    nodes = {node["id"]: node for node in report["call_tree"] if node["kind"] == "measured"}
    callers, callees = {}, {}
    for node in nodes.values():
        above = nodes.get(node["parent"])
        name = above["name"] if above else "(not called by a recorded call)"
        callers.setdefault(node["name"], {}).setdefault(name, 0)
        callers[node["name"]][name] += node["count"]
        if above:
            callees.setdefault(above["name"], {}).setdefault(node["name"], 0)
            callees[above["name"]][node["name"]] += node["count"]
    name = max(callees, key=lambda name: len(callees[name]) + len(callers[name]))
    page.js("gt.Search.exactly(arguments[0]); gt.Sheets.show('calls')", name)
    page.settle()
    for table, wanted in (("callers", callers[name]), ("callees", callees[name])):
        said = {row[0]: int(row[1].replace(",", "")) for row in page.table(table)}
        ok(said == wanted, f"{table}: the call tree's", (name, said, wanted))


def partly(page):
    """A page that has short calls as sums only says so of a region that has such calls, and of no other one."""
    said = []
    for name in ("main", "work"):
        page.js("gt.Search.exactly(arguments[0]); gt.Sheets.show('calls')", name)
        page.settle()
        said.append("not listed" in page.find("#sheet-calls").text)
        ok(figure(page, "calls") == str(page.get("gt.Calls.total()")), f"{name}: how many calls there are", said)
        page.js("gt.Search.set('')")
    ok(said == [False, True], "short calls that are not listed are told where there are any", said)


def listed(page, report):
    region = max((r for r in report["regions"] if r["class"] == "kernel"), key=lambda r: r["count"])
    of_region(page, region)
    around(page, report)
    page.js("gt.Search.set('')")
    page.settle()
