# SPDX-License-Identifier: BSD-3-Clause
"""A page in headless Chromium: how it is opened, asked and used, and how a claim about it is printed.

Limits: needs chromium, chromium-driver and python3-selenium of Debian; one browser for all pages.
"""
import json
import os
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys # noqa: F401, for who uses this


def start():
    options = Options()
    options.binary_location = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    for flag in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "no-first-run",
                 "disable-background-networking", "disable-component-update", "disable-sync",
                 "window-size=1280,800"):
        options.add_argument("--" + flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = Service(os.environ.get("CHROMEDRIVER", "/usr/bin/chromedriver"))
    return webdriver.Chrome(service=service, options=options)


class Page:
    driver = None  # of all

    def __init__(self, address, width=1280, height=800, dark=False):
        Page.driver = Page.driver or start()
        self.address = address if "://" in address else "file://" + os.path.abspath(address)
        self.device(width, height)
        self.cdp("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.driver.get("about:blank")
        self.driver.get_log("browser"), self.driver.get_log("performance")
        self.driver.get(self.address)
        self.wait("window.gt && gt.ready && gt.idle")

    def cdp(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def device(self, width, height):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                 mobile=False)

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def get(self, expression):
        return self.js("return " + expression)

    def wait(self, expression, limit=20):
        end = time.time() + limit
        while time.time() < end:
            if self.get(expression):
                return True
            time.sleep(0.03)
        return False

    def settle(self):
        """Until what was asked for is there and has been drawn, and the sheets are filled."""
        time.sleep(0.02)
        self.wait("gt.idle")

    def window(self):
        return self.get("gt.window()")

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def keys(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()
        self.settle()

    def sheet(self, name):
        self.find("#tab-" + name).click()
        self.settle()

    def table(self, name):
        """Cells of the first rows of a table, as they are read."""
        return self.js("""
            const rows = document.querySelectorAll(
                `#sheets .sheet:not([hidden]) [data-table=${arguments[0]}] tbody tr`);
            const text = (cell) => cell.innerText.trim().replace(/\\u00a0/g, ' ');
            return [...rows].map((row) => [...row.cells].map(text))""", name)

    def box(self):
        """Left, top, width and height of the timeline."""
        return self.js("const b = gt.Draw.canvas.getBoundingClientRect();"
                       "return [b.left, b.top, b.width, b.height]")

    def mouse(self, kind, x, y, **more):
        self.cdp("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, x0, y0, x1, y1, modifiers=0):
        more = {"button": "left", "buttons": 1, "clickCount": 1, "modifiers": modifiers}
        self.mouse("mousePressed", x0, y0, **more)
        for part in (0.3, 0.7, 1):
            self.mouse("mouseMoved", x0 + (x1 - x0) * part, y0 + (y1 - y0) * part, **more)
        self.mouse("mouseReleased", x1, y1, **more)
        self.settle()

    def click(self, x, y):
        self.drag(x, y, x, y)

    def errors(self):
        return [entry["message"] for entry in self.driver.get_log("browser")
                if entry["level"] in ("SEVERE", "WARNING")]

    def elsewhere(self):
        """Requests that go anywhere but to the page and what is below it."""
        base = self.address.split("#")[0].rsplit("/", 1)[0]
        urls = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
                urls.append(message["params"].get("request", message["params"])["url"])
        ours = (base, "data:", "blob:", "about:", "chrome:")
        return [url for url in urls if not url.startswith(ours)], urls


course = "the browser" # of what is driven now


def begin(name):
    global course
    course = name


def ok(holds, name, there=""):
    there = str(there).replace("\n", " ")[:300]
    print(f"ok {course}: {name}" if holds else f"not ok {course}: {name}: {there}", flush=True)


def say(text):
    print(f"# {course}: {text}", flush=True)


def near(a, b, part=0.01):
    return abs(a - b) <= part * max(abs(a), abs(b), 1)


# ---- what the report prints (report/print/faces.c), here once more -------------------------------------

def scaled(value, units):
    at = 0
    while value >= 999.5 and at < len(units) - 1:
        value, at = value / 1000, at + 1
    return f"{value:.{0 if not at or value >= 99.95 else 2 if value < 9.995 else 1}f} {units[at]}"


def seconds(value):
    return "–" if value is None else scaled(round(value * 1e9), ["ns", "µs", "ms", "s"])


def size(value):
    return "–" if value is None else scaled(value, ["B", "kB", "MB", "GB", "TB", "PB"])


def count(value):
    return "–" if value is None else f"{value:,}"


def share(value):
    return "–" if value is None else f"{100 * value:.1f} %"


def same_rows(page, name, rows, cells, key):
    """The first rows of a table are those of the report, in its order of `key`."""
    there = page.table(name)
    wanted = [[str(c) for c in cells(row)] for row in sorted(rows, key=lambda row: -row[key])][:100]
    wrong = [(a, b) for a, b in zip(sorted(there), sorted(wanted)) if a[1:] != b[1:]]
    if len(there) != len(wanted):
        wrong = [(len(there), len(wanted))]
    ok(not wrong, f"{name}: the figures are those of the report", wrong[:1])
