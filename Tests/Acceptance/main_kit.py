"""Claims of Tests/Acceptance/main-job with its sample: findings, a test that does not compile, versions and their consumer."""
import functools, pathlib, re, time

from acceptance import claim, read, run, since, within
from main_world import CLEAN, world


def status(issues, path, line, rule):
    return next((i["status"] for i in issues if (i["path"], i["line"], str(i["rule"])) == (path, line, rule)), "absent")


def line_with(text, word):
    return next((line for line in text.splitlines() if word in line), "")


def analyzer():
    kit, daemon = world.kit, world.daemon
    view = world.first[1]
    claim(True, "a clean Swift package with a C target", f"kit#{view['number']} {view['result']}, {view['configurations'][0]['analysis']}")
    swift, c = "Sources/Kit/Kit.swift", "Sources/CKit/ckit.c"
    kit.commit({
        swift: CLEAN[swift].replace("    number * 2\n", "    let factor = 2; return number * factor\n"),
        c: CLEAN[c].replace("    free(buffer);\n", "    if (number < 100) free(buffer);\n")}, branch=None, subject="Plant two findings")
    view = daemon.integrate(kit)
    number, summary = view["number"], view["summary"]
    claim(view["result"] == "analyzer-warnings", "planted findings judge the integration",
          f"kit#{number} {view['result']}, {summary.get('analyzerWarnings')} {summary.get('analyzerWarningsChange')}")
    issues = world.issues("kit", number)
    semicolon = status(issues, swift, 5, "DoNotUseSemicolons")
    line = next((i["line"] for i in issues if i["rule"] == "unix.Malloc"), 0)
    leak = status(issues, c, line, "unix.Malloc")
    claim(semicolon == "new", "API: swift-format's finding is new, with file and line", f"{swift}:5 DoNotUseSemicolons {semicolon}")
    claim(leak == "new", "API: clang's finding is new, with file and line", f"{c}:{line} unix.Malloc {leak}")
    text = daemon.command("issues", f"kit#{number}").stdout
    claim(f"new: {swift}:5:" in text, "CLI: swift-format's finding", line_with(text, "Kit.swift:5"))
    claim(f"new: {c}:{line}:" in text, "CLI: clang's finding", line_with(text, "ckit.c"))
    page = daemon.text(f"/bots/kit/{number}")
    claim(f"{swift}:5:" in page, "page: swift-format's finding", f"/bots/kit/{number}")
    claim(f"{c}:{line}:" in page, "page: clang's finding", f"/bots/kit/{number}")
    kit.commit(CLEAN, branch=None, subject="Mend both")
    view = daemon.integrate(kit)
    issues = world.issues("kit", view["number"])
    both = status(issues, swift, 5, "DoNotUseSemicolons"), status(issues, c, line, "unix.Malloc")
    claim((view["result"], *both) == ("succeeded", "resolved", "resolved"), "after the fix both are resolved",
          f"kit#{view['number']} {view['result']}; {', '.join(both)}; change {view['summary'].get('analyzerWarningsChange')}")
    text = daemon.command("issues", f"kit#{view['number']}").stdout
    claim(f"resolved: {c}:{line}" in text and "Resolved" in daemon.text(f"/bots/kit/{view['number']}"), "CLI and page say so")


def compile():
    kit, daemon = world.kit, world.daemon
    broken = "Tests/KitTests/BrokenTests.swift"
    kit.commit({broken: "import Kit\nimport Testing\n\n@Test func testThatItIsWhole() {\n    #expect(triple(3) == 9)\n}\n"}, branch=None,
               subject="A test that does not compile")
    view = daemon.integrate(kit)
    where = next((f"{i['path']}:{i['line']}: {i['message']}" for i in world.issues("kit", view["number"]) if i["category"] == "error"), "none")
    steps = " ".join(step["step"] for step in view["configurations"][0]["steps"])
    claim(view["result"] == "build-errors", "a test target that does not compile is judged build-errors", f"kit#{view['number']} {view['result']}")
    claim(f"{broken}:5: cannot find 'triple'" in where, "its issue has file and line", where)
    claim("testing" not in steps, "nothing is tested after it", f"steps: {steps}")
    kit.git("rm", "-q", broken)
    kit.commit(branch=None, subject="Without it")
    view = daemon.integrate(kit)
    error = status(world.issues("kit", view["number"]), broken, 5, "")
    claim((view["result"], error) == ("succeeded", "resolved"), "without it the branch is green again, the error resolved",
          f"kit#{view['number']} {view['result']}, {error}")


# ----------------------------------------------------------------------------------------------- versions, consumer


@functools.cache
def published():
    """1.0.0 and 1.0.1 of the sample, each from a signed push to release/1.0: what is said of each, the sums of the first, the second's number."""
    kit, daemon = world.kit, world.daemon
    said = []
    for version in ("1.0.0", "1.0.1"):
        if version == "1.0.1":
            kit.commit(branch=None, subject="Again")
        begun = time.monotonic()
        view = daemon.integrate(kit, "release/1.0")
        said.append(f"kit#{view['number']} {view['result']} in {since(begun)}")
        sums = within(10, lambda: daemon.text(f"/files/kit/{version}/SHA256SUMS"))
        if version == "1.0.0":
            first = sums
    listed = sorted(item["version"] for item in daemon.api("products/kit/versions").get("items", []))
    if listed != ["1.0.0", "1.0.1"]:
        raise RuntimeError(f"1.0.0 and 1.0.1 were not published: {said}, {listed}")
    return said, first, view["number"]


def download(version, directory):
    """All files of a version by curl -fO, by the names that SHA256SUMS gives. Returns what sha256sum says of them."""
    directory.mkdir(parents=True, exist_ok=True)
    base = f"{world.daemon.url}/files/kit/{version}"
    names = [line.split("  ", 1)[1] for line in world.daemon.text(f"/files/kit/{version}/SHA256SUMS").splitlines()]
    for name in ["SHA256SUMS", *names]:
        run("curl", "-fsSO", f"{base}/{name}", cwd=directory)
    return run("sha256sum", "-c", "SHA256SUMS", cwd=directory)


def versions():
    said, first, number = published()
    daemon, place = world.daemon, world.place
    claim(True, "1.0.0 from the first push to release/1.0", said[0])
    claim(True, "1.0.1 from the second", said[1])
    deliveries = [(d["source"], d["fate"]) for d in daemon.api("deliveries")["items"] for update in d["refUpdates"] for i in update["integrations"]
                  if i in (f"kit#{number}", {"bot": "kit", "number": number})]
    claim(("webhook", "integrated") in deliveries, "the push came signed, by hooks/post-receive", f"deliveries: {deliveries}")
    for version in ("1.0.0", "1.0.1"):
        done = download(version, place / "download" / version)
        claim(done.returncode == 0 and done.stdout.count(": OK") > 1, f"{version}: sha256sum -c SHA256SUMS", " ".join(done.stdout.splitlines()))
    claim(first and first == read(place / "download/1.0.0/SHA256SUMS"), "1.0.0 is byte for byte what it was before 1.0.1")
    for version in ("latest", "~1.0"):
        to = run("curl", "-sS", "-o", "/dev/null", "-w", "%{http_code} %{redirect_url}", f"{daemon.url}/files/kit/{version}/SHA256SUMS").stdout
        claim(to == f"302 {daemon.url}/files/kit/1.0.1/SHA256SUMS", f"/files/kit/{version} is 1.0.1", to)
    daemon.command("fetch", "kit", "--output", place / "fetched")
    found = [path for path in pathlib.Path(place / "fetched").rglob("*") if path.is_file()]
    claim(any(re.fullmatch(r"kit-1\.0\.1-.*\.tar\.zst", path.name) for path in found), "martlet fetch kit gets 1.0.1 and checks its digests",
          f"{len(found)} files")


def consumer():
    published()
    directory = world.place / "consumer"
    directory.mkdir()
    archive = next(f["path"] for f in world.daemon.api("products/kit/versions/1.0.1")["files"] if f["path"].endswith(".tar.zst"))
    got = run("curl", "-fsSO", f"{world.daemon.url}/files/kit/1.0.1/{archive}", cwd=directory)
    unpacked = run("tar", "--zstd", "-xvf", archive, cwd=directory)
    if not claim(got.returncode == unpacked.returncode == 0, "the library's archive is downloaded and unpacked",
                 f"{archive}, {(directory / archive).stat().st_size} bytes" if not got.returncode else got.stderr.strip()):
        return
    folder = unpacked.stdout.splitlines()[0]
    (directory / "main.swift").write_text('import Kit\n\nprint("consumer: \\(double(21)) \\(count(41))")\n')
    built = run("swiftc", "main.swift", "-I", f"{folder}modules", "-L", f"{folder}lib", "-lKit", "-o", "consumer", cwd=directory)
    output = run("./consumer", cwd=directory).stdout.strip() if not built.returncode else line_with(built.stderr, "error")
    claim(output == "consumer: 42 42", "a consumer compiles against it with swiftc -I modules -L lib -lKit and runs", f'prints "{output}"')
    output = run(directory / folder / "bin/kit-tool").stdout.strip()
    claim(output == "42", "the archived command-line tool runs", f'prints "{output}"')
