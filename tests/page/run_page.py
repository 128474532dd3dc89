# Opens pages of `stepsim run`: their numbers, the timeline by mouse and keyboard.
# Usage: run_page.py PROGRAM PICTURES
import json
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from check import Pages, WIDTHS  # noqa: E402

LIBRARY = os.path.join(os.path.dirname(__file__), "..", "..")


def scenario(name):
    return os.path.join(LIBRARY, "scenarios", name + ".yaml")


def view(browser):
    return browser.run("const box = document.querySelector('.timeline').dataset; return [+box.from, +box.to]")


def chosen(browser):
    return browser.run("return document.querySelector('.chosen').textContent")


def check_timeline(browser, step_ns):
    assert view(browser) == [0, step_ns], view(browser)
    browser.click("button[title='zoom in']")
    start, end = view(browser)
    assert abs((end - start) / step_ns - 0.5) < 1e-6, (start, end, step_ns)
    browser.click("button[title='show the whole step']")
    assert view(browser) == [0, step_ns]
    width = browser.run("return document.querySelector('.timeline canvas').clientWidth")
    browser.click(".timeline canvas", x=width // 3, y=26 + 20 + 11)  # the first row, below the axis and a title
    facts = chosen(browser)
    assert "cause" in facts and "takes" in facts, facts
    browser.press("n")
    assert chosen(browser) != facts
    browser.press("+++")
    start, end = view(browser)
    assert abs((end - start) / step_ns - 1.5**-3) < 1e-6, (start, end)
    browser.press("0")
    assert view(browser) == [0, step_ns]


with Pages(*sys.argv[1:3]) as pages:
    for name in ("llama3-70b-64xh100", "mlp-buckets-8xv100", "long-run-1024xh100"):
        page = pages.path(name + ".html")
        result = json.loads(pages.stepsim("run", scenario(name), "--format", "json", "--html", page))
        pages.look("run-" + name, page, result)
        step = json.loads(pages.stepsim("show", "timeline", scenario(name), "--format", "json"))
        held = json.loads(pages.browser.run("return JSON.stringify(documents.timeline)"))
        # Of replicas the page has the one in the middle, as the answer does; `show` has the first.
        assert held == step or result["replicas"], "the timeline is another than the program prints"
        check_timeline(pages.browser, held["step_time_ns"])

    # Whoever held a slice up is a click away, and so is the other end of a transfer.
    page = pages.path("pipeline.html")
    pages.stepsim("run", scenario("gpt-pipeline-8xa100"), "--html", page)
    pages.browser.open(page, WIDTHS["desktop"])
    pages.browser.click(".timeline canvas", x=20, y=26 + 20 + 11)
    before = chosen(pages.browser)
    for _ in range(60):
        if "held up by" in chosen(pages.browser):
            break
        pages.browser.press("n")
    pages.browser.click(".chosen button")
    assert chosen(pages.browser) != before
    pages.browser.click("button[title='show or hide communication, copies and hosts']")
    assert pages.browser.run("return document.querySelector('.timeline canvas').clientHeight") > 8 * 2 * 22
    assert pages.browser.console() == []

    # Who waits, and for what: as many rows as ranks, each with the seconds of its waits.
    waits = pages.browser.run(
        "return documents.timeline.ranks.map(rank => d3.sum(rank.waits.duration_ns) / documents.timeline.step_time_ns)")
    shown = pages.browser.run("return [...document.querySelectorAll('#waits tbody tr')].map(row => row.children[3].textContent)")
    assert [f"{100 * share:.1f} %" for share in waits] == shown, (waits, shown)

    # The largest scenario here.
    page = pages.path("405b.html")
    result = json.loads(pages.stepsim("run", scenario("llama3-405b-16384xh100"), "--format", "json", "--html", page))
    pages.look("run-llama3-405b", page, result)
    stages = pages.browser.run("return new Set(documents.timeline.ranks.map(rank => rank.stage)).size")
    assert stages == 16, stages
