# What every page has to hold: no word in the console, the numbers of its documents, no overflow at any width.
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
from browser import Browser  # noqa: E402

WIDTHS = {"phone": 360, "tablet": 820, "desktop": 1400}
MOST_BYTES = 2_000_000
UNITS = {"T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "P": 1e15, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "s": 1, "h": 3600,
         "days": 86400, "%": 1e-2, "kWh": 1e3, "Wh": 1, "TiB": 2**40, "GiB": 2**30, "MiB": 2**20, "KiB": 2**10, "B": 1}


def written(text):
    """The number that a text of a page begins with: 14.6 s, 54.5 %, $1,234."""
    found = re.match(r"([+−]?)\$?([\d.,]+)\s*([A-Za-z%]*)", text)
    assert found, text
    number = float(found.group(2).replace(",", "")) * UNITS.get(found.group(3), 1)
    return -number if found.group(1) == "−" else number


def at(document, key):
    for part in key.split("."):
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


class Pages:
    """Makes pages with the program and looks at them; pictures of them go to a folder."""

    def __init__(self, program, pictures):
        self.program = os.path.abspath(program)
        self.pictures = os.path.abspath(pictures)
        self.folder = tempfile.TemporaryDirectory(prefix="stepsim-pages-")
        os.makedirs(self.pictures, exist_ok=True)
        self.browser = Browser()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.__exit__()
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def stepsim(self, *arguments, codes=(0,)):
        done = subprocess.run([self.program, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.returncode in codes, f"{arguments}: exits with {done.returncode}: {done.stderr}"
        return done.stdout

    def look(self, name, page, expected, key="result", fewest=10):
        """Opens a page and compares its numbers with the document that the program prints: `expected`."""
        assert os.path.getsize(page) < MOST_BYTES, f"{name}: {os.path.getsize(page)} bytes"
        took = self.browser.open(page, WIDTHS["desktop"])
        print(f"{name}: {os.path.getsize(page) / 1e6:.2f} MB, drawn in {took:.2f} s")
        assert self.browser.console() == [], self.browser.console()
        held = json.loads(self.browser.run("return JSON.stringify(documents[arguments[0]])", key))
        assert held == expected, f"{name}: the page holds another document than the program prints"
        # Parts of a page that are about another of its documents say so.
        values = self.browser.run(
            # Parts of a page may be about another one of its documents.
            "return [...document.querySelectorAll('.value[data-key]')].filter("
            "each => (each.closest('[data-document]')?.dataset.document ?? arguments[0]) === arguments[0]).map("
            "each => [each.dataset.key, each.dataset.value, each.textContent])", key)
        assert len(values) >= fewest, f"{name}: only {len(values)} numbers"
        for place, value, text in values:
            wanted = at(expected, place)
            assert value == ("" if wanted is None else self._as_script_says(wanted)), (name, place, value, wanted)
            if wanted is None:
                continue
            unit = 1e12 if place.endswith("tflops_per_gpu") else 1e3 if place.endswith("kwh") else 1
            off = abs(written(text) / unit - wanted)
            assert off <= 0.006 * abs(wanted) + 6e-4 * (1 if "%" in text else 0), (name, place, wanted, text)
        for width_name, width in WIDTHS.items():
            self.browser.resize(width, 900)
            self.browser.settle()
            wide = self.browser.run("return document.documentElement.scrollWidth")
            assert wide <= width, f"{name}: {wide} pixels wide in a window of {width}"
            self.browser.screenshot(os.path.join(self.pictures, f"{name}-{width_name}.png"))
        self.browser.resize(WIDTHS["desktop"], 900)
        assert self.browser.console() == [], self.browser.console()

    def _as_script_says(self, value):
        return self.browser.run("return String(arguments[0])", value)
