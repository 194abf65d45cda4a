#!/usr/bin/env python3
"""Takes the pictures of the pages that the documentation shows, from integrations of small real projects.

    Tests/Acceptance/pictures.py [DIRECTORY]     docs/images by default; with another directory also dark and narrow pages

It needs Debian's chromium, chromium-driver, python3-selenium, python3-pytest and gcc.
"""
import html, pathlib, re, shutil, sys

from acceptance import ROOT, Daemon, Place, Repository, claim, finish, skip

ORDERS = {
    "orders/__init__.py": "",
    "orders/price.py": "def total(prices, discount=0):\n    return sum(prices) * (100 - discount) / 100\n",
    "tests/test_price.py": "from orders.price import total\n\n\ndef test_total_of_no_prices_is_zero():\n    assert total([]) == 0\n\n\n"
                           "def test_discount_is_in_percent():\n    assert total([10, 30], discount=25) == 30\n",
    "pyproject.toml": "[project]\nname = 'orders'\nversion = '1.4.0'\n[tool.pytest.ini_options]\npythonpath = ['.']\n",
}
BROKEN = {"orders/price.py": "def total(prices, discount=0):\n    return sum(prices) * (100 - discount) // 100 - 1\n"}
METER = {
    "meter.c": "#include <stdio.h>\n\nint main(void) {\n    int unused;\n    printf(\"1..2\\nok 1 - counts up\\nok 2 - wraps around\\n\");\n    return 0;\n}\n",
    "Makefile": "meter: meter.c\n\t$(CC) -Wall -O2 -o meter meter.c\ncheck: meter\n\t./meter\n.PHONY: check\n",
}
SAFE = {"meter.c": METER["meter.c"].replace("    int unused;\n", "")}


class Browser:
    """A headless Chromium. `None` from `Browser.find()` where Debian's chromium-driver or Python's selenium is not installed."""

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

    def picture(self, url, path, size=(1280, 860), dark=False):
        """Writes a picture of a page; returns whether it could be written."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size[0] < 600})
        self.driver.get(url)
        return self.driver.save_screenshot(str(path))


def world(daemon, place):
    """Integrates a few commits of two projects, one of them with a failing test."""
    orders, meter = Repository(place, "orders-source"), Repository(place, "meter-source")
    orders.commit(ORDERS, subject="Add the price of an order")
    daemon.bot("orders", orders, "branches: [main]\n")
    meter.commit(METER, subject="Count in hexadecimal")
    daemon.bot("meter", meter, "branches: [main]\n")
    if daemon.start() is None:
        raise SystemExit("the daemon does not answer; see MARTLET_KEEP=1")
    for repository, bot, commits in ((orders, "orders", [("Test discounts", {}), ("Round discounts down", BROKEN)]),
                                      (meter, "meter", [("Wrap around", {}), ("Remove a variable", SAFE)])):
        before = repository.git("rev-parse", "HEAD")
        for number, (subject, files) in enumerate(commits):
            commit = repository.commit({**files, "NOTES": f"{number}\n"}, subject=subject)
            daemon.push(bot, f"picture-{bot}-{number}", before, commit)
            if daemon.completed(bot, commit, limit=180) is None:
                raise SystemExit(f"the integration of {bot} did not end")
            before = commit


def link(daemon, page, pattern):
    """The path of a page's first link that matches; None without one."""
    found = re.search(f'href="({pattern})"', daemon.ask(page)[1].decode())
    return found and html.unescape(found.group(1)).removeprefix(daemon.url)


def main():
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/images"
    browser = Browser.find()
    if browser is None:
        skip("pictures of the pages", "needs chromium, chromium-driver and python3-selenium")
        finish()
    target.mkdir(parents=True, exist_ok=True)
    with Place() as place:
        daemon = Daemon(place)
        try:
            world(daemon, place)
            failed = daemon.integrations("orders")[0]["number"]
            pages = {"overview": "/", "bot": "/bots/orders", "tests": "/bots/orders/tests"}
            if integration := link(daemon, "/bots/orders", rf"[^\"]*/{failed}"):
                pages["integration"] = integration
                if log := link(daemon, integration, r"[^\"]*/log[^\"]*"):
                    pages["log"] = log
            for name, path in pages.items():
                claim(daemon.ask(path)[0] == 200 and browser.picture(daemon.url + path, target / f"{name}.png"), f"a picture of {name}", path)
                if len(sys.argv) > 1:
                    browser.picture(daemon.url + path, target / f"{name}-dark.png", dark=True)
                    browser.picture(daemon.url + path, target / f"{name}-narrow.png", size=(390, 844))
        finally:
            browser.driver.quit()
            daemon.stop()
    finish()


if __name__ == "__main__":
    main()
