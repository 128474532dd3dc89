# Opens the index that `stepsim report` makes of a folder: a history against a baseline, pages, and what is no result.
# Usage: index_page.py PROGRAM PICTURES
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(__file__))
from check import Pages  # noqa: E402

SCENARIOS = os.path.join(os.path.dirname(__file__), "..", "..", "scenarios")

with Pages(*sys.argv[1:3]) as pages:
    history = pages.path("history")
    os.mkdir(history)
    steps = {}
    for night, bucket in enumerate(("1 MiB", "25 MiB", "64 MiB"), start=1):
        name = os.path.join(history, f"night-{night}")
        result = pages.stepsim("run", os.path.join(SCENARIOS, "mlp-buckets-8xv100.yaml"), "--set",
                               f"parallelism.data.bucket={bucket}", "--format", "json", "--html", name + ".html")
        with open(name + ".json", "w") as file:
            file.write(result)
        steps[os.path.basename(name) + ".json"] = json.loads(result)["step_time_s"]
    pages.stepsim("explain", os.path.join(SCENARIOS, "gpt-launches-8xh100.yaml"), "--html", os.path.join(history, "a.html"))
    # A name that would be an address of another kind stays a name.
    shutil.copyfile(os.path.join(history, "a.html"), os.path.join(history, "javascript:#.html"))
    with open(os.path.join(history, "other.json"), "w") as file:
        file.write("{}")
    with open(os.path.join(history, "other.html"), "w") as file:
        file.write("<p>somebody's own")

    def made():
        return json.loads(pages.stepsim("report", history, "--baseline", os.path.join(history, "night-2.json"),
                                        "--format", "json"))

    result = made()
    assert {entry["file"]: entry["step_time_s"] for entry in result["entries"]} == steps
    base = steps["night-2.json"]
    for entry in result["entries"]:
        assert abs(entry["change_fraction"] - (entry["step_time_s"] / base - 1)) < 1e-9
        assert entry["page"] == entry["file"].replace(".json", ".html")
    assert [each["page"] for each in result["pages"]] == ["a.html", "javascript:#.html"], result["pages"]
    assert len(result["skipped"]) == 1 and "other.json" in result["skipped"][0], result["skipped"]
    assert made() == result, "an index lists itself"

    index = os.path.join(history, "index.html")
    pages.look("index", index, result, fewest=12)
    browser = pages.browser
    assert browser.run("return document.querySelectorAll('circle[data-point]').length") == 3
    links = browser.run("return [...document.querySelectorAll('a')].map(link => link.getAttribute('href'))")
    assert sorted(links) == ["./a.html", "./javascript%3A%23.html", "./night-1.html", "./night-2.html",
                             "./night-3.html"], links
    browser.click("#results a")
    browser.settle()
    assert browser.run("return location.pathname").endswith("night-1.html")

    # A folder with nothing to list, and one that is not there.
    os.mkdir(pages.path("empty"))
    pages.stepsim("report", pages.path("empty"), codes=(2,))
    pages.stepsim("report", pages.path("nowhere"), codes=(4,))
