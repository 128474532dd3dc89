# Opens pages of `stepsim compare`: their numbers, waterfalls that sum, timelines that are zoomed together.
# Usage: compare_page.py PROGRAM PICTURES
import json
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from check import Pages  # noqa: E402

LIBRARY = os.path.join(os.path.dirname(__file__), "..", "..")


def scenario(name):
    return os.path.join(LIBRARY, "scenarios", name + ".yaml")


def views(browser):
    return browser.run("return [...document.querySelectorAll('.timeline')].map("
                       "box => [+box.dataset.from, +box.dataset.to])")


with Pages(*sys.argv[1:3]) as pages:
    page = pages.path("pair.html")
    words = ["compare", scenario("gpt-launches-8xh100"), "--vs", "host.mode=graph"]
    result = json.loads(pages.stepsim(*words, "--format", "json", "--html", page))
    pages.look("compare-pair", page, result, fewest=20)
    steps = [json.loads(pages.stepsim("show", "timeline", scenario("gpt-launches-8xh100"), *more, "--format", "json"))
             for more in ([], ["--set", "host.mode=graph"])]
    held = json.loads(pages.browser.run("return JSON.stringify([documents.timeline_0, documents.timeline_1])"))
    assert held == steps, "the timelines are others than the program prints"

    # From the first step over the rows of the waterfall to the second one.
    picture = "#where-the-difference-of-b-comes-from svg"
    changes = pages.browser.run(f"return [...document.querySelectorAll('{picture} .value[data-key^=differences]')]"
                                ".map(each => +each.dataset.value)")
    before, now = (run["step_time_s"] for run in result["runs"])
    assert abs(before + sum(changes) - now) < 1e-3 * before, (before, changes, now)

    # Both timelines have the axis of the longer one; zooming in one zooms in both.
    whole = max(step["step_time_ns"] for step in steps)
    assert views(pages.browser) == [[0, whole]] * 2, views(pages.browser)
    pages.browser.click("button[title='zoom in']")
    first, second = views(pages.browser)
    assert first == second and abs((first[1] - first[0]) / whole - 0.5) < 1e-6, (first, second)
    pages.browser.run("document.querySelectorAll('.timeline canvas')[1].focus()")
    pages.browser.press("0")
    assert views(pages.browser) == [[0, whole]] * 2, views(pages.browser)

    # Three, of which two do other work in a step; a result, of which there is no timeline; replicas.
    page = pages.path("three.html")
    answer = pages.path("answer.json")
    with open(answer, "w") as file:
        file.write(pages.stepsim("run", scenario("gpt-launches-8xh100"), "--format", "json"))
    result = json.loads(pages.stepsim(
        "compare", scenario("gpt-launches-8xh100"), answer, "--set", "training.global_batch=32",
        "--vs", "training.micro_batch=2", "--format", "json", "--html", page))
    pages.look("compare-three", page, result, fewest=20)
    assert pages.browser.run("return Object.keys(documents)") == ["result", "causes", "timeline_0", "timeline_2"]
    page = pages.path("replicas.html")
    result = json.loads(pages.stepsim("compare", scenario("jitter-64xh100"), "--set", "run.replicas=4",
                                      "--vs", "run.seed=2", "--format", "json", "--html", page))
    pages.look("compare-replicas", page, result, fewest=20)
