"""What the units of the service expose, and lintian: a part of Tests/Acceptance/operate."""
import re

from acceptance import ROOT, claim, note, run
from package_contents import EXPOSURES, exposures, files, lintian

# The headings of docs/internals/units.md, whose tables say why a setting is not set.
HEADINGS = {"martlet.service": "The daemon", "martlet-launcher.service": "The launcher"}


def reasons(unit):
    """The settings that the page explains, as one text."""
    text = (ROOT / "docs/internals/units.md").read_text()
    section = re.search(rf"^## {HEADINGS[unit]}\n(.*?)(?=^## |\Z)", text, re.M | re.S)[1]
    return " ".join(line.split("|")[1] for line in section.splitlines() if line.startswith("| ") and not line.startswith("| setting"))


def names(item):
    """How the page may name an item such as `RestrictAddressFamilies=~AF_(INET|INET6)`: by its setting or by its value."""
    setting, _, value = item.partition("=")
    found = {setting, re.sub(r"[~()]", "", value).split("|")[0]} - {""}
    return found | ({"address families"} if setting == "RestrictAddressFamilies" else set())


def units(package, place):
    exposures()
    for unit in EXPOSURES:
        lines = run("systemd-analyze", "security", "--offline=true", ROOT / "deploy" / unit).stdout.splitlines()
        items = {line.split()[1]: line for line in lines if line.startswith("✗ ")}
        said = reasons(unit)
        bare = [item for item in items if not any(name in said for name in names(item))]
        claim(items and not bare, f"{unit}: docs/internals/units.md explains each item that is not set",
              f"{len(items)} items" if not bare else " ".join(bare))
        note(" ".join(items))
    files(package, place)
    lintian(package, place)
