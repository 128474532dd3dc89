# Opens pages of `stepsim search`: of one number of GPUs, of several, of clusters side by side.
# Usage: search_page.py PROGRAM PICTURES
import json
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from check import Pages  # noqa: E402

SCENARIO = os.path.join(os.path.dirname(__file__), "..", "..", "scenarios", "gpt-22b-8xa100.yaml")
FEW = ["--only", "tensor=4,8", "--simulations", "4"]

with Pages(*sys.argv[1:3]) as pages:
    for name, arguments in {
            "one": [],
            "sizes": ["--gpus", "8,16,32", "--tokens", "1e11"],
            "clusters": ["--clusters", "mi300x-8=1,dgx-a100-80=1.5,dgx-h100=2.5", "--tokens", "1e11"]}.items():
        page = pages.path(name + ".html")
        result = json.loads(pages.stepsim("search", SCENARIO, *FEW, *arguments, "--format", "json", "--html", page))
        pages.look("search-" + name, page, result, fewest=6)
        entries = result.get("strategies") or result.get("sizes") or result["clusters"]
        assert pages.browser.run("return document.querySelectorAll('circle[data-point]').length") == len(entries)
        if name != "one":
            pages.browser.click("details summary")
            pages.browser.settle()
            assert pages.browser.run("return document.querySelectorAll('details table tbody tr').length") > 0
        assert pages.browser.console() == []
