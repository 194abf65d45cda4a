#!/usr/bin/env python3
"""Looks at an integration's pages as a user does, with a real Chromium: what one sees first, the tree of tests, links, weights and first bytes.

    Tests/Acceptance/browser_integration.py [DIRECTORY]     with a directory, it also writes pictures there: light, dark, phone

The integrations are real: a C program in three configurations with 400 tests, 4 of which fail, and warnings of gcc; then one with 20,000 tests.
It needs gcc, make and Debian's chromium, chromium-driver and python3-selenium. PyPI's axe-selenium-python carries axe-core.
"""
import gzip, importlib.util, pathlib, re, shutil, statistics, subprocess, sys, time, urllib.parse, urllib.request

from acceptance import Daemon, Place, Repository, claim, finish, skip, within

SUITES = ["Parser", "Writer", "Header", "Body", "Path", "Cache", "Index", "Store", "Queue", "Clock",
          "Digest", "Token", "Route", "Limit", "Mask", "Pack", "Lock", "Tree", "Diff", "Merge"]
SOURCE = """#include <stdio.h>
#include <string.h>

int parse(const char *line) {{
    int unused;
    unsigned length = strlen(line);
    if (length < -1) return {value};
    return (int)length;
}}

int write_all(const char *text) {{
    int also_unused;
    return printf("%s", text);
}}

int main(void) {{ return parse("") + write_all(""); }}
"""
MAKEFILE = """all: kit
kit: src/kit.c
\t$(CC) -Wall -Wextra $(CFLAGS) -o kit src/kit.c
check:
\tpython3 tests/run.py build/junit.xml
.PHONY: all check
"""
RUNNER = """import os, pathlib, sys, xml.sax.saxutils as sax
suites, each, failing, skipped = {suites!r}, {each}, {failing!r}, {skipped!r}
chosen = [name for name in os.environ.get("MARTLET_TESTS", "").splitlines() if name]
lines, failures = ['<?xml version="1.0"?><testsuites>'], 0
for suite in suites:
    lines.append(f'<testsuite name="{{suite}}">')
    for number in range(each):
        name = f"case{{number}}"
        if chosen and f"{{suite}}/{{name}}" not in chosen:
            continue
        line = f'<testcase classname="{{suite}}" name="{{name}}" time="{{(number * 37 + len(suite) * 11) % 900 / 1000}}" file="tests/run.py" line="{{9 + number % 3}}">'
        if f"{{suite}}/{{name}}" in failing and not (chosen and os.path.exists({marker!r})):
            failures += 1
            line += '<failure message="expected 3, got 2">' + sax.escape("expected 3, got 2\\n  at <parse> & <write>") + "</failure>"
        if f"{{suite}}/{{name}}" in skipped:
            line += '<skipped message="needs a display"/>'
        lines.append(line + "</testcase>")
    lines.append("</testsuite>")
pathlib.Path(sys.argv[1]).parent.mkdir(parents=True, exist_ok=True)
pathlib.Path(sys.argv[1]).write_text("\\n".join(lines) + "</testsuites>")
sys.exit(failures > 0)
"""
RECIPE = """configurations:
  debug: {{ build: make CFLAGS=-g, test: make check, test-only: make check, report: build/junit.xml }}
  release: {{ build: make CFLAGS=-O2, test: make check, test-only: make check, report: build/junit.xml }}
  sanitized: {{ build: "make CFLAGS='-g -fsanitize=address'", test: make check, test-only: make check, report: build/junit.xml }}
analyze: []
archive: {{ include: [kit] }}
"""
FAILING = ["Parser/case3", "Parser/case7", "Merge/case0", "Token/case19"]
COUNT = "400 tests in 3 configurations, 4 fail, 1 skipped"


class Browser:
    """A headless Chromium. `None` from `find()` where Debian's chromium-driver or Python's selenium is not installed."""

    @staticmethod
    def find():
        try:
            from selenium import webdriver
            from selenium.webdriver.chrome.service import Service
        except ImportError:
            return None
        driver = shutil.which("chromedriver")
        return Browser(webdriver, Service(driver)) if driver and shutil.which("chromium") else None

    def __init__(self, webdriver, service):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for option in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
            options.add_argument(option)
        self.driver = webdriver.Chrome(service=service, options=options)
        found = importlib.util.find_spec("axe_selenium_python")
        self.axe = found and (pathlib.Path(list(found.submodule_search_locations)[0]) / "node_modules/axe-core/axe.min.js").read_text()

    def open(self, url, size=(1280, 900), dark=False):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size[0] < 600})
        self.driver.get(url)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def violations(self):
        """What axe-core finds on the page, a line each."""
        self.driver.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
        self.driver.refresh()
        self.driver.execute_script(self.axe)
        found = self.driver.execute_async_script("const done = arguments[0]; axe.run().then(r => done(r.violations), e => done([{id: String(e), nodes: []}]))")
        return [f"{v['id']}: {len(v['nodes'])} × {v['nodes'][0]['html'][:120] if v['nodes'] else ''}" for v in found]


def integrate(daemon, bot, repository, files, subject, limit=240):
    before = repository.git("rev-parse", "HEAD")
    commit = repository.commit(files, subject=subject)
    daemon.push(bot, f"browser-{bot}-{'-'.join(subject.split())}", before, commit)
    done = daemon.completed(bot, commit, limit=limit)
    if done is None:
        sys.exit(f"the integration of {bot} did not end; see MARTLET_KEEP=1")
    return done["number"]


def runner(each, suites, marker, failing=FAILING, skipped=("Queue/case5",)):
    return RUNNER.format(each=each, suites=suites, failing=list(failing), skipped=list(skipped), marker=marker)


def files(value, tests):
    return {"src/kit.c": SOURCE.format(value=value), "Makefile": MAKEFILE, "tests/run.py": tests, ".martlet.yml": RECIPE.format()}


def first_bytes(daemon, path, times=40):
    """The 95th percentile of the time to the first byte, in milliseconds, and the page."""
    figures, body = [], b""
    for _ in range(times):
        begun = time.perf_counter()
        with urllib.request.urlopen(daemon.url + path, timeout=30) as answer:
            head = answer.read(1)
            figures.append((time.perf_counter() - begun) * 1000)
            body = head + answer.read()
    return statistics.quantiles(figures, n=20)[-1], body


def one_count(daemon, number):
    pages = {"/": "the overview", "/bots/kit": "the bot", f"/bots/kit/{number}": "the integration", f"/bots/kit/{number}/tests": "the tests"}
    for path, name in pages.items():
        claim(COUNT in daemon.ask(path)[1].decode(), f"one count on the page of {name}", path)
    shown = daemon.command("show", f"kit#{number}")
    claim(COUNT in shown.stdout, "one count on the command line", shown.stderr.strip()[:60])
    says = daemon.get(f"/api/v1/bots/kit/integrations/{number}").get("summary", {}).get("tally", {}).get("says")
    claim(says == COUNT, "one count in JSON", str(says))


def first_sight(browser, daemon, number):
    browser.open(f"{daemon.url}/bots/kit/{number}")
    sentence = browser.run("return document.querySelector('.lead').textContent")
    claim(sentence.startswith("Tests fail: " + COUNT), "the verdict is a sentence", sentence)
    names = browser.run("return [...document.querySelectorAll('.fail h3 a')].map(a => a.textContent)")
    claim(sorted(names) == sorted(n.split("/")[1] for n in FAILING), "one card a failing test, by its name", ", ".join(names))
    marked = browser.run("return [...document.querySelectorAll('.fail .marked')].length")
    claim(marked == 4, "each card marks its line in the source", f"{marked} of 4")
    tops = browser.run("return ['issues', 'warnings', 'configurations', 'tests'].map(id => document.getElementById(id).getBoundingClientRect().top)")
    claim(tops == sorted(tops), "failures come first, then warnings, configurations and tests")
    rules = browser.run("return [...document.querySelectorAll('.fold .name')].map(n => n.textContent)")
    claim(any("unused" in rule for rule in rules), "warnings are folded by rule", ", ".join(rules))
    log = browser.run("return document.querySelector('.facts-line a').getAttribute('href')")
    claim(daemon.ask(log)[0] == 200, "a card leads to the log", log)


def tree(browser, daemon, number):
    path = f"/bots/kit/{number}/tests"
    browser.open(daemon.url + path)
    rows = "[...document.querySelectorAll('.tree tbody tr')].filter(r => !r.hidden && !r.closest('details').hidden)"
    claim(browser.run(f"return {rows}.length") == 400, "the tree has all tests")
    first = browser.run("return document.querySelector('.tree .name').textContent")
    claim(first in ("Parser", "Merge", "Token"), "suites with failing tests come first", first)
    box = browser.driver.find_element("css selector", ".tree-search input[type=search]")
    box.send_keys("parser/case1")
    claim(within(5, lambda: browser.run(f"return {rows}.length") == 11), "typing filters the page", "parser/case1")
    box.submit()
    claim(within(5, lambda: "query=" in browser.driver.current_url) and browser.run(f"return {rows}.length") == 11, "the search works without a script, too")
    browser.open(daemon.url + path + "?failing")
    claim(browser.run(f"return {rows}.length") == 4, "only failing tests")
    browser.open(daemon.url + path + "?slowest")
    took = browser.run("return [...document.querySelectorAll('.tree tbody td.num')].slice(0, 3).map(t => t.textContent)")
    claim(took == sorted(took, reverse=True), "the slowest first", ", ".join(took))


def ticked(browser, daemon, number, marker):
    """Signs in, ticks the failing tests and runs them again."""
    if daemon.ask("/sign-in")[0] != 200:
        return skip("ticked tests run again", "this build has no sign-in")
    token = daemon.command("token", "create", "browser", "--role", "operator").stdout.split()[-1]
    browser.open(daemon.url + "/sign-in")
    field = browser.driver.find_element("css selector", "input[name=token]")
    field.send_keys(token)
    field.submit()
    within(10, lambda: "/sign-in" not in browser.driver.current_url)
    marker.touch()
    browser.open(f"{daemon.url}/bots/kit/{number}/tests?failing")
    browser.driver.find_element("css selector", "[data-tick=failing]").click()
    button = browser.driver.find_element("css selector", ".tree-run button")
    claim(button.text == "Run 4 tests again", "the button says what it does", button.text)
    button.click()
    record = f"/api/v1/bots/kit/integrations/{number}"
    done = within(90, lambda: (r := daemon.get(record)).get("run") == 2 and r.get("state") == "completed" and r, pause=0.3)
    claim(bool(done) and done["summary"]["tally"]["failing"] == 0, "ticked tests run again", str(done and done["summary"]["tally"]["says"]))


def accessible(browser, daemon, paths, pictures):
    modes = {"light": {}, "dark": {"dark": True}, "phone": {"size": (390, 844)}}
    for name, path in paths.items():
        for mode, options in modes.items():
            browser.open(daemon.url + path, **options)
            if pictures:
                whole = browser.run("return Math.min(4000, document.documentElement.scrollHeight)")
                browser.open(daemon.url + path, **{**options, "size": (options.get("size", (1280, 0))[0], max(800, whole))})
                browser.driver.save_screenshot(str(pictures / f"{name}-{mode}.png"))
            wide = browser.run("return document.documentElement.scrollWidth - window.innerWidth")
            claim(wide <= 0, f"{name}, {mode}: nothing is wider than the window", f"{wide} px")
            if not browser.axe:
                skip(f"{name}, {mode}: axe-core", "needs PyPI's axe-selenium-python")
                continue
            found = browser.violations()
            claim(not found, f"{name}, {mode}: axe-core finds nothing", "; ".join(found))


def large(daemon, place):
    """An integration of 20,000 tests: weights and first bytes."""
    big = Repository(place, "big-source")
    suites = [f"Suite{number}" for number in range(200)]
    big.commit(files(1, runner(100, suites, "", failing=["Suite7/case7"], skipped=[])), subject="Begin")
    daemon.bot("big", big, "branches: [main]\n")
    within(30, lambda: daemon.ask("/bots/big")[0] == 200)
    number = integrate(daemon, "big", big, {"NOTES": "1\n"}, "Test 20,000 times", limit=400)
    for path in (f"/bots/big/{number}", f"/bots/big/{number}/tests", f"/bots/big/{number}/tests?slowest", f"/bots/big/{number}/tests?query=case9", f"/bots/big/{number}/issues"):
        p95, body = first_bytes(daemon, path)
        weight = len(gzip.compress(body, 6))
        claim(weight <= 100_000, f"{path} weighs at most 100 kB compressed", f"{weight / 1000:.1f} kB of {len(body) / 1000:.0f} kB")
        claim(p95 <= 50, f"the first byte of {path} comes within 50 ms", f"p95 {p95:.1f} ms")


def main():
    browser = Browser.find()
    if browser is None:
        skip("an integration's pages in a browser", "needs chromium, chromium-driver and python3-selenium")
        finish()
    pictures = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    with Place() as place:
        marker = place / "green"
        daemon, kit = Daemon(place, "isolation: none\n"), Repository(place, "kit-source")
        kit.commit(files(1, runner(20, SUITES, str(marker), failing=["Parser/case3"])), subject="Parse and write")
        daemon.bot("kit", kit, "branches: [main]\nforge: gitea\n")
        if daemon.start() is None:
            sys.exit("the daemon does not answer; see MARTLET_KEEP=1")
        try:
            integrate(daemon, "kit", kit, {"NOTES": "1\n"}, "Note what is next")
            number = integrate(daemon, "kit", kit, files(2, runner(20, SUITES, str(marker))), "Return two, which breaks three tests more")
            one_count(daemon, number)
            broken = integrate(daemon, "kit", kit, {"src/kit.c": SOURCE.format(value="missing")}, "Return what is not there")
            first_sight(browser, daemon, number)
            tree(browser, daemon, number)
            test = urllib.parse.quote("Parser/case3", safe="")
            accessible(browser, daemon, {
                "integration": f"/bots/kit/{number}", "broken": f"/bots/kit/{broken}", "tree": f"/bots/kit/{number}/tests",
                "issues": f"/bots/kit/{number}/issues", "tests": "/bots/kit/tests", "test": f"/bots/kit/tests/history?name={test}"}, pictures)
            ticked(browser, daemon, number, marker)
            large(daemon, place)
        finally:
            browser.driver.quit()
            daemon.stop()
    finish()


main()
