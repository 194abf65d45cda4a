"""What is in the Debian package, what lintian says of it, and what deploy/build-deb refuses."""
import re, shutil

from acceptance import ROOT, claim, last, note, programs, run

PROGRAMS = ("usr/bin/martlet", "usr/lib/martlet/martlet-supervisor", "usr/lib/martlet/martlet-tools", "usr/lib/martlet/martlet-reader")
# Files that the earlier deploy/install copied, and where.
FILES = """lib/systemd/system/martlet.service lib/systemd/system/martlet-launcher.socket lib/systemd/system/martlet-launcher.service
usr/lib/sysusers.d/martlet.conf usr/lib/tmpfiles.d/martlet.conf usr/share/martlet/post-receive usr/share/martlet/upload-archive
usr/share/martlet/settings.schema.json usr/share/martlet/bot.schema.json usr/share/martlet/recipe.schema.json
usr/share/bash-completion/completions/martlet usr/share/zsh/vendor-completions/_martlet usr/share/fish/vendor_completions.d/martlet.fish
usr/share/doc/martlet/manual.md usr/share/doc/martlet/copyright usr/share/doc/martlet/changelog.gz""".split()
EXPOSURES = {"martlet.service": 1.5, "martlet-launcher.service": 6.3}


def short(name):
    return name.rpartition("/")[2]


def field(package, name):
    return run("dpkg-deb", "-f", package, name).stdout.strip()


def files(package, place):
    tree = place / "unpacked"
    run("dpkg-deb", "-R", package, tree, check=True)
    named = {name: run("readelf", "-S", "--wide", tree / name).stdout for name in PROGRAMS}
    whole = [name for name, sections in named.items() if ".symtab" in sections or ".debug_info" in sections or ".text" not in sections]
    sizes = ", ".join(f"{short(name)} {(tree / name).stat().st_size / 1e6:.1f} of {(programs() / short(name)).stat().st_size / 1e6:.1f} MB"
                      for name in PROGRAMS)
    claim(not whole, "its programs are stripped", sizes if not whole else " ".join(whole))
    depends = re.split(", *", field(package, "Depends"))
    libraries = [name.split(" ")[0] for name in depends if name.startswith("lib")]
    others = [name for name in depends if not name.startswith("lib")]
    claim(libraries and "git" in others and not any("-dev" in name for name in depends), "it depends on libraries and programs, not on headers",
          f"{len(libraries)} libraries ({' '.join(libraries)}); {', '.join(others)}")
    absent = [name for name in FILES if not (tree / name).is_file()]
    pages = sorted((tree / "usr/share/man/man1").glob("martlet*.1.gz"))
    documents = list((tree / "usr/share/doc/martlet").rglob("*.md"))
    claim(not absent and len(pages) > 20 and len(documents) > 50,
          "units, sysusers, tmpfiles, completions, schemas, man pages and documentation are in it", f"{len(pages)} man pages, {len(documents)} pages, 3 completions, 3 schemas; missing: {' '.join(absent) or 'none'}")
    maintainers = [path.name for path in documents if "internals" in path.parts]
    claim(not maintainers, "pages for maintainers are not", " ".join(maintainers))
    conffiles = (tree / "DEBIAN/conffiles").read_text().split()
    claim(conffiles == ["/etc/martlet/martlet.yml", "/etc/martlet/triggers/upload-archive"], "default settings and the sample trigger are conffiles",
          " ".join(conffiles))


def lintian(package, place):
    lines = run("lintian", "--allow-root", "--display-info", "--show-overrides", package).stdout.splitlines()
    found = [line for line in lines if re.match("[EWI]: ", line)]
    overridden = sorted({line.split()[2] for line in lines if line.startswith("O: ")})
    claim(not found and overridden, "lintian (errors, warnings, information) says nothing but what is overridden",
          f"{len(overridden)} tags: {' '.join(overridden)}" if not found else f"{len(found)} lines")
    note(*found[:20])
    explained, bare = False, []
    for line in (place / "unpacked/usr/share/lintian/overrides/martlet").read_text().splitlines():
        explained = line.startswith("#") or explained and bool(line)
        if not explained:
            bare.append(line)
    claim(not bare, "a comment explains each override", " ".join(bare))


def refused(package, place):
    """Programs of other architectures, and of another version."""
    def build(name, change):
        directory = place / name
        shutil.copytree(programs(), directory, ignore=lambda _, names: set(names) - set(map(short, PROGRAMS)))
        change(directory)
        return run(ROOT / "deploy/build-deb", "--binaries", directory, "--output", directory)

    def foreign(path):
        with open(path, "r+b") as file:  # e_machine of elf(5)
            file.seek(18)
            file.write(b"\xb7\x00" if field(package, "Architecture") == "amd64" else b"\x3e\x00")

    def all_foreign(directory):
        for name in PROGRAMS:
            foreign(directory / short(name))

    def other_version(directory):
        (directory / "martlet").rename(directory / "real")
        shutil.copy("/bin/echo", directory / "martlet")

    for name, change, words, what in (
            ("one", lambda directory: foreign(directory / "martlet-tools"), "are of two architectures: martlet is for ", "programs of two architectures"),
            ("all", all_foreign, "and this machine is ", "programs for another architecture than this machine's"),
            ("text", lambda directory: (directory / "martlet-reader").write_text("#!/bin/sh\n"), "it has no ELF header",
             "a script in the place of a program"),
            ("version", other_version, "Build them from these sources.", "programs of another version than the sources")):
        done = build(name, change)
        claim(done.returncode == 1 and words in done.stderr and not list((place / name).glob("*.deb")),
              f"deploy/build-deb refuses {what}", " ".join(done.stderr.split())[:200].replace(f"{place}/", ""))
        shutil.rmtree(place / name)


def faults(place):
    """deploy/packages --faults, with versions that a machine of the years before would have."""
    tools = place / "tools"
    tools.mkdir()
    for versions, expected in (
            (("libgit2-1.5 1.5.1+ds-1", "libcurl4 7.88.1-10+deb12u3"), ["CVE-2024-24577", "CVE-2026-53584", "CVE-2023-38545"]),
            (("libgit2-1.5 1.5.1+ds-1+deb12u1", "libcurl4 7.88.1-10+deb12u14"), ["CVE-2026-53584", "CVE-2025-14524"]),
            (("libgit2-1.5 1.5.1+ds-1+deb12u2", "libcurl4 7.88.1-10+deb12u15"), [])):
        (tools / "dpkg-query").write_text("#!/bin/sh\n" + "".join(f"echo 'installed {line}'\n" for line in versions))
        (tools / "apt-cache").write_text("#!/bin/sh\n")
        for name in ("dpkg-query", "apt-cache"):
            (tools / name).chmod(0o755)
        done = run("env", f"PATH={tools}:/usr/bin:/bin", ROOT / "deploy/packages", "--faults")
        lines = done.stdout.splitlines()
        named = re.findall("CVE-[0-9]+-[0-9]+", done.stdout)
        holds = done.returncode == 0 and all(name in named for name in expected) and bool(named) == bool(expected)
        claim(holds and len(lines) in (0, len(versions)), f"deploy/packages --faults with {' and '.join(versions)}",
              f"{len(named)} faults: {' '.join(named[:6])}")
    text = run(ROOT / "deploy/packages", "--faults").stdout.strip()
    note(f"this machine: {text or 'no known fault, nothing newer in the archive'}")


def exposures():
    for unit, most in EXPOSURES.items():
        said = run("systemd-analyze", "security", "--offline=true", ROOT / "deploy" / unit).stdout
        found = re.search(r"exposure level for [^:]*: ([0-9.]+)", said)
        claim(found and float(found[1]) <= most, f"systemd-analyze security {unit}: at most {most} (0 best, 10 worst)",
              found and found[1] or last(said))


def contents(package, place):
    files(package, place)
    lintian(package, place)
    refused(package, place)
    faults(place)
    exposures()
