#!/usr/bin/env python3
"""Signs in with a real browser and presses every button, against a real daemon that runs jobs.

    Tests/Acceptance/browser_sign.py [DIRECTORY]     with a directory, pictures of what was seen are written to it

It needs Debian's chromium, chromium-driver, python3-selenium and gcc, and PyPI's oidc-provider-mock, an OpenID Connect provider that runs on
loopback. Python finds the last in the environment that runs this program: `python3 -m venv --system-site-packages DIRECTORY`.
"""
import base64, hashlib, hmac, http.server, importlib.util, json, pathlib, shutil, subprocess, sys, threading, urllib.parse

from acceptance import SECRET, Daemon, Place, Repository, claim, finish, free_port, skip, within
from browser_pages import every_page

METER = {
    "meter.c": "#include <stdio.h>\n\nint main(void) {\n    int unused;\n    printf(\"1..2\\nok 1 - counts up\\nok 2 - wraps around\\n\");\n    return 0;\n}\n",
    "Makefile": "meter: meter.c\n\t$(CC) -Wall -O2 -o meter meter.c\ncheck: meter\n\t./meter\n.PHONY: check\n",
}
ARCHIVE = "recipe: { configurations: { debug: { build: make, test: make check, test-only: make check } }, analyze: [], archive: { include: [meter] } }\n"
SLEEP = "recipe: { configurations: { debug: { build: sleep 120, test: 'true' } }, analyze: [] }\n"


class Browser:
    """A headless Chromium with the steps of a person: open a page, fill in a field, press a button."""

    def __init__(self, target):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
        from selenium.webdriver.common.by import By
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for option in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
            options.add_argument(option)
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        self.driver.implicitly_wait(0)
        self.driver.set_window_size(1280, 900)
        self.by, self.target = By, target

    def open(self, url):
        self.driver.get(url)
        return self.driver.page_source

    def scripts(self, on):
        """Turns scripts on or off for the pages that are opened from now on."""
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not on})

    def find(self, selector):
        found = self.driver.find_elements(self.by.CSS_SELECTOR, selector)
        return found[0] if found else None

    def fill(self, selector, text):
        field = self.find(selector)
        field.clear()
        field.send_keys(text)

    def press(self, words, within_form=""):
        """Opens what hides the button, presses it, and returns the message of the page that follows."""
        xpath = f"//form[contains(@action, '{within_form}')]//button[contains(., '{words}')]"
        button = self.driver.find_element(self.by.XPATH, xpath)
        for details in self.driver.find_elements(self.by.XPATH, xpath + "/ancestor::details[not(@open)]"):
            details.find_element(self.by.TAG_NAME, "summary").click()
        self.driver.execute_cdp_cmd("Page.enable", {})
        page = self.find("html")
        button.click()
        within(20, lambda: self.is_gone(page))
        message = self.find(".said")
        return message.text if message else ""

    @staticmethod
    def is_gone(element):
        try:
            return element.tag_name is None
        except Exception:
            return True

    def unfold(self, words):
        for summary in self.driver.find_elements(self.by.TAG_NAME, "summary"):
            if words in summary.text and summary.find_element(self.by.XPATH, "..").get_attribute("open") is None:
                summary.click()
                return

    def bar(self):
        reader = self.find(".bar .reader")
        return reader.text if reader else ""

    def path(self):
        place = urllib.parse.urlsplit(self.driver.current_url)
        return place.path + ("?" + place.query if place.query else "")

    def picture(self, name):
        """Writes pictures of the page as it is: light, dark, and on a phone."""
        if self.target is None:
            return
        for suffix, scheme, size in (("", "light", (1280, 900)), ("-dark", "dark", (1280, 900)), ("-phone", "light", (390, 844))):
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                        {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size[0] < 600})
            self.driver.save_screenshot(str(self.target / f"{name}{suffix}.png"))
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "light"}]})


class Provider:
    """PyPI's provider on loopback, with two persons."""

    def __init__(self):
        self.port = free_port()
        self.issuer = f"http://127.0.0.1:{self.port}"
        people = [{"sub": "ann", "email": "ann@acme.example", "email_verified": True, "groups": ["ci-admins"]},
                  {"sub": "eve", "email": "eve@acme.example", "email_verified": False, "preferred_username": "eve"}]
        claims = [word for person in people for word in ("--user-claims", json.dumps(person))]
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(self.port), "--require-nonce", "true", *claims],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

    def stop(self):
        self.process.terminate()
        self.process.wait(10)


class Refuser(http.server.BaseHTTPRequestHandler):
    """A receiver of notices that wants no more of them, until it changes its mind."""
    status, count = 410, 0

    def do_POST(self):
        Refuser.count += 1
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(Refuser.status)
        self.end_headers()

    def log_message(self, *_):
        pass


def announce(daemon, bot, number, head):
    """Tells of a fork's pull request as GitHub does."""
    pull = {"number": number, "state": "open", "head": {"sha": head, "ref": "topic"}, "base": {"ref": "main"}, "user": {"login": "eve"}}
    body = json.dumps({"action": "opened", "number": number, "pull_request": pull, "repository": {}}).encode()
    code = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    return daemon.ask(f"/webhooks/github/{bot}", body, {
        "Content-Type": "application/json", "X-GitHub-Event": "pull_request", "X-GitHub-Delivery": f"pull-{number}",
        "X-Hub-Signature-256": f"sha256={code}"})[0]


def world(daemon, place, notices):
    """Three bots: one that is green with a warning, one whose job takes long, and one that publishes."""
    meter = Repository(place, "meter-source")
    meter.commit(METER, subject="Count in hexadecimal")
    daemon.secret("notices", "whsec_" + base64.b64encode(bytes(32)).decode())
    daemon.bot("meter", meter, "branches: [main]\npull-requests: approved\ninsecure: true\n"
               f"notify: [{{ name: team, webhook: 'http://127.0.0.1:{notices}/', secret: notices, when: [broke, fixed, new-issue] }}]\n" + ARCHIVE)
    daemon.bot("slow", meter, "branches: [main]\n" + SLEEP)
    daemon.bot("shop", meter, "branches: ['release/*']\ntriggers: [{ name: publish, branches: ['release/*'], publish: { version: branch } }]\n" + ARCHIVE)
    if daemon.start() is None:
        raise SystemExit("the daemon does not answer; see MARTLET_KEEP=1")
    return meter


def tell(daemon, bot, repository, before, branch="main", wait=True):
    commit = repository.git("rev-parse", "HEAD")
    daemon.push(bot, f"{bot}-{commit}", before, commit, branch)
    return daemon.completed(bot, commit, limit=180) if wait else commit


def sign_in(browser, daemon, provider, token):
    page = browser.open(daemon.url + "/bots/meter?branch=main")
    claim("Sign in to see this" in page, "a page that needs a right offers to sign in")
    browser.picture("refused")
    browser.find("main a.primary").click()
    browser.picture("sign-in")
    browser.fill("#token", "mt_" + "0" * 64)
    claim("not known here" in browser.press("Sign in", "/sign-in"), "a wrong token is refused with a sentence")
    browser.picture("sign-in-failed")
    browser.fill("#token", token)
    browser.press("Sign in", "/sign-in")
    claim(browser.path() == "/bots/meter?branch=main", "a token signs in, and the browser is back where it was", browser.path())
    claim(browser.bar().split("\n")[0] == "ops operator", "the bar shows name and role", browser.bar().replace("\n", " "))
    cookie = browser.driver.get_cookie("martlet")
    claim(cookie["httpOnly"] and cookie["sameSite"] == "Lax" and cookie["path"] == "/", "the cookie is for no script and no other site")
    claim(browser.driver.execute_script("return document.cookie") == "", "a script of the page sees no cookie")


def openid(browser, daemon, provider):
    browser.press("Sign out", "/sign-out")
    claim("You are signed out." in browser.driver.page_source and "Sign in" in browser.bar(), "the bar signs out")
    browser.open(daemon.url + "/sign-in?next=/sessions")
    browser.find("a.button.primary").click()
    claim(browser.driver.current_url.startswith(provider.issuer), "OpenID Connect leads to the provider", browser.driver.current_url.split("?")[0])
    sent = urllib.parse.parse_qs(urllib.parse.urlsplit(browser.driver.current_url).query)
    claim(sent["code_challenge_method"] == ["S256"] and sent["nonce"] and sent["state"], "with PKCE, nonce and state")
    browser.find("button[value=eve]").click()
    claim("has no role here" in browser.driver.page_source, "a person without a role and without a verified address is refused with a sentence")
    browser.picture("no-role")
    browser.open(daemon.url + "/sign-in?next=/sessions")
    browser.find("a.button.primary").click()
    browser.find("button[value=ann]").click()
    claim(browser.path() == "/sessions" and "ann@acme.example admin" in browser.bar(), "a group of the provider gives a role", browser.bar().replace("\n", " "))
    browser.picture("sessions")


def buttons(browser, daemon, meter, first, red):
    number = first["number"]
    page = f"{daemon.url}/bots/meter/{number}"
    browser.open(page)
    browser.picture("integration")
    # Mute and unmute
    browser.unfold("Mute")
    browser.fill("input[name=reason]", "of a <b>library</b>")
    browser.picture("mute")
    claim("Muted in all branches" in browser.press("Mute", "/mute"), "Mute")
    browser.open(page + "/issues")
    claim("of a <b>library</b>" in browser.find(".issues").text, "the reason is text, not a tag")
    claim("muted no more" in browser.press("Unmute", "/unmute"), "Unmute")
    # Run again
    done = lambda number=number: daemon.get(f"/api/v1/bots/meter/integrations/{number}")
    for words, what, which in (("Everything", "all", number), ("Failed configurations", "failed", red["number"])):
        browser.open(f"{daemon.url}/bots/meter/{which}")
        said = browser.press(words, "/rerun")
        claim(said.startswith(f"meter#{which} is queued again: debug."), f"Run again: {what}", said)
        within(60, lambda: done(which).get("state") == "completed")
    browser.open(page)
    said = browser.press("Failed configurations", "/rerun")
    claim(said.startswith(f"Nothing was changed: no configuration of meter#{number} failed"), "what did not fail is not run again", said)
    browser.open(page)
    browser.unfold("Run again")
    browser.fill("#rerun-test", "counts up")
    browser.picture("tests-again")
    said = browser.press("These tests", "/rerun")
    claim(said.startswith(f"meter#{number} is queued again"), "Run again: these tests", said)
    within(60, lambda: done().get("state") == "completed")
    who = [rerun.get("requestedBy") for rerun in done().get("reruns", [])]
    claim(who and set(who) == {"ann@acme.example"}, "a rerun names the person", str(set(who)))
    # Integrate
    browser.open(daemon.url + "/bots/meter")
    browser.unfold("Integrate")
    browser.fill("#integrate-branch", "main")
    browser.picture("integrate")
    said = browser.press("Integrate", "/integrate")
    claim("is queued: main at" in said and browser.path().startswith("/bots/meter/"), "Integrate: a branch", said)
    browser.open(daemon.url + "/bots/meter")
    browser.unfold("Integrate")
    browser.fill("#integrate-commit", first["commit"][:12])
    said = browser.press("Integrate", "/integrate")
    claim("is queued" in said, "Integrate: a commit", said)
    browser.open(daemon.url + "/bots/meter")
    browser.unfold("Integrate")
    browser.fill("#integrate-branch", "no/such")
    said = browser.press("Integrate", "/integrate")
    claim(said.startswith("Nothing was changed"), "a branch that does not exist is said", said)
    browser.picture("message")
    # Cancel
    tell(daemon, "slow", meter, "0" * 40, wait=False)
    running = within(60, lambda: next((i for i in daemon.integrations("slow") if i["state"] == "running"), None))
    browser.open(f"{daemon.url}/bots/slow/{running['number']}")
    browser.unfold("Cancel")
    browser.picture("running")
    said = browser.press("Cancel slow", "/cancel")
    claim(said == f"slow#{running['number']} is being canceled.", "Cancel", said)
    ended = daemon.completed("slow", running["commit"])
    claim(ended and ended["result"] == "canceled", "and it is canceled", ended and ended["result"])


def others(browser, daemon, meter):
    # Retry
    within(60, lambda: "given-up" in browser.open(daemon.url + "/outbox?state=given-up") and browser.find("form[action*=retry]"))
    browser.picture("outbox")
    Refuser.status, before = 200, Refuser.count
    claim("is sent again" in browser.press("Retry", "/retry"), "Retry")
    claim(within(30, lambda: Refuser.count > before), "and the message arrives")
    # Yank
    meter.commit(METER, subject="Wrap around again")
    meter.git("push", "-q", "origin", "HEAD:refs/heads/release/1.0")
    tell(daemon, "shop", meter, "0" * 40, "release/1.0")
    within(30, lambda: daemon.get("/api/v1/products/shop/versions").get("items"))
    browser.open(daemon.url + "/bots/shop/1")
    said = browser.press("Triggers", "/rerun")
    claim(said.startswith("shop#1 is queued again, its triggers alone."), "Run again: triggers", said)
    within(60, lambda: daemon.get("/api/v1/bots/shop/integrations/1").get("state") == "completed")
    browser.open(daemon.url + "/products/shop/1.0.0")
    browser.unfold("Yank")
    browser.picture("yank")
    claim("shop 1.0.0 is yanked" in browser.press("Yank", "/yank"), "Yank")
    # Approve
    meter.git("checkout", "-q", "--detach")
    head = meter.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "Of a fork")
    meter.git("push", "-q", "origin", f"{head}:refs/pull/5/head")
    announce(daemon, "meter", 5, head)
    waits = within(60, lambda: "Approve" in browser.open(daemon.url + "/bots/meter") and browser.find("form[action*=approve]"))
    if daemon.get("/api/v1/bots").get("isolation") != "sandbox":
        skip("Approve", "jobs are not sandboxed on this machine")
    elif claim(waits, "a fork's pull request waits with its button"):
        browser.unfold("Approve")
        browser.picture("approve")
        said = browser.press("Approve", "/approve")
        claim(said.startswith(f"meter!5 is approved at {head[:8]}"), "Approve", said)


def without_scripts(browser, daemon, first):
    browser.scripts(False)
    browser.open(f"{daemon.url}/bots/meter/{first['number']}")
    said = browser.press("Everything", "/rerun")
    claim("is queued again" in said, "a button works without script, and its message is there", said)
    browser.scripts(True)
    within(60, lambda: daemon.get(f"/api/v1/bots/meter/integrations/{first['number']}").get("state") == "completed")


def forgeries(browser, daemon):
    """A page of another origin sends the service's form with the browser's cookie."""
    page = (f"<form id=f method=post action='{daemon.url}/bots/meter/integrations/1/rerun'><input name=what value=all></form>"
            "<script>document.getElementById('f').submit()</script>").encode()

    class Attacker(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Attacker)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    before = len(daemon.get("/api/v1/bots/meter/integrations/1").get("reruns", []))
    browser.open(f"http://localhost:{server.server_port}/")
    refused = within(20, lambda: "A page of another site may not ask for this." in browser.driver.page_source)
    claim(refused, "a form of another site is refused with a sentence")
    claim(len(daemon.get("/api/v1/bots/meter/integrations/1").get("reruns", [])) == before, "and changes nothing")
    server.shutdown()
    browser.open(daemon.url + "/bots/meter?said=Your%20password%20is%20old")
    claim(browser.find(".said") is None, "a link puts no message on a page")
    browser.open(daemon.url + "/sign-in?next=//evil.example/")
    claim(browser.find("input[name=next]").get_attribute("value") == "/", "a sign-in leads to no other site")


def revoked(browser, daemon):
    sessions = daemon.command("token", "list").stdout.split("\nSESSION ")[-1]
    number = next(line.split()[0] for line in sessions.splitlines() if "ann@acme.example" in line)
    claim(daemon.command("token", "end-session", number).returncode == 0, "a session is listed with the tokens and ended by its number", number)
    claim("Your session has ended. Sign in again." in browser.open(daemon.url + "/sessions"), "the browser has to sign in again")


def main():
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None
    missing = [name for name in ("chromium", "chromedriver", "gcc", "make") if not shutil.which(name)]
    missing += [name for name in ("selenium", "oidc_provider_mock") if importlib.util.find_spec(name) is None]
    if missing:
        skip("signing in with a browser", "needs " + ", ".join(missing))
        finish()
    if target:
        target.mkdir(parents=True, exist_ok=True)
    refuser = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refuser)
    threading.Thread(target=refuser.serve_forever, daemon=True).start()
    provider, browser = Provider(), Browser(target)
    with Place() as place:
        daemon = Daemon(place, "anonymous: none\nconcurrency: 4\nsign-in:\n"
                        f"  openid: {{ issuer: '{provider.issuer}', client-id: martlet, secret: openid, roles: {{ admin: ci-admins, viewer: '@acme.example' }} }}\n")
        secret = place / "secrets/openid"
        secret.write_text("s3cret")
        secret.chmod(0o600)
        try:
            meter = world(daemon, place, refuser.server_port)
            reader = daemon.command("token", "create", "acceptance", "--role", "viewer").stdout.strip()
            asked = daemon.ask
            daemon.ask = lambda path, data=None, headers=None, **more: asked(
                path, data, {"Authorization": f"Bearer {reader}", **(headers or {})} if "/webhooks/" not in path else headers, **more)
            token = daemon.command("token", "create", "ops", "--role", "operator").stdout.strip()
            first = tell(daemon, "meter", meter, "0" * 40)
            before = meter.head
            meter.commit({"meter.c": METER["meter.c"].replace("ok 2", "not ok 2")}, subject="Stop wrapping around")
            red = tell(daemon, "meter", meter, before)
            sign_in(browser, daemon, provider, token)
            openid(browser, daemon, provider)
            buttons(browser, daemon, meter, first, red)
            others(browser, daemon, meter)
            every_page(browser, daemon, first, red, "signed in")
            without_scripts(browser, daemon, first)
            forgeries(browser, daemon)
            revoked(browser, daemon)
        finally:
            browser.driver.quit()
            provider.stop()
            daemon.stop()
            refuser.shutdown()
    finish()


if __name__ == "__main__":
    main()
