# SPDX-License-Identifier: BSD-3-Clause
"""What can be seen and reached in the page, whatever the room is.

Limits: as page.py.
"""
from page import Keys, ok


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


def see(page):
    resizes(page)
