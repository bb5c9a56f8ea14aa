"""Drives a headless Chromium through its pipe: opens pages, presses keys, takes pictures."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
LIMIT = 30


class Browser:
    """One page. `messages` are the errors and warnings that it wrote to its console."""

    def __init__(self, width=1440, height=900):
        program = next((each for each in map(shutil.which, NAMES) if each), None)
        if program is None:
            raise RuntimeError("no Chromium: scripts/deps installs it")
        self.home = tempfile.TemporaryDirectory()
        self.log = open(os.path.join(self.home.name, "log"), "wb")
        to_read, self.to = os.pipe()
        self.back, from_write = os.pipe()

        def pipes():
            """It reads from 3 and writes to 4; neither may be overwritten before it is copied."""
            high_read, high_write = os.dup(to_read), os.dup(from_write)
            high_read, high_write = os.dup2(high_read, 30), os.dup2(high_write, 31)
            os.dup2(high_read, 3)
            os.dup2(high_write, 4)

        self.process = subprocess.Popen(
            [
                program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={self.home.name}/profile",
                f"--window-size={width},{height}", "--hide-scrollbars", "about:blank",
            ],
            stdout=self.log, stderr=self.log, preexec_fn=pipes, close_fds=False,
        )  # fmt: skip
        os.close(to_read)
        os.close(from_write)
        self.number = 0
        self.rest = b""
        self.messages = []
        self.session = None
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(each for each in targets if each["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for each in ("Page", "Runtime", "Log"):
            self.call(f"{each}.enable")
        self.size(width, height)

    def size(self, width, height):
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    def dark(self, on):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if on else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def call(self, method, **arguments):
        """One command's result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": arguments}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data) :]
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            found = self.next_message()
            if found.get("id") == self.number:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']}")
                return found["result"]
            self.note(found)
        raise RuntimeError(f"{method}: no answer")

    def next_message(self):
        while b"\0" not in self.rest:
            part = os.read(self.back, 1 << 20)
            if not part:
                raise RuntimeError("the browser has gone")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        kind, about = message.get("method"), message.get("params", {})
        if kind == "Runtime.exceptionThrown":
            details = about["exceptionDetails"]
            self.messages.append(details.get("exception", {}).get("description") or details["text"])
        elif kind == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.messages.append(str([each.get("value") for each in about["args"]]))
        elif kind == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.messages.append(about["entry"]["text"])

    def open(self, address):
        """Shows a page, and waits until it says that it is ready."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)
        self.wait("document.body && document.body.dataset.ready === 'yes'")

    def wait(self, condition):
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            if self.value(f"Boolean({condition})"):
                return
            time.sleep(0.02)
        raise AssertionError(f"never true: {condition}; {self.messages}")

    def value(self, expression):
        """What an expression is in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"].get("exception", {}).get("description", "exception"))
        return found["result"].get("value")

    def painted(self):
        """Two frames later everything that was asked for is on the screen."""
        self.call(
            "Runtime.evaluate", awaitPromise=True,
            expression="new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))))",
        )  # fmt: skip

    def key(self, key, modifiers=0):
        """One press. A letter also writes."""
        text = {"text": key} if len(key) == 1 else {}
        code = {"Enter": 13, "Escape": 27}.get(key, 0)
        for kind in ("keyDown", "keyUp"):
            more = text if kind == "keyDown" else {}
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, modifiers=modifiers, windowsVirtualKeyCode=code, **more
            )
        self.painted()

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)
        self.painted()

    def picture(self, path):
        self.painted()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        self.log.close()
        self.home.cleanup()
