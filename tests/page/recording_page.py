# Opens pages of recordings: of one rank, of two, of a trace of a simulation, and a scenario against one.
# Usage: recording_page.py PROGRAM PICTURES
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(__file__))
from check import Pages  # noqa: E402

LIBRARY = os.path.join(os.path.dirname(__file__), "..", "..")


def scenario(name):
    return os.path.join(LIBRARY, "scenarios", name + ".yaml")


def recorded():
    """The recording that docs/recordings.md shows."""
    with open(os.path.join(LIBRARY, "docs", "recordings.md")) as file:
        return re.search(r"^```json rank0\.pt\.trace\.json\n(.*?)^```", file.read(), re.S | re.M).group(1)


def saved(path, text):
    with open(path, "w") as file:
        file.write(text)
    return path


def text_of(browser, selector):
    return browser.run("return document.querySelector(arguments[0]).textContent", selector)


with Pages(*sys.argv[1:3]) as pages:
    first = saved(pages.path("rank0.json"), recorded())
    page = pages.path("one.html")
    result = json.loads(pages.stepsim("explain", first, "--format", "json", "--html", page))
    pages.look("recording-one", page, result, fewest=30)
    assert "waits for the loader" in text_of(pages.browser, ".verdict")
    assert "the loader keeps up" in text_of(pages.browser, "#what-each-change-would-give")

    # Two ranks: one is late, and a reader sees what either does.
    folder = pages.path("ranks")
    os.mkdir(folder)
    saved(os.path.join(folder, "rank0.json"), recorded())
    slow = recorded().replace('"rank": 0', '"rank": 1').replace('"dur": 179970', '"dur": 279970')
    for step in (0, 500000):
        slow = slow.replace(f'"ts": {300000 + step}, "dur": 70030', f'"ts": {400000 + step}, "dur": 70000')
        slow = slow.replace(f'"ts": {300000 + step}, "dur": 170000', f'"ts": {400000 + step}, "dur": 70000')
    saved(os.path.join(folder, "rank1.json"), slow)
    page = pages.path("two.html")
    result = json.loads(pages.stepsim("explain", folder, "--format", "json", "--html", page))
    pages.look("recording-two", page, result, fewest=40)
    assert text_of(pages.browser, "#late-ranks").startswith("Late ranks" + "rank 1 comes last at 2 of 2 collectives")
    computing = "#where-the-time-goes .value"
    assert text_of(pages.browser, computing).startswith("760 ms"), text_of(pages.browser, computing)
    pages.browser.run("document.getElementById('rank').focus()")
    pages.browser.press("\ue013")  # up: the rank before
    assert text_of(pages.browser, computing).startswith("560 ms"), text_of(pages.browser, computing)

    # A trace of a simulation has the report of its run, and the timeline of what it holds.
    trace, page = pages.path("step.json.gz"), pages.path("trace.html")
    run = json.loads(pages.stepsim("run", scenario("straggler-8xh100"), "--format", "json", "--trace", trace))
    result = json.loads(pages.stepsim("explain", trace, "--format", "json", "--html", page))
    pages.look("recording-trace", page, result)
    held = json.loads(pages.browser.run("return JSON.stringify(documents.run)"))
    pages.look("recording-trace", page, held, key="run")
    assert held["verdict"] == run["verdict"]
    assert abs(held["mfu"] / run["mfu"] - 1) < 1e-6, (held["mfu"], run["mfu"])  # a trace has whole nanoseconds
    ranks = pages.browser.run("return documents.timeline.ranks.map(rank => rank.rank)")
    assert sorted(ranks) == [rank["rank"] for rank in result["ranks"]], ranks

    page = pages.path("against.html")
    result = json.loads(pages.stepsim("compare", scenario("cpu-loss-8xh100"), first, "--format", "json",
                                      "--html", page))
    pages.look("recording-against", page, result, fewest=30)
    assert "host.cpu_work: its time" in text_of(pages.browser, "#from-the-prediction-to-the-recording")
