# Opens a page of `stepsim validate`: every row is a point, and a click shows what is behind it.
# Usage: validate_page.py PROGRAM PICTURES
import json
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from check import Pages  # noqa: E402

SUITES = os.path.join(os.path.dirname(__file__), "..", "..", "validate", "suites")

with Pages(*sys.argv[1:3]) as pages:
    for name, suites in {"one": ["korthikanti"], "several": ["korthikanti", "bigscience_v100", "dgxc_2025"]}.items():
        page = pages.path(name + ".html")
        files = [os.path.join(SUITES, suite + ".yaml") for suite in suites]
        result = json.loads(pages.stepsim("validate", *files, "--format", "json", "--html", page))
        pages.look("validate-" + name, page, result, fewest=9)
        browser = pages.browser
        assert browser.run("return document.querySelectorAll('circle[data-point]').length") == len(result["rows"])
        last = result["rows"][-1]
        browser.click(f"circle[data-point='{len(result['rows']) - 1}']")
        shown = browser.run("return document.querySelector('.chosen').textContent")
        assert last["suite"] in shown and str(last["line"]) in shown, shown
        assert browser.run("return document.querySelectorAll('.chosen .value').length") == sum(
            1 for seconds in last["breakdown_s"].values() if seconds > 0)
        assert browser.console() == []
