# Opens pages of `stepsim explain` of scenarios: their numbers, the changes in order, tables that sort.
# Usage: explain_page.py PROGRAM PICTURES
import json
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from check import Pages  # noqa: E402

LIBRARY = os.path.join(os.path.dirname(__file__), "..", "..")


def scenario(name):
    return os.path.join(LIBRARY, "scenarios", name + ".yaml")


def texts(browser, selector):
    return browser.run("return [...document.querySelectorAll(arguments[0])].map(each => each.textContent)", selector)


with Pages(*sys.argv[1:3]) as pages:
    # A loader, a pipeline across ranks, settings of several words and a price.
    for name, more in (("llama3-8b-loader-8xh100", []), ("gpt-pipeline-8xa100", ["--set", "cost={price: 2 $/gpu/h}"])):
        page = pages.path(name + ".html")
        result = json.loads(pages.stepsim("explain", scenario(name), *more, "--format", "json", "--html", page))
        pages.look("explain-" + name, page, result, fewest=40)
        step = json.loads(pages.stepsim("show", "timeline", scenario(name), *more, "--format", "json"))
        held = json.loads(pages.browser.run("return JSON.stringify(documents.timeline)"))
        assert held == step, "the timeline is another than the program prints"

        # Bars of a kind are in order of what they save, and the best setting is the first of its kind.
        best = max((change for change in result["changes"] if change["kind"] == "setting"),
                   key=lambda change: change["saved_fraction"])
        codes = texts(pages.browser, "#what-each-change-would-save .bars code")
        assert codes[0] == " ".join("--set " + word for word in best["set"]), codes
        for bars in pages.browser.run(
                "return [...document.querySelectorAll('#what-each-change-would-save .bars')].map(bars =>"
                "[...bars.querySelectorAll('[data-key$=saved_fraction]')].map(each => +each.dataset.value))"):
            assert bars == sorted(bars, reverse=True) and bars, bars

        # The path is drawn from the begin of a step to its end, a lane for each rank on it.
        ranks = {segment["rank"] for segment in result["critical_path"]["last_step"]}
        labels = [text for text in texts(pages.browser, "#the-critical-path svg text") if text.startswith("rank ")]
        assert labels == [f"rank {rank}" for rank in sorted(ranks)], labels

        # Pieces: the longest first, until a reader sorts by a column.
        pieces = result["critical_path"]["pieces"]
        shown = texts(pages.browser, "#pieces tbody tr")
        assert len(shown) == 12 and pieces[0]["task"] in shown[0], shown
        pages.browser.click("#pieces th:nth-child(6) button")
        assert texts(pages.browser, "#pieces tbody tr")[-1] == shown[0]
        pages.browser.click("#the-critical-path .scroll + button")
        assert len(texts(pages.browser, "#pieces tbody tr")) == len(pieces)
        assert pages.browser.console() == []
