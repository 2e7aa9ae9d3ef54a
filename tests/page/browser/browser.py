"""Chromium, driven through its debugging pipe: pages are opened, looked at and typed into."""
import base64
import json
import os
import select
import shutil
import subprocess
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
KEYS = {"Escape": 27, "Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
        "Tab": 9, "Backspace": 8, "Home": 36, "F6": 117}
TEXTS = {"Enter": "\r"}
SHIFTED = set("ABCDEFGHIJKLMNOPQRSTUVWXYZ?{}+")
ALT, CTRL, SHIFT = 1, 2, 8
BUTTONS = {"left": 1, "middle": 4}


def program():
    return next((path for path in map(shutil.which, NAMES) if path), None)
# The program runs, and shows a state, a complaint, or a report alone.
READY = ("document.readyState === 'complete' && location.protocol === 'file:' && !document.getElementById('page').hidden"
         " && (document.getElementById('status-text').textContent !== '' || !document.getElementById('alarm').hidden"
         " || !document.getElementById('report').hidden)")


class Browser:
    def __init__(self, folder, *options):
        ours, theirs = os.pipe(), os.pipe()
        self.reading, self.writing = theirs[0], ours[1]

        def prepare():
            os.dup2(ours[0], 3)
            os.dup2(theirs[1], 4)

        # High numbers: 3 and 4 must not be among the pipes' own.
        keep = [os.dup(fd) for fd in (ours[0], theirs[1])]
        self.process = subprocess.Popen(
            [program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--no-first-run", "--user-data-dir=%s" % folder, *options, "about:blank"],
            pass_fds=(3, 4), preexec_fn=prepare, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in (ours[0], theirs[1], *keep):
            os.close(fd)
        self.serial, self.buffer, self.events = 0, b"", []

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.reading)
        os.close(self.writing)

    def read(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.reading], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.reading, 1 << 20)
            if not part:
                raise EOFError("the browser ended")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, session=None, **params):
        self.serial += 1
        message = {"id": self.serial, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        while True:
            got = self.read(30)
            if got.get("id") == self.serial:
                assert "error" not in got, (method, got["error"])
                return got["result"]
            if "method" in got:
                self.events.append(got)

    def open(self, url, width=1280, height=800):
        return Page(self, url, width, height)


class Page:
    def __init__(self, browser, url, width, height):
        self.browser = browser
        target = browser.send("Target.createTarget", url="about:blank")
        self.target = target["targetId"]
        self.session = browser.send("Target.attachToTarget", targetId=self.target,
                                    flatten=True)["sessionId"]
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")
        self.send("Page.bringToFront")
        self.send("Page.navigate", url=url)

    def send(self, method, **params):
        return self.browser.send(method, self.session, **params)

    def close(self):
        self.browser.send("Target.closeTarget", targetId=self.target)
        self.browser.events = [e for e in self.browser.events if e.get("sessionId") != self.session]

    def ask(self, expression):
        """The value of an expression in the page."""
        got = self.send("Runtime.evaluate", expression=expression, returnByValue=True,
                        awaitPromise=True)
        assert "exceptionDetails" not in got, got
        return got["result"].get("value")

    def holds(self, expression):
        """Whether it is true; not while the page goes elsewhere."""
        try:
            return self.ask(expression)
        except AssertionError as error:
            if "navigated or closed" not in str(error):
                raise
            return False

    def wait(self, expression, seconds=20):
        """Until the expression is true."""
        end = time.monotonic() + seconds
        while not self.holds(expression):
            assert time.monotonic() < end, (expression, self.ask("document.body.innerText")[:2000])
            time.sleep(0.03)

    def press(self, key, modifiers=0):
        """One key; those that need Shift have it, as on a keyboard."""
        code = KEYS.get(key, ord(key.upper()) if len(key) == 1 else 0)
        text = key if len(key) == 1 else TEXTS.get(key)
        shared = {"key": key, "windowsVirtualKeyCode": code,
                  "modifiers": modifiers | (SHIFT if key in SHIFTED else 0)}
        self.send("Input.dispatchKeyEvent", type="keyDown", **shared, **({"text": text} if text else {}))
        self.send("Input.dispatchKeyEvent", type="keyUp", **shared)

    def type(self, text):
        """What a person types into a field."""
        self.send("Input.insertText", text=text)

    def mouse(self, kind, x, y, **more):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, modifiers=0, times=1):
        self.mouse("mouseMoved", x, y)
        for count in range(1, times + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.mouse(kind, x, y, button="left", clickCount=count, modifiers=modifiers)

    def drag(self, start, end, button="left", modifiers=0):
        held = {"button": button, "buttons": BUTTONS[button], "modifiers": modifiers}
        self.mouse("mouseMoved", *start)
        self.mouse("mousePressed", *start, clickCount=1, **held)
        for part in (0.5, 1):
            self.mouse("mouseMoved", *(a + (b - a) * part for a, b in zip(start, end)), **held)
        self.mouse("mouseReleased", *end, clickCount=1, **held)

    def wheel(self, x, y, along=0, across=0, modifiers=0):
        self.mouse("mouseWheel", x, y, deltaX=across, deltaY=along, modifiers=modifiers)

    def touch(self, kind, *points):
        self.send("Input.dispatchTouchEvent", type="touch" + kind,
                  touchPoints=[{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)])

    def picture(self):
        """The window as PNG."""
        return base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])

    def text(self, selector):
        return self.ask("document.querySelector(%s).textContent" % json.dumps(selector))

    def complaints(self):
        """Errors, and what was asked for besides the file itself."""
        found = []
        for event in self.browser.events:
            method, params = event["method"], event.get("params", {})
            if event.get("sessionId") != self.session:
                continue
            if method == "Runtime.exceptionThrown":
                found.append(params["exceptionDetails"].get("exception", {}).get("description", "exception"))
            elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(params["entry"]["text"])
            elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
                found.append(str(params["args"]))
            elif method == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith(("file:", "blob:", "data:")):
                    found.append("request of " + url)
        return found
