# Opens pages of `stepsim sweep`: over one, two and three axes, with points that are not ok, and with none that is.
# Usage: sweep_page.py PROGRAM PICTURES [POINTS]; POINTS: the page of so many points, alone
import csv
import io
import json
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from check import Pages, WIDTHS  # noqa: E402

SCENARIOS = os.path.join(os.path.dirname(__file__), "..", "..", "scenarios")
GPT = os.path.join(SCENARIOS, "gpt-22b-8xa100.yaml")
MLP = os.path.join(SCENARIOS, "mlp-buckets-8xv100.yaml")
SPLIT = ["--vary", "parallelism.tensor,parallelism.pipeline.stages=8:1,4:2,2:4"]


def swept(pages, name, *arguments, codes=(0,)):
    page, store = pages.path(name + ".html"), pages.path(name + ".db")
    result = json.loads(pages.stepsim("sweep", *arguments, "--db", store, "--format", "json", "--html", page, codes=codes))
    again = pages.stepsim("sweep", *arguments, "--db", store, "--format", "csv", codes=codes)
    return page, result, again


def rows_of(browser):
    return browser.run("return document.querySelectorAll('#points tbody tr').length")


def check_points(pages, result, table):
    """Every point is drawn once, and the table that is copied is that of --format csv without its causes."""
    held = list(csv.reader(io.StringIO(pages.browser.run(
        "return document.querySelector('#points').closest('section').querySelector('div').csv()"))))
    printed = {row["point"]: row for row in csv.DictReader(io.StringIO(table))}
    assert len(held) - 1 == len(result["points"]), (len(held), len(result["points"]))
    for row in held[1:]:
        for name, value in zip(held[0], row):
            other = printed[row[0]][name]
            assert value == other or float(value) == float(other), (row[0], name, value, other)


with Pages(*sys.argv[1:3]) as pages:
    browser = pages.browser
    if len(sys.argv) > 3:
        points = int(sys.argv[3])
        page, result, table = swept(
            pages, "many", MLP, "--vary", "parallelism.data.bucket=1MiB..100MiB+1MiB", "--vary",
            "training.micro_batch=16,32,64,128,256", "--vary", "host.launch=1us..20us+1us", "--random", str(points))
        took = browser.open(page, WIDTHS["desktop"])
        print(f"{result['counts']['ok']} points: {os.path.getsize(page) / 1e6:.2f} MB, drawn in {took:.2f} s")
        assert browser.console() == []
        browser.click("input[type=search]")
        browser.press("256 MiB")
        assert 0 < rows_of(browser) <= 200
        browser.screenshot(os.path.join(pages.pictures, "sweep-many.png"))
        sys.exit()

    page, result, table = swept(pages, "line", MLP, "--vary", "parallelism.data.bucket=1MiB..256MiB*2")
    pages.look("sweep-line", page, result, fewest=4)
    check_points(pages, result, table)
    assert browser.run("return document.querySelectorAll('circle[data-point]').length") == 9
    assert browser.run("return [...document.querySelectorAll('rect')].length") == 1, "the flat range"

    page, result, table = swept(pages, "map", GPT, *SPLIT, "--vary", "training.micro_batch=1,2,4,8")
    pages.look("sweep-map", page, result, fewest=4)
    check_points(pages, result, table)
    assert browser.run("return document.querySelectorAll('rect[data-point]').length") == 12
    assert any(point["state"] == "refused" for point in result["points"])

    page, result, table = swept(pages, "axes", GPT, *SPLIT, "--vary", "training.micro_batch=1,2",
                                "--vary", "training.recompute=none,full")
    pages.look("sweep-axes", page, result, fewest=4)
    ok = sum(point["state"] == "ok" for point in result["points"])
    assert rows_of(browser) == ok, "the table has the points that the axes keep"
    browser.click("input[type=search]")
    browser.press("full")
    assert 0 < rows_of(browser) < ok
    browser.click("#points th:last-child button")
    assert browser.console() == []

    page, result, table = swept(pages, "none", GPT, "--vary", "training.micro_batch=3,5", codes=(1,))
    pages.look("sweep-none", page, result, fewest=0)
    assert "No point is ok" in browser.run("return document.body.textContent")
