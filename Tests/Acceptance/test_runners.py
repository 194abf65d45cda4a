#!/usr/bin/env python3
"""Chooses tests by their names and runs them again with a real daemon, for each test runner of this machine; those that are missing are skipped.

    Tests/Acceptance/test_runners.py [RUNNER...]     all by default

Each project has two tests: `adds` passes, and `subtracts` fails until a file exists. Each test appends its name to a file. After a rerun of
`subtracts` alone the integration is no longer red, `adds` has kept its outcome, and only runners that cannot name a test exactly ran it again.
"""
import json, os, pathlib, shutil, subprocess, sys

from acceptance import Daemon, Place, Repository, claim, finish, skip, within

# What a project's tests do: note that they ran, and fail while the file `green` is missing.
PYTHON = """import os
def note(name):
    with open({ran!r}, "a") as file:
        file.write(name + "\\n")
def test_adds():
    note("adds")
class TestTotal:
    def test_subtracts(self):
        note("subtracts")
        assert os.path.exists({green!r})
"""
GO = """package kit

import ("os"; "testing")

func note(name string) { file, _ := os.OpenFile(RAN, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); file.WriteString(name + "\\n"); file.Close() }
func TestAdds(t *testing.T) { note("adds") }
func TestSubtracts(t *testing.T) {
	t.Run("in a test", func(t *testing.T) { note("subtracts"); if _, err := os.Stat(GREEN); err != nil { t.Fatal("2 is not 3") } })
}
"""
RUST = """#[cfg(test)]
mod tests {
    use std::io::Write;
    fn note(name: &str) { writeln!(std::fs::OpenOptions::new().append(true).create(true).open(RAN).unwrap(), "{}", name).unwrap(); }
    #[test] fn adds() { note("adds"); }
    #[test] fn subtracts() { note("subtracts"); assert!(std::path::Path::new(GREEN).exists()); }
}
"""
CMAKE = """cmake_minimum_required(VERSION 3.13)
project(kit NONE)
enable_testing()
add_test(NAME adds COMMAND sh -c "echo adds >>{ran}")
add_test(NAME subtracts.2+1 COMMAND sh -c "echo subtracts >>{ran}; test -e {green}")
"""
NODE = """const { test, describe, it } = require("node:test"), fs = require("fs");
const note = (name) => fs.appendFileSync(RAN, name + "\\n");
test("adds", () => note("adds"));
describe("total", () => { it("subtracts [a] $", () => { note("subtracts"); if (!fs.existsSync(GREEN)) throw new Error("2 is not 3"); }); });
"""
JAVA = """package org.acme;
import java.io.*; import java.nio.file.*;
import static org.junit.Assert.assertTrue; import org.junit.Test;
public class PriceTest {
    static void note(String name) throws IOException { Files.writeString(Path.of(RAN), name + "\\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND); }
    @Test public void adds() throws IOException { note("adds"); }
    @Test public void subtracts() throws IOException { note("subtracts"); assertTrue(Files.exists(Path.of(GREEN))); }
}
"""
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>org.acme</groupId><artifactId>kit</artifactId>
<version>1</version><properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target>
<project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties><dependencies><dependency><groupId>junit</groupId>
<artifactId>junit</artifactId><version>4.13.2</version><scope>test</scope></dependency></dependencies></project>
"""
SWIFT = """import Foundation
import Testing
func note(_ name: String) { let file = fopen(RAN, "a"); fputs(name + "\\n", file); fclose(file) }
@Suite struct PriceTests {
    @Test func adds() { note("adds") }
    @Test(arguments: [1, 2]) func subtracts(value: Int) { note("subtracts"); #expect(FileManager.default.fileExists(atPath: GREEN)) }
}
"""
SCRIPT = """import os, sys
chosen = os.environ.get("MARTLET_TESTS", "kit/adds\\nkit/subtracts").splitlines()
cases, red = "", False
for name in chosen:
    name = name.split("/")[1]
    open({ran!r}, "a").write(name + "\\n")
    fails = name == "subtracts" and not os.path.exists({green!r})
    red |= fails
    cases += f'<testcase classname="kit" name="{{name}}">' + ("<failure message='2 is not 3'/>" if fails else "") + "</testcase>"
open("junit.xml", "w").write(f"<testsuite name='kit'>{{cases}}</testsuite>")
sys.exit(red)
"""


# The failing test as each tool's own filter writes it.
FILTERS = {"pytest": "subtracts", "go": "Subtracts", "cargo": "subtracts", "ctest": "subtracts", "node": "subtracts",
           "maven": "PriceTest#subtracts", "swift": "subtracts", "recipe": "kit/subtracts"}


def projects(ran, green):
    """The files of each runner's project, the program that it needs, and whether it can name a test exactly."""
    def filled(text):
        return text.replace("RAN", json.dumps(ran)).replace("GREEN", json.dumps(green))
    own = "configurations:\n  debug: { build: 'true', test: python3 check.py, test-only: python3 check.py, report: junit.xml }\nanalyze: []\narchive: { include: [] }\n"
    plain = "configurations:\n  debug:\nanalyze: []\narchive: { include: [] }\n"
    return {
        "pytest": ({"pytest.ini": "[pytest]\n", "test_price.py": PYTHON.format(ran=ran, green=green), ".martlet.yml": plain}, "pytest"),
        "go": ({"go.mod": "module example.org/kit\n\ngo 1.19\n", "kit_test.go": filled(GO), ".martlet.yml": plain}, "go"),
        "cargo": ({"Cargo.toml": "[package]\nname = 'kit'\nversion = '0.1.0'\nedition = '2021'\n", "Cargo.lock": "version = 3\n\n[[package]]\nname = \"kit\"\nversion = \"0.1.0\"\n",
                   "src/lib.rs": filled(RUST), ".gitignore": "target\n", ".martlet.yml": plain}, "cargo"),
        "ctest": ({"CMakeLists.txt": CMAKE.format(ran=ran, green=green), ".martlet.yml": plain}, "ctest"),
        "node": ({"package.json": '{"name":"kit","version":"1.0.0","scripts":{"test":"node --test"}}\n', "kit.test.js": filled(NODE), ".martlet.yml": plain}, "node"),
        "maven": ({"pom.xml": POM, "src/test/java/org/acme/PriceTest.java": filled(JAVA), ".martlet.yml": plain}, "mvn"),
        "swift": ({"Package.swift": "// swift-tools-version:6.0\nimport PackageDescription\nlet package = Package(name: \"kit\", targets: [.testTarget(name: \"KitTests\")])\n",
                   "Tests/KitTests/PriceTests.swift": filled(SWIFT), ".martlet.yml": plain}, "swift"),
        "recipe": ({"check.py": SCRIPT.format(ran=ran, green=green), ".martlet.yml": own}, "python3"),
    }


def rerun(daemon, name, repository, ran, green):
    """Integrates a commit that is red, runs the failing test again by its name, and claims what came of it."""
    ran.unlink(missing_ok=True)
    green.unlink(missing_ok=True)
    before = repository.git("rev-parse", "HEAD")
    commit = repository.commit({"NOTES": "1\n"}, subject="Note")
    daemon.push(name, f"runner-{name}", before, commit)
    red = daemon.completed(name, commit, limit=400)
    record = red and f"/api/v1/bots/{name}/integrations/{red['number']}"
    tests = daemon.get(record + "/tests").get("items", []) if red else []
    if not red or red["verdict"] != "test-failures" or len(tests) < 2:
        steps = daemon.get(record).get("configurations", [{}])[0] if red else {}
        return red, f"{red and red['verdict']}: {steps.get('reason') or steps.get('tested')}"
    failing = [test for test in tests if test["outcome"] == "failed"][-1]
    full = (failing["suite"] + "/" if failing["suite"] else "") + failing["name"]
    ran.write_text("")
    green.touch()
    answer = daemon.command("rerun", f"{name}#{red['number']}", "--test", full, "--wait")
    done = daemon.get(record)
    again = ran.read_text().split()
    outcomes = sorted(test["outcome"] for test in daemon.get(record + "/tests").get("items", []))
    claim("subtracts" in again, f"{name}: the chosen test ran again", full)
    claim("adds" not in again, f"{name}: no other test ran", " ".join(again))
    claim(done["run"] == 2 and done["verdict"] == "warnings", f"{name}: what passes on one commit is flaky, and red no more",
          f"{done['verdict']} {answer.stderr.strip()[:60]}")
    claim("passed" in outcomes and "skipped" not in outcomes and "failed" not in outcomes, f"{name}: the other tests kept their outcome", " ".join(outcomes))
    ran.write_text("")
    filtered = daemon.command("rerun", f"{name}#{red['number']}", "--tests", FILTERS[name], "--wait")
    again = ran.read_text().split()
    claim("subtracts" in again and "adds" not in again, f"{name}: --tests takes the tool's own filter", f"{FILTERS[name]}: {' '.join(again)} {filtered.stderr.strip()[:80]}")
    return None, None


def main():
    with Place() as place:
        ran, green = place / "ran", place / "green"
        daemon = Daemon(place, "isolation: none\n")
        chosen = {name: project for name, project in projects(str(ran), str(green)).items() if name in sys.argv[1:] or not sys.argv[1:]}
        repositories = {}
        for name, (files, program) in chosen.items():
            if shutil.which(program) is None:
                skip(f"{name}: a test runs again by its name", f"{program} is not installed")
                continue
            repositories[name] = Repository(place, f"{name}-source")
            repositories[name].commit(files, subject="Begin")
            daemon.bot(name, repositories[name], "branches: [main]\n")
        if daemon.start() is None:
            sys.exit("the daemon does not answer; see MARTLET_KEEP=1")
        try:
            for name, repository in repositories.items():
                first = within(400, lambda: [i for i in daemon.integrations(name) if i["state"] == "completed"], pause=0.5)
                if first and first[-1]["verdict"] in ("internal-error", "build-errors"):
                    skip(f"{name}: a test runs again by its name", f"this machine cannot build it: {first[-1].get('reason') or first[-1]['verdict']}"[:120])
                    continue
                red, why = rerun(daemon, name, repository, ran, green)
                if why:
                    claim(False, f"{name}: the project is red before", why)
        finally:
            daemon.stop()
    finish()


main()
