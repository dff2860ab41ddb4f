# SPDX-License-Identifier: BSD-3-Clause
"""How far apart the colours of the timeline are, for all who look.

    colours.py THEME.js GRID.c      a line for each claim, as browser.py prints them

Distances are CIE76 in CIELAB (2.3 is the least that is seen side by side). A swatch of the legend is small and far
from the bar that it explains, so 12 are asked for: of each kind from each other and from the page, between all
shifts of lightness, for normal sight and for people who lack one kind of cone, simulated as by Machado, Oliveira
and Fernandes 2009 (severity 1). Kinds of hosts and of devices lie beside each other in folded rows, so all pairs
count. Text has a contrast of 4.5 (WCAG 2.2, 1.4.3) on them, and on the stripes of waits.

Limits: reads the tables in the sources by their form.
"""
import itertools
import re
import sys

APART, CONTRAST = 12, 4.5
SIGHTS = {
    "normal sight": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                     (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
                   (0.004733, 0.691367, 0.303900)),
}


def rgb(text):
    return tuple(int(text[i:i + 2], 16) for i in (0, 2, 4))


def of_256(number):
    """A colour of a terminal: the cube, then greys."""
    if number >= 232:
        return (8 + 10 * (number - 232),) * 3
    steps = (number - 16) // 36, (number - 16) // 6 % 6, (number - 16) % 6
    return tuple(0 if not step else 55 + 40 * step for step in steps)


def linear(color):
    return [c / 255 / 12.92 if c <= 10.3 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in color]


def seen(color, sight):
    """CIELAB of what is seen."""
    light = linear(color)
    light = [min(1, max(0, sum(m * c for m, c in zip(row, light)))) for row in SIGHTS[sight]]
    white = 0.95047, 1, 1.08883
    rows = (0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505)
    x, y, z = (sum(m * c for m, c in zip(row, light)) / w for row, w in zip(rows, white))
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def shifted(color, shift):
    return tuple(c * (1 + shift) if shift < 0 else c + (255 - c) * shift for c in color)


def apart(kinds, shift):
    """The least distance of two kinds: (distance, sight, kind, kind)."""
    shades = {(name, sight): [seen(shifted(color, s), sight) for s in (-shift, 0, shift)]
              for name, color in kinds.items() for sight in SIGHTS}
    return min((sum((x - y) ** 2 for x, y in zip(p, q)) ** 0.5, sight, a, b)
               for sight in SIGHTS for a, b in itertools.combinations(kinds, 2)
               for p in shades[a, sight] for q in shades[b, sight])


def contrast(a, b):
    bright, dim = sorted((0.05 + sum(m * c for m, c in zip((0.2126, 0.7152, 0.0722), linear(x)))
                          for x in (a, b)), reverse=True)
    return bright / dim


def poorest(kinds, shift, striped, strength):
    """The least contrast of text: dark text or white one, whichever is better, on shades and stripes."""
    dark, white = (16, 20, 26), (255, 255, 255)
    found = []
    for name, color in kinds.items():
        for shade in (shifted(color, s) for s in (-shift, 0, shift)):
            text = max(dark, white, key=lambda t: contrast(t, shade))
            grounds = [shade]
            if name in striped:
                grounds.append(tuple(c + (d - c) * strength for c, d in zip(shade, dark)))
            found += [(contrast(text, ground), name) for ground in grounds]
    return min(found)


def ok(holds, name, there=""):
    print(f"ok {name}" if holds else f"not ok {name}: {there}")


def main():
    theme, grid = (open(path, encoding="utf-8").read() for path in sys.argv[1:3])
    rows = re.findall(r'\["([^"]+)", "#(\w{6})", "#(\w{6})"\]', theme)
    paints = re.findall(r'\{ "([^"]+)", 0x(\w{6}), (\d+), \'(.)\', (-?\d) \}', grid)
    shift = float(re.search(r"SHIFT = ([0-9.]+)", theme).group(1))
    strength = int(re.search(r"STRIPE = .*strength: (\d+)", theme).group(1)) / 255
    striped = dict(re.findall(r'"([^"]+)": (-?1)\b', re.search(r"STRIPES = \{(.*)\}", theme).group(1)))
    ok(len(rows) == 12, "twelve kinds", len(rows))
    ok(dict(r[:2] for r in rows) == dict(p[:2] for p in paints), "the page and gputrace timeline have the same")
    ok(len({p[3] for p in paints}) == len(paints), "each has its letter")
    ok(sorted(striped) == ["GPU wait", "thread wait"] and len(set(striped.values())) == 2,
       "waits have stripes, each its own", striped)
    ok(striped == {p[0]: p[4] for p in paints if p[4] != "0"}, "... and in pictures the same ones")
    for name, at, paper in ("light", 1, "ffffff"), ("dark", 2, "14171c"):
        kinds = {row[0]: rgb(row[at]) for row in rows}
        least = apart(kinds, shift)
        ok(least[0] >= APART, f"{name}: each differs from each, for all who look", least)
        least = min(apart({"paper": rgb(paper), kind: color}, 0) for kind, color in kinds.items())
        ok(least[0] >= APART, f"{name}: and from the page", least)
        least = poorest(kinds, shift, striped, strength)
        ok(least[0] >= CONTRAST, f"{name}: text can be read on them", least)
    least = apart({p[0]: of_256(int(p[2])) for p in paints}, 0)
    ok(least[0] >= APART, "a terminal of 256 colours: each differs from each", least)


main()
