#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Turns what test/gpu/run said into the table of doc/gpu-results.md.

    test/gpu/table.py [--doc FILE] [--commit ID] [--gpu NAME] OUT ...

OUT is a folder that test/gpu/run wrote (--out), or its verdicts.txt. Prints a table with a line for each case: how
many verdicts it has, how many failed, and the figures that were compared; then one of what was measured. --doc puts
them between the marks of that document, and changes nothing else of it.

Limits: a case is the first word of a verdict's name (two words for what --bench measures).
"""
import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
import document  # noqa: E402

NOTHING = ("0 of 0", "(0, 0) of (0, 0)")  # of what the program does not do
EACH = ("check", "otf2-print", "balance", "order")  # of every trace; named above the table


def read(path):
    """Returns the cases of a run in their order, [good, bad, [texts]], its remarks, and its first and last line."""
    path = Path(path)
    lines = (path / "verdicts.txt" if path.is_dir() else path).read_text(encoding="utf-8").splitlines()
    cases, remarks = {}, []
    for line in lines:
        found = re.match(r"(ok  |FAIL) ([^:]*)(?:: (.*))?$", line)
        if not found:
            if line.startswith("#"):
                remarks.append(line.lstrip("# "))
            continue
        words = found[2].split()
        own = 2 if words[0] == "bench" else 1
        case = cases.setdefault(" ".join(words[:own]), [0, 0, []])
        case[found[1] == "FAIL"] += 1
        what = " ".join(words[own:])
        if found[1] == "FAIL":
            case[2].append(f"**failed**: {what} {found[3] or ''}".strip())
        elif found[3] and what not in EACH and found[3] not in NOTHING:
            figures = re.sub(r"(GPU-)[0-9a-f]{8}(-[0-9a-f]{4,12}){4}", r"\1...", found[3])
            case[2].append(f"{what}: {figures}" if what else figures)
    if not remarks or not cases:
        raise SystemExit(f"{path}: nothing that test/gpu/run wrote")
    return cases, remarks[1:-1], remarks[0], remarks[-1]


def cell(text):
    return text.replace("|", "\\|")


def tables(runs, gpu, commit):
    """The Markdown of one run or several."""
    parts = []
    for cases, remarks, first, last in runs:
        said = f"{gpu + ', ' if gpu else ''}{first}{', commit ' + commit if commit else ''}: `# {last}`. Of each trace " \
               "there are the verdicts `check`, `otf2-print`, `balance` and `order` (above), too, which are counted."
        parts.append(document.paragraph(said))
        rows = [f"| {cell(name)} | {good} | {bad or ''} | {cell('; '.join(texts))} |"
                for name, (good, bad, texts) in cases.items()]
        parts.append("\n".join(["| case | ok | failed | what was compared |", "| --- | --- | --- | --- |"] + rows))
        rows = [f"| {cell(what)} | {cell(figures)} |" for what, colon, figures in
                (remark.partition(": ") for remark in remarks) if colon]
        if rows:
            parts.append("\n".join(["| measured | figures |", "| --- | --- |"] + rows))
    return "\n\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--doc", type=Path)
    parser.add_argument("--commit", default="")
    parser.add_argument("--gpu", default="", help="what kind and how many, as the document shall say it")
    parser.add_argument("out", nargs="+")
    options = parser.parse_args()
    text = tables([read(out) for out in options.out], options.gpu, options.commit)
    print(text)
    if options.doc:
        document.into(options.doc, "test/gpu/table.py", text)


if __name__ == "__main__":
    main()
