# SPDX-License-Identifier: BSD-3-Clause
"""Puts what a program has made into a document that people write: between two marks, and nowhere else."""
import textwrap


def paragraph(text):
    """Lines as long as documents have them."""
    return textwrap.fill(text, 108, break_on_hyphens=False, break_long_words=False)


def into(path, maker, text):
    """Replaces what stands between the marks of `maker` in the file."""
    begin, end = f"<!-- made by {maker}: begin -->", "<!-- end -->"
    with open(path, encoding="utf-8") as file:
        before, found, rest = file.read().partition(begin)
    _, ends, after = rest.partition(end)
    if not found or not ends:
        raise SystemExit(f"{path} has no lines {begin} and {end}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{begin}\n{text}\n{end}{after}")
