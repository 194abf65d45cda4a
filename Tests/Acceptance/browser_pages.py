"""Every page in light, dark and on a phone, with its parts open: axe-core, the width, and pictures. For `browser_sign.py`, whose world has them."""
import time

from acceptance import claim, skip
from front_pages import MODES, axe_source, violations

# Opens what is folded, so that its fields are looked at, too.
UNFOLD = "for (const part of document.querySelectorAll('main details')) part.open = true;"


def seen(driver, url, axe, target, name):
    """Returns what is wrong with a page in any mode, a sentence each."""
    wrong = []
    for mode, (size, dark) in MODES.items():
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                               {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size[0] < 600})
        driver.get(url)
        driver.execute_script(UNFOLD)
        time.sleep(0.2)
        wide = driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
        if wide > 0:
            wrong.append(f"{mode}: {wide} px too wide")
        wrong += [f"{mode}: {line}" for line in (violations(driver, axe) if axe else [])]
        if target:
            driver.save_screenshot(str(target / f"page-{name}-{mode}.png"))
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    return wrong


def every_page(browser, daemon, first, red, name):
    """Looks at each kind of page.
    - name: whose pages they are, for the claims.
    """
    axe, base = axe_source(), "/bots/meter"
    test = daemon.get(f"/api/v1{base}/integrations/{red['number']}/tests")["items"][0]["name"]
    pages = {
        "overview": "/", "bot": base, "integration": f"{base}/{first['number']}", "red": f"{base}/{red['number']}",
        "issues": f"{base}/{red['number']}/issues", "tests": f"{base}/{red['number']}/tests", "log": f"{base}/{red['number']}/log/debug",
        "found": f"{base}/{red['number']}/log/debug?q=ok", "times": f"{base}/{red['number']}/log/debug?times",
        "bot-tests": f"{base}/tests", "test": f"{base}/tests/history?name={test}", "muted": f"{base}/silences",
        "queue": "/queue", "screen": "/screen?cycle=0", "deliveries": "/deliveries", "outbox": "/outbox", "products": "/products",
        "product": "/products/shop", "version": "/products/shop/1.0.0", "files": "/files/", "product-files": "/files/shop/",
        "version-files": "/files/shop/1.0.0/", "docs": "/docs", "docs-page": "/docs/getting-started", "docs-search": "/docs?q=token",
        "sessions": "/sessions", "audit": "/audit", "sign-in": "/sign-in", "missing": "/bots/nobody", "wrong": "/?state=blue",
    }
    if not axe:
        skip("axe-core on every page", "needs axe-selenium-python of PyPI, or MARTLET_AXE")
    for page, path in pages.items():
        wrong = seen(browser.driver, daemon.url + path, axe, browser.target, page)
        claim(not wrong, f"{name}, {page}: nothing for axe-core and not too wide, light, dark and on a phone", "; ".join(wrong)[:600])
