#!/usr/bin/env python3
"""Looks at the overview, a bot's page, the queue and the big screen with real Chromium, and measures them on a large state.

    Tests/Acceptance/front_pages.py [look] [figures] [--pictures DIRECTORY]        both without a word

`look` integrates small real projects, also on branches, and looks at each page in light, dark and on a phone: axe-core finds no violation, nothing
is wider than a phone, the filter works while one types, and the big screen goes on to the next tiles.
`figures` writes 46 bots, one of them with 100,000 integrations, into the database, and prints the 95th percentile of the time to the first byte of
each page and its size after gzip. `MARTLET_BUILD` says which build is measured; a debug build is several times slower than a release build.

It needs Debian's chromium, chromium-driver, python3-selenium, python3-pytest and gcc, and for axe-core PyPI's axe-selenium-python
(`pip install axe-selenium-python`, or `MARTLET_AXE=/path/to/axe.min.js`).
"""
import gzip, http.client, importlib.util, json, os, pathlib, random, sqlite3, statistics, sys, time

from acceptance import Daemon, Place, Repository, claim, finish, programs, skip, within
from pictures import BROKEN, METER, ORDERS, SAFE, Browser

MODES = {"light": ((1280, 900), False), "dark": ((1280, 900), True), "phone": ((390, 844), False)}
SLOW = "recipe: { configurations: { debug: { build: 'sleep 20', test: 'true' } }, analyze: [] }\n"
FIRST_BYTE, SIZE = 0.050, 100_000
# What anonymous clients may not see, and a test that no integration has: a page that says so.
REFUSED = {(401, "/sessions"), (401, "/audit"), (404, "/bots/component-01/tests/history?name=A%2Fb")}


def axe_source():
    """The text of axe-core; None where it is not installed."""
    if named := os.environ.get("MARTLET_AXE"):
        return pathlib.Path(named).read_text()
    found = importlib.util.find_spec("axe_selenium_python")
    path = found and pathlib.Path(found.origin).parent / "node_modules/axe-core/axe.min.js"
    return path.read_text() if path and path.exists() else None


def world(daemon, place):
    """Two projects with a history on main and on branches, one of which is deleted; a queue; and a bot whose file goes."""
    orders, meter, slow = (Repository(place, f"{name}-source") for name in ("orders", "meter", "slow"))
    orders.commit(ORDERS, subject="Add the price of an order")
    meter.commit(METER, subject="Count in hexadecimal")
    slow.commit({"README": "slow\n"}, subject="Begin")
    daemon.bot("orders", orders, "branches: [main, 'topic/*', 'release/*']\nschedule: daily 02:00\n")
    daemon.bot("meter", meter, "branches: [main]\n")
    daemon.bot("assembly", slow, SLOW)
    if daemon.start() is None:
        raise SystemExit("the daemon does not answer; see MARTLET_KEEP=1")
    number = 0

    def push(repository, bot, files, subject, branch="main"):
        nonlocal number
        number += 1
        before = "0" * 40
        commit = repository.commit({**files, "NOTES": f"{number}\n"}, subject=subject, branch=branch)
        daemon.push(bot, f"front-{number}", before, commit, branch=branch)
        if daemon.completed(bot, commit, limit=180) is None:
            raise SystemExit(f"the integration of {bot} did not end")

    whole = {"orders/price.py": ORDERS["orders/price.py"]}
    for files, subject in ((whole, "Test discounts"), (BROKEN, "Round discounts down"), (whole, "Round them as before"),
                           ({}, "Name the currency"), (whole, "Print receipts")):
        push(orders, "orders", files, subject)
    push(orders, "orders", BROKEN, "Try integer prices", "topic/integers")
    push(orders, "orders", whole, "Freeze 1.4", "release/1.4")
    push(orders, "orders", whole, "Sketch vouchers", "topic/vouchers")
    orders.git("push", "-q", "origin", ":refs/heads/topic/vouchers")
    for files, subject in (({}, "Wrap around"), (SAFE, "Remove a variable"), ({}, "Document the wheel")):
        push(meter, "meter", files, subject)
    gone = Repository(place, "gone-source")
    gone.commit({"README": "gone\n"})
    daemon.bot("legacy", gone)
    within(60, lambda: any(b["name"] == "legacy" and b["latest"] for b in daemon.get("/api/v1/bots").get("items", [])))
    (daemon.directory / "bots/legacy.yml").unlink()
    for turn in range(3):
        commit = slow.commit({"turn": f"{turn}\n"}, subject=f"Turn {turn + 1}")
        daemon.push("assembly", f"slow-{turn}", "0" * 40, commit)
    within(30, lambda: any(i["state"] == "running" for i in daemon.integrations("assembly")))


PAGES = {"overview": "/", "filtered": "/?q=topic", "bot": "/bots/orders", "branch": "/bots/orders?branch=topic%2Fintegers",
         "queue": "/queue", "screen": "/screen?cycle=0", "screen-two": "/screen?bots=orders,meter&cycle=0"}


def violations(driver, axe):
    driver.execute_script(axe)
    found = driver.execute_async_script("const done = arguments[arguments.length - 1]; axe.run(document).then(done, (e) => done({error: String(e)}));")
    return [f"{v['id']}: {v['nodes'][0]['html'][:120]}" for v in found.get("violations", [])] + ([found["error"]] if "error" in found else [])


def look(pictures):
    browser, axe = Browser.find(), axe_source()
    if browser is None:
        return skip("pages in Chromium", "needs chromium, chromium-driver and python3-selenium")
    driver = browser.driver
    with Place() as place:
        daemon = Daemon(place, settings="concurrency: 1\n")
        try:
            world(daemon, place)
            for mode, (size, dark) in MODES.items():
                for name, path in PAGES.items():
                    target = pictures and pictures / f"{name}-{mode}.png"
                    browser.picture(daemon.url + path, target or "/dev/null", size, dark)
                    time.sleep(0.2)
                    wide = driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
                    claim(wide <= 0, f"{name} in {mode} is not wider than the window", f"{wide} px")
                    if axe:
                        found = violations(driver, axe)
                        claim(not found, f"axe-core finds nothing on {name} in {mode}", "; ".join(found))
                    if target:
                        height = driver.execute_script("return document.documentElement.scrollHeight")
                        browser.picture(daemon.url + path, target, (size[0], min(6000, max(size[1], height))), dark)
            if not axe:
                skip("axe-core", "needs axe-selenium-python of PyPI, or MARTLET_AXE")
            typing(driver, daemon)
            cycling(driver, daemon)
            opened_before(driver, daemon)
        finally:
            driver.quit()
            daemon.stop()


def typing(driver, daemon):
    """The filter works while one types, and keeps its text and the focus when the page is refreshed."""
    driver.get(daemon.url + "/")
    shown = "return [...document.querySelectorAll('#bots tbody')].filter((b) => !b.hidden).map((b) => b.dataset.name).join()"
    before = driver.execute_script(shown)
    field = driver.find_element("css selector", "[data-filter]")
    field.send_keys("ord top")
    after = driver.execute_script(shown)
    claim("meter" in before and after == "orders", "the filter hides other bots while one types", f"{before} → {after}")
    folded = "return document.querySelector('main details:not(.act)').open"
    driver.execute_script(folded.replace("return ", "") + " = true")
    # Something changes, and the page is refreshed with all rows.
    row = "return [...document.querySelectorAll('#bots tbody')].find((b) => b.dataset.name === 'meter').textContent"
    known, newest = driver.execute_script(row), daemon.integrations("meter")[0]["number"]
    daemon.command("integrate", "meter")
    claim(within(60, lambda: driver.execute_script(row) != known), "the page is refreshed when something changes", f"meter#{newest + 1}")
    kept = driver.execute_script("return document.querySelector('[data-filter]').value")
    claim(driver.execute_script(shown) == "orders" and kept == "ord top", "the filter stays when the page is refreshed", kept)
    claim(driver.execute_script(folded), "what was unfolded stays open when the page is refreshed")


def opened_before(driver, daemon):
    """The page of an integration that is open since it was queued works when the tests are there."""
    newest = daemon.integrations("orders")[0]["number"]
    daemon.command("integrate", "orders")
    driver.get(f"{daemon.url}/bots/orders/{newest + 1}")
    early = driver.execute_script("return document.querySelector('.tree') === null")
    there = within(180, lambda: driver.execute_script("return document.querySelector('.tree') !== null"))
    driver.find_element("css selector", ".tree-search input[type=search]").send_keys("discount")
    hidden = within(5, lambda: driver.execute_script("return document.querySelectorAll('.tree tbody tr[hidden]').length"))
    claim(early and there and hidden == 1, "the filter of tests works on a page that was open before they ran", f"{hidden} row hidden of 2")


def cycling(driver, daemon):
    """The big screen shows one group of tiles at a time, full height, and goes on."""
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 900, "height": 700, "deviceScaleFactor": 1, "mobile": False})
    driver.get(daemon.url + "/screen?cycle=1")
    shown = "return [...document.querySelectorAll('.tile')].filter((t) => !t.hidden).map((t) => t.querySelector('h2').textContent).join()"
    first = driver.execute_script(shown)
    other = within(5, lambda: (now := driver.execute_script(shown)) != first and now)
    claim(bool(other), "the big screen goes on to the next tiles", f"{first} → {other}")
    place = driver.execute_script("const r = document.querySelector('.tile:not([hidden])').getBoundingClientRect(); return [r.height, r.bottom]")
    claim(abs(place[1] - 700) < 2 and place[0] > 600, "a tile is as high as the screen", f"{place[0]:.0f} px of 700")
    live(driver, daemon)
    size = driver.execute_script("return parseFloat(getComputedStyle(document.querySelector('.tile:not([hidden]) .word')).fontSize)")
    claim(size >= 40, "the word of a tile can be read from across a room", f"{size:.0f} px on a tile of 450 px")


def live(driver, daemon):
    """A tile changes when an integration of its bot ends."""
    driver.get(daemon.url + "/screen?bots=meter&cycle=0")
    tile = "return document.querySelector('.tile').textContent"
    before, newest = driver.execute_script(tile), daemon.integrations("meter")[0]["number"]
    daemon.command("integrate", "meter", "--wait")
    claim(within(60, lambda: f"#{newest + 1}" in driver.execute_script(tile) or driver.execute_script(tile) != before),
          "the big screen shows what changes without a reload", " ".join(driver.execute_script(tile).split())[:60])
    driver.get(daemon.url + "/screen?cycle=1")


def fill(path):
    """Writes 46 bots with their integrations, one of them with 100,000, into a database that the daemon has made."""
    choice, now = random.Random(1), int(time.time() * 1000)
    recipe = json.dumps({"archive": {}, "configurations": [{"name": f"c{n}", "build": "x" * 300, "flags": [], "environment": {}, "report": []} for n in range(8)]})
    zero = {"analyzerWarnings": 0, "errors": 0, "flakyTests": 0, "testFailures": 0, "tests": 0, "warnings": 0}
    db = sqlite3.connect(path)
    for bot in range(1, 47):
        db.execute("INSERT INTO repositories (id, url, default_branch, last_look) VALUES (?, ?, 'refs/heads/main', ?)",
                   (bot, f"https://git.example/acme/component-{bot}.git", now))
        db.execute("INSERT INTO bots (id, name, repository, specification) VALUES (?, ?, ?, '{}')", (bot, f"component-{bot:02}", bot))
        refs = ["refs/heads/main"] + [f"refs/heads/topic/{n}" for n in range(200 if bot == 1 else 12)]
        db.executemany("INSERT INTO refs VALUES (?, ?, ?, 1)", [(bot, ref, None if bot > 1 and n > 10 else "0" * 40) for n, ref in enumerate(refs)])
        total, rows = 100_000 if bot == 1 else 300, []
        for number in range(1, total + 1):
            ref = refs[0] if number % 2 else choice.choice(refs)
            queued = now - (total - number) * 600_000
            verdict = choice.choice(["succeeded"] * 8 + ["test-failures", "warnings"])
            counts = {**zero, "tests": 400 + number % 7, "warnings": number % 5, "testFailures": 3 if verdict == "test-failures" else 0}
            summary = json.dumps({"change": zero, "counts": counts}, sort_keys=True, separators=(",", ":"))
            rows.append((bot, number, bot, ref, f"{number * 100 + bot:040x}", verdict, recipe, f"Change number {number} of this component",
                         summary, queued, queued + 2000, queued + 60_000 + choice.randrange(200_000)))
        db.executemany(
            "INSERT INTO integrations (bot, number, repository, ref, \"commit\", cause, state, step, verdict, is_release, is_clean, recipe, subject,"
            " author, summary, queued_at, started_at, ended_at)"
            " VALUES (?, ?, ?, ?, ?, 'push', 'completed', 'completed', ?, 0, 0, ?, ?, 'Ann', ?, ?, ?, ?)", rows)
        db.execute("UPDATE bots SET last_number = ? WHERE id = ?", (total, bot))
        db.execute("INSERT INTO attempts (integration, job, attempt, state, verdict, queued_at, started_at, ended_at)"
                   " SELECT id, 'debug', 1, 'processed', verdict, queued_at, started_at, ended_at FROM integrations WHERE bot = ?", (bot,))
        db.execute("INSERT INTO steps SELECT id, 0, 'building', 'make', started_at, ended_at, 0, NULL, NULL FROM attempts"
                   " WHERE integration IN (SELECT id FROM integrations WHERE bot = ?)", (bot,))
    db.commit()
    db.close()


def first_byte(connection, path):
    """Returns the seconds to the first byte, and the body."""
    begun = time.perf_counter()
    connection.request("GET", path, headers={"Accept": "text/html"})
    answer = connection.getresponse()
    took = time.perf_counter() - begun
    body = answer.read()
    if answer.getheader("Content-Encoding") == "gzip":
        body = gzip.decompress(body)
    return took, body, answer.status


def figures():
    with Place() as place:
        daemon = Daemon(place)
        try:
            if daemon.start() is None:
                raise SystemExit("the daemon does not answer; see MARTLET_KEEP=1")
            daemon.stop()
            fill(daemon.state / "martlet.sqlite")
            for n in range(1, 47):
                (daemon.directory / f"bots/component-{n:02}.yml").write_text(
                    f"repository: https://git.example/acme/component-{n}.git\npoll: off\n"
                    "recipe: { configurations: { debug: { build: make, test: make check } } }\n")
            if daemon.start() is None:
                raise SystemExit("the daemon does not answer with 46 bots; see MARTLET_KEEP=1")
            print(f"build {programs()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; 46 bots, one with 100,000 integrations")
            pages = {"overview": "/", "overview, filtered": "/?q=component-01", "overview, red": "/?state=red",
                     "bot": "/bots/component-01", "bot, branch": "/bots/component-01?branch=topic%2F3", "csv": "/bots/component-01/trend.csv",
                     "bot, older": "/bots/component-01?before=50000", "queue": "/queue", "screen": "/screen", "tests": "/bots/component-01/tests",
                     "badge": "/badge/component-01.svg", "cctray": "/cctray.xml", "integration": "/bots/component-01/99999",
                     "issues": "/bots/component-01/99999/issues", "tests of one": "/bots/component-01/99999/tests",
                     "a test's history": "/bots/component-01/tests/history?name=A%2Fb", "muted issues": "/bots/component-01/silences",
                     "deliveries": "/deliveries", "outbox": "/outbox", "products": "/products", "files": "/files/", "docs": "/docs",
                     "a page of docs": "/docs/getting-started", "docs, search": "/docs?q=token", "sign-in": "/sign-in",
                     "sessions": "/sessions", "audit": "/audit", "feed": "/bots/component-01/feed.atom", "API, bots": "/api/v1/bots",
                     "API, integrations": "/api/v1/bots/component-01/integrations?limit=200", "metrics": "/metrics"}
            connection = http.client.HTTPConnection("127.0.0.1", daemon.port)
            for name, path in pages.items():
                first_byte(connection, path)
                asked = [first_byte(connection, path) for _ in range(40)]
                times, body, status = sorted(a[0] for a in asked), asked[0][1], asked[0][2]
                p95, size = times[int(len(times) * 0.95) - 1], len(gzip.compress(body, 6))
                what = f"{name}: median {statistics.median(times) * 1000:.1f} ms, p95 {p95 * 1000:.1f} ms, {size / 1000:.1f} kB by gzip of {len(body) / 1000:.0f}"
                claim((status == 200 or (status, path) in REFUSED) and p95 <= FIRST_BYTE and size <= SIZE, what)
        finally:
            daemon.stop()


def main():
    words = [word for word in sys.argv[1:] if word in ("look", "figures")]
    pictures = pathlib.Path(sys.argv[sys.argv.index("--pictures") + 1]) if "--pictures" in sys.argv else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    if not words or "look" in words:
        look(pictures)
    if not words or "figures" in words:
        figures()
    finish()


if __name__ == "__main__":
    main()
