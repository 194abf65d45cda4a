#!/usr/bin/env python3
"""Reads logs as a person does, with a real Chromium: a running job directly and through nginx, 300,000 lines, seven tabs, the keyboard.

    Tests/Acceptance/browser_logs.py [DIRECTORY]     with a directory also pictures: light, dark and narrow

It needs Debian's chromium, chromium-driver, python3-selenium and nginx.
"""
import gzip, os, pathlib, subprocess, sys, time, urllib.request

from acceptance import Daemon, Place, Repository, claim, finish, free_port, skip, within

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    skip("logs in a browser", "needs python3-selenium")
    finish()

ERROR = "src/a.c:7:9: error: no such thing"
# A build that prints for half a minute: many lines, a progress bar, two bars above each other, and a step after it.
SLOW = r"""
i=1; while [ $i -le 400 ]; do echo "[$i/400] Compiling part $i"; i=$((i+1)); done
printf '\033[1mbold\033[0m \033[38;5;208morange\033[0m \033[38;2;30;200;90mtrue\033[0m \033[7mreverse\033[0m \033[9mstruck\033[0m \033[3mitalic\033[0m \033[97;41m FAIL \033[0m\n'
printf 'see https://ci.example/docs/a?b=c and \033]8;;https://ci.example/hidden\033\\a link\033]8;;\033\\, <script>alert(1)</script>\n'
i=1; while [ $i -le 40 ]; do printf '\rdownloading %3d %%' $((i*100/40)); sleep 0.1; i=$((i+1)); done; echo
echo one: 0; echo two: 0
i=1; while [ $i -le 20 ]; do printf '\033[2A\033[Kone: %d\n\033[Ktwo: %d\n' $i $((i*2)); sleep 0.1; i=$((i+1)); done
i=1; while [ $i -le SECONDS ]; do echo "tick $i"; sleep 0.25; i=$((i+1)); done
"""
TEST = "i=1; while [ $i -le 40 ]; do echo \"ok $i - part $i\"; sleep 0.1; i=$((i+1)); done\n"


def printing(lines):
    return (f"awk 'BEGIN {{ for (i = 1; i <= {lines}; i++) print (i == 123456 || i == 250000) ? \"{ERROR}\" : \"line \" i \" of the log\" }}'\n"
            "echo 'the last words'; exit 1\n")


def recipe(build, test="true"):
    return f"branches: [main]\nrecipe: {{ configurations: {{ debug: {{ build: '{build}', test: '{test}' }} }}, analyze: [] }}\n"


class Browser:
    """A headless Chromium with what the claims ask of it."""

    def __init__(self, size=(1280, 860)):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for option in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={size[0]},{size[1]}"):
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.driver.set_page_load_timeout(20)

    def open(self, url):
        self.driver.get(url)

    def js(self, text, *arguments):
        return self.driver.execute_script("return " + text, *arguments)

    def lines(self):
        """The text of the lines that the log shows, without their numbers."""
        return self.js("[...document.querySelectorAll('#log pre > span')].map(s => [...s.childNodes].slice(s.id ? 1 : 0).map(n => n.textContent).join(''))")

    def at_end(self):
        return self.js("innerHeight + scrollY >= document.documentElement.scrollHeight - 40")

    def follow(self):
        """Whether the page offers to follow; None where it has no such button."""
        return self.js("(b => b ? !b.hidden : null)(document.querySelector('.follow'))")

    def errors(self):
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE" and "favicon" not in entry["message"]]

    def picture(self, path, dark=False, size=(1280, 860)):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size[0] < 600})
        time.sleep(0.3)
        self.driver.save_screenshot(str(path))
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

    def pictures(self, target, name):
        if target:
            self.picture(target / f"{name}.png")
            self.picture(target / f"{name}-dark.png", dark=True)
            self.picture(target / f"{name}-narrow.png", size=(390, 844))


def nginx(place, port):
    """nginx with its defaults in front of the daemon; its port and process."""
    own = free_port()
    directory = place / "nginx"
    directory.mkdir()
    paths = " ".join(f"{kind}_temp_path {directory}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (directory / "nginx.conf").write_text(
        f"user root; daemon off; pid {directory}/pid; error_log {directory}/error; events {{}}\nhttp {{ access_log off; {paths}\n"
        f"  server {{ listen 127.0.0.1:{own}; location / {{ proxy_pass http://127.0.0.1:{port}; proxy_set_header Host $http_host; }} }} }}\n")
    process = subprocess.Popen(["/usr/sbin/nginx", "-p", str(directory), "-e", f"{directory}/error", "-c", f"{directory}/nginx.conf"])
    return f"http://127.0.0.1:{own}", process


def started(daemon, bot, repository, name):
    """Pushes a commit; returns the number of its integration when its job prints."""
    before = repository.git("rev-parse", "HEAD")
    commit = repository.commit({"NOTES": name}, subject=f"Print {name}")
    daemon.push(bot, f"{bot}-{'-'.join(name.split())}", before, commit)

    def printing():
        number = next((i["number"] for i in daemon.integrations(bot) if i["commit"] == commit), None)
        return number if number and len(daemon.ask(f"/api/v1/bots/{bot}/integrations/{number}/log/debug")[1]) > 10_000 else None
    return within(60, printing, pause=0.1), commit


def live(browser, daemon, base, number, how, target):
    """A job that runs is followed as it prints."""
    browser.open(f"{base}/bots/live/{number}/log/debug")
    claim(within(5, browser.at_end), f"the page of a running job opens at the end, {how}")
    claim(browser.follow() is False, f"it follows, so it offers nothing, {how}")
    claim(within(20, lambda: any("downloading" in line for line in browser.lines())), f"a line appears as it is printed, {how}")
    claim(within(20, lambda: "downloading 100 %" in browser.lines()), f"a progress bar is one line, {how}")
    claim(within(20, lambda: {"one: 20", "two: 40"} <= set(browser.lines())), f"bars above each other show their last state, {how}",
          str([line for line in browser.lines() if line[:3] in ("one", "two")]))
    claim(sum(line.startswith(("one:", "two:")) for line in browser.lines()) == 2, f"and only that, {how}")
    claim(within(10, lambda: "tick 3" in browser.lines()) and browser.at_end(), f"the page stays at the end, {how}")
    begun, known = time.monotonic(), len(browser.lines())
    within(5, lambda: len(browser.lines()) > known, pause=0.01)
    claim(time.monotonic() - begun < 2, f"the next line comes soon, {how}", f"{time.monotonic() - begun:.2f} s")
    # A person scrolls up, and reads.
    browser.js("scrollBy(0, -600)")
    claim(within(3, browser.follow), f"scrolling up stops following and offers to follow again, {how}")
    place, known = browser.js("scrollY"), len(browser.lines())
    claim(within(5, lambda: len(browser.lines()) > known) and browser.js("scrollY") == place, f"new lines do not move the page then, {how}")
    browser.pictures(target, "live")
    browser.driver.find_element(By.CSS_SELECTOR, ".follow").click()
    claim(within(3, browser.at_end) and browser.follow() is False, f"Follow goes to the end and follows, {how}")
    claim(browser.js("document.querySelectorAll('#log script').length") == 0
          and browser.js("[...document.querySelectorAll('#log pre a[rel]')].map(a => a.href).join()") == "https://ci.example/docs/a?b=c,https://ci.example/hidden",
          f"addresses are links, and nothing else of the output is an element, {how}")
    claim(within(60, lambda: browser.js("document.querySelectorAll('#log details.step').length") == 2), f"the heading of the next step appears, {how}")
    claim(within(60, lambda: browser.js("!document.querySelector('#log').dataset.log")), f"the page ends to follow when the job ends, {how}",
          browser.driver.find_element(By.CSS_SELECTOR, ".head").text.replace("\n", " "))
    claim(browser.errors() == [], f"no script failed, {how}", str(browser.errors())[:200])


def running(browser, daemon, number, target):
    """The page of an integration that runs; what a person does on it survives its changes."""
    browser.open(f"{daemon.url}/bots/live/{number}")
    claim(within(5, lambda: browser.js("document.querySelectorAll('.tail > span').length") == 8), "a running integration shows the last lines")
    browser.pictures(target, "running")
    # By the keyboard: to the link, and a part opened.
    element = browser.driver.find_element(By.CSS_SELECTOR, ".running .button")
    browser.js("arguments[0].focus()", element)
    browser.js("(document.querySelector('main').append(document.createElement('i')), scrollTo(0, 100))")
    place = browser.js("scrollY")
    # The element that is not in the answer goes with the next change.
    claim(within(60, lambda: browser.js("document.querySelectorAll('main > i').length") == 0), "the page changes as the integration does")
    claim(browser.js("document.activeElement === arguments[0]", element), "keyboard focus survives a live refresh")
    claim(browser.js("scrollY") == place, "scrolling survives a live refresh")
    tests = within(60, lambda: browser.js("(m => m && m.textContent.includes('so far') && m.textContent)(document.querySelector('.running article .meta'))")
                   or browser.driver.refresh(), pause=1)
    claim(tests, "tests so far are counted", str(tests))


def tabs(browser, daemon, number):
    """Seven tabs of one browser over HTTP/1.1."""
    first, loaded = browser.driver.current_window_handle, 0
    browser.open(f"{daemon.url}/bots/live/{number}/log/debug")
    for _ in range(7):
        browser.driver.switch_to.new_window("tab")
        begun = time.monotonic()
        browser.open(f"{daemon.url}/bots/live/{number}/log/debug")
        loaded += bool(browser.js("document.readyState === 'complete' && !!document.querySelector('#log')")) and time.monotonic() - begun < 10
    claim(loaded == 7, "seven tabs more of a running job load", f"{loaded}")
    streams = subprocess.run(["ss", "-tnH", "state", "established", f"( sport = :{daemon.port} )"], capture_output=True, text=True).stdout
    claim(0 < len(streams.splitlines()) <= 6, "with the connections that a browser opens", f"{len(streams.splitlines())}")
    known = len(browser.lines())
    claim(within(10, lambda: len(browser.lines()) > known), "the last of them follows")
    loaded = 0
    for _ in range(7):
        browser.driver.switch_to.new_window("tab")
        browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": "delete window.SharedWorker"})
        browser.open(f"{daemon.url}/bots/live/{number}/log/debug")
        loaded += bool(browser.js("document.readyState === 'complete' && !window.SharedWorker && !!document.querySelector('#log')"))
    claim(loaded == 7, "seven tabs more load where a browser has no shared workers", f"{loaded}")
    for handle in browser.driver.window_handles:
        if handle != first:
            browser.driver.switch_to.window(handle)
            browser.driver.close()
    browser.driver.switch_to.window(first)


def long(browser, daemon, number, lines, target):
    """A log of many lines."""
    page = f"{daemon.url}/bots/long/{number}/log/debug"
    browser.open(page)
    claim("the last words" in browser.lines(), f"a log of {lines:,} lines opens at its end")
    browser.driver.find_element(By.LINK_TEXT, "First error").click()
    claim(browser.js("location.hash") == "#L123456" and browser.js("(r => r.top > 0 && r.top < innerHeight)(document.querySelector(':target').getBoundingClientRect())"),
          "First error goes to it", browser.js("location.href")[len(daemon.url):])
    claim("m bad" in browser.js("document.querySelector(':target').className"), "the log marks it")
    browser.pictures(target, "error")
    browser.driver.find_element(By.NAME, "q").send_keys("NO SUCH", Keys.ENTER)
    found = within(5, lambda: browser.js("[...document.querySelectorAll('.found li a')].map(a => a.textContent)"))
    claim(found == ["123456", "250000"], "the whole log is searched", str(found))
    browser.pictures(target, "search")
    browser.driver.find_element(By.CSS_SELECTOR, ".found li:last-child a").click()
    claim(within(5, lambda: browser.js("document.querySelector(':target')?.id") == "L250000"), "a line that was found is shown")
    browser.open(page + "#L17")
    claim(within(5, lambda: browser.js("document.querySelector(':target')?.id") == "L17"), "`#L17` works from the page of the end", browser.js("location.search"))
    browser.js("(location.hash = 'L200000', 0)")
    claim(within(5, lambda: browser.js("document.querySelector(':target')?.id") == "L200000"), "and from the page of another line")
    browser.open(f"{daemon.url}/bots/long/{number}")
    browser.driver.find_element(By.CSS_SELECTOR, ".fail a[href*='#L']").click()
    claim(within(5, lambda: browser.js("document.querySelector(':target')?.id") == "L123456"), "an issue links to its line")
    browser.open(page + "?line=5&times")
    claim(browser.js("document.querySelector('#L5 time').textContent.length") == 8, "times are shown on demand")
    browser.driver.find_element(By.CSS_SELECTOR, "#log summary").click()
    claim(browser.js("!document.querySelector('#log details').open"), "steps fold")
    claim(browser.errors() == [], "no script failed", str(browser.errors())[:200])


def weights(daemon, number, lines):
    """First bytes and compressed sizes of the pages of a long log."""
    path = f"/bots/long/{number}/log/debug"
    for query in ("", "?from=0", f"?line={lines // 2}", f"?line={lines // 2}&times"):
        times, size = [], 0
        for _ in range(20):
            begun = time.monotonic()
            with urllib.request.urlopen(daemon.url + path + query) as answer:
                answer.read(1)
                times.append(time.monotonic() - begun)
                size = len(gzip.compress(answer.read(), 6))
        times.sort()
        claim(size <= 100_000, f"{lines:,} lines: the page {query or 'of the end'} is at most 100 kB compressed", f"{size / 1000:.0f} kB")
        claim(times[18] <= 0.05, f"{lines:,} lines: its first byte comes within 50 ms (p95)", f"{times[18] * 1000:.0f} ms, median {times[10] * 1000:.0f} ms")
    begun = time.monotonic()
    status, _ = daemon.ask(f"/api/v1/bots/long/integrations/{number}/log/debug/search?q=no+such+line")
    claim(status == 200 and time.monotonic() - begun < 2, f"{lines:,} lines: a search for what is nowhere ends", f"{time.monotonic() - begun:.2f} s")


def main():
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if not os.path.exists("/usr/bin/chromedriver") or not os.path.exists("/usr/sbin/nginx"):
        skip("logs in a browser", "needs chromium, chromium-driver and nginx")
        finish()
    if target:
        target.mkdir(parents=True, exist_ok=True)
    lines = int(os.environ.get("MARTLET_LINES", "300000"))
    with Place() as place:
        daemon = Daemon(place)
        repository, many = Repository(place, "live-source"), Repository(place, "long-source")
        repository.commit({"build.sh": SLOW.replace("SECONDS", "100"), "test.sh": TEST}, subject="Print slowly")
        many.commit({"build.sh": printing(lines)}, subject="Print a lot")
        daemon.bot("live", repository, recipe("sh build.sh", "sh test.sh"))
        daemon.bot("long", many, recipe("sh build.sh"))
        browser, proxy = None, None
        try:
            if daemon.start() is None:
                raise SystemExit("the daemon does not answer; see MARTLET_KEEP=1")
            base, proxy = nginx(place, daemon.port)
            browser = Browser()
            number, commit = started(daemon, "live", repository, "directly")
            live(browser, daemon, daemon.url, number, "directly", target)
            daemon.completed("live", commit)
            number, commit = started(daemon, "live", repository, "through nginx")
            live(browser, daemon, base, number, "through nginx", None)
            daemon.completed("live", commit)
            number, commit = started(daemon, "live", repository, "in tabs")
            tabs(browser, daemon, number)
            running(browser, daemon, number, target)
            before = many.git("rev-parse", "HEAD")
            commit = many.commit({"NOTES": "1"}, subject="Print again")
            daemon.push("long", "long-1", before, commit)
            done = daemon.completed("long", commit, limit=120)
            if claim(done is not None, f"an integration that prints {lines:,} lines ends"):
                long(browser, daemon, done["number"], lines, target)
                weights(daemon, done["number"], lines)
        finally:
            if browser:
                browser.driver.quit()
            if proxy:
                proxy.terminate()
                proxy.wait(10)
            daemon.stop()
    finish()


main()
