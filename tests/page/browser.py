# A headless browser, driven by chromedriver through the WebDriver protocol (W3C).
import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.request

# Without these the browser asks hosts on the network for updates and wants a sandbox, which root has none of.
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-extensions",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
         "--disable-dev-shm-usage", "--force-prefers-reduced-motion"]
PATIENCE_S = 120  # a browser that says nothing for so long has hung, however busy the machine is


class Browser:
    """One browser with one window. Leaves nothing behind."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="stepsim-browser-")
        self.log = open(os.path.join(self.profile, "chromedriver.log"), "w+")
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=self.log, stderr=self.log)
        self.session = f"http://127.0.0.1:{self._port()}"
        options = {"args": FLAGS + [f"--user-data-dir={self.profile}"], "binary": shutil.which("chromium")}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session += f"/session/{answer['sessionId']}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.log.close()
            shutil.rmtree(self.profile, ignore_errors=True)

    def _port(self):
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until and self.driver.poll() is None:
            with open(self.log.name) as log:
                found = re.search(r"started successfully on port (\d+)", log.read())
            if found:
                return found.group(1)
            time.sleep(0.05)
        raise RuntimeError("chromedriver does not start")

    def _call(self, method, path, body=None):
        request = urllib.request.Request(self.session + path, method=method,
                                         data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def open(self, path, width, height=900):
        """Opens a page of stepsim and waits until it is drawn; returns the seconds that this took it."""
        self.resize(width, height)
        self._call("POST", "/url", {"url": "file://" + os.path.abspath(path)})
        until = time.monotonic() + PATIENCE_S
        while not self.run("return document.body.dataset.ready === 'yes'"):
            if time.monotonic() > until or self.run("return document.querySelector('.error') !== null"):
                raise AssertionError(f"{path} is not drawn: {self.console()}")
            time.sleep(0.05)
        return self.run("return performance.now()") / 1000

    def resize(self, width, height):
        # A window is at least 500 pixels wide; the page in it can be narrower.
        self._call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}})

    def run(self, script, *arguments):
        """What the script returns, which is the body of a function."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def find(self, selector):
        return self._call("POST", "/element", {"using": "css selector", "value": selector})

    def click(self, selector, x=None, y=None):
        """Clicks into the middle of an element, or at a place that is counted from its upper left corner."""
        self.run("const box = document.querySelector(arguments[0]).getBoundingClientRect();"
                 "scrollBy(0, box.top + (arguments[1] ?? box.height / 2) - innerHeight / 2)", selector, y)
        left, top, width, height = self.run(
            "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return [box.left, box.top, box.width, box.height]", selector)
        at = {"x": round(left + (width / 2 if x is None else x)), "y": round(top + (height / 2 if y is None else y))}
        self._call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [
            {"type": "pointerMove", "duration": 0, **at}, {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0}]}]})

    def settle(self):
        """Waits until what has been asked for is drawn."""
        self.run("return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def press(self, keys):
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def console(self):
        """What the page said of itself since this was asked last: messages of errors."""
        return [line["message"] for line in self._call("POST", "/se/log", {"type": "browser"})
                if line["level"] == "SEVERE"]

    def screenshot(self, path):
        """A picture of the whole page."""
        height = self.run("return document.documentElement.scrollHeight")
        shot = self._call("POST", "/goog/cdp/execute", {"cmd": "Page.captureScreenshot", "params": {
            "captureBeyondViewport": True, "clip": {
                "x": 0, "y": 0, "width": self.run("return innerWidth"), "height": height, "scale": 1}}})
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))
