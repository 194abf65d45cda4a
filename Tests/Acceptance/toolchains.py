#!/usr/bin/env python3
"""Runs the same small programs of each toolchain on the machine and in a sandboxed job, and compares: a line per toolchain.

    Tests/Acceptance/toolchains.py

`same` is a toolchain that works in both, `none` one that this machine has not, `differs` one that works on the machine alone: then the last
lines of the job are printed, and the exit status is 1.
"""
import json, os, pathlib, sys

from acceptance import GIT, Daemon, Place, Repository, last, read, run

FILES = {
    "c/leak.c": "#include <stdio.h>\n#include <stdlib.h>\nint main(void) { char *p = malloc(3); p[0] = 0; puts(p); free(p); return 0; }\n",
    "c/race.c": "#include <pthread.h>\nstatic int n; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n"
    "static void *add(void *x) { pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m); return x; }\n"
    "int main(void) { pthread_t a, b; pthread_create(&a, 0, add, 0); pthread_create(&b, 0, add, 0);\n"
    "pthread_join(a, 0); pthread_join(b, 0); return n != 2; }\n",
    "go/go.mod": "module kit\n\ngo 1.19\n",
    "go/kit_test.go": 'package kit\nimport ("net"; "os"; "os/user"; "testing"; "time")\n'
    "func TestMachine(t *testing.T) {\n if _, e := net.Interfaces(); e != nil { t.Fatal(e) }\n"
    " if _, e := user.Current(); e != nil { t.Fatal(e) }\n h, _ := os.Hostname()\n"
    ' if _, e := net.LookupHost(h); e != nil { t.Fatal(e) }\n if _, e := time.LoadLocation("Europe/Berlin"); e != nil { t.Fatal(e) }\n'
    ' l, e := net.Listen("tcp", "127.0.0.1:0"); if e != nil { t.Fatal(e) }; l.Close()\n}\n',
    "rust/Cargo.toml": '[package]\nname = "kit"\nversion = "0.1.0"\nedition = "2021"\n',
    "rust/src/lib.rs": "#[test] fn adds() { assert_eq!(1 + 1, 2); assert!(std::thread::available_parallelism().is_ok()); }\n",
    "python/test_kit.py": "import ctypes.util, getpass, mimetypes, multiprocessing, os, pwd, socket, sqlite3, ssl, subprocess, tempfile, unittest\n"
    "class Machine(unittest.TestCase):\n"
    " def test_user(self): self.assertEqual(pwd.getpwuid(os.getuid()).pw_name, getpass.getuser())\n"
    " def test_network(self): socket.if_nameindex(); socket.gethostbyname(socket.gethostname())\n"
    " def test_tls(self): ssl.create_default_context()\n"
    " def test_types(self): self.assertEqual(mimetypes.guess_type('a.png')[0], 'image/png')\n"
    " def test_pool(self):\n  with multiprocessing.get_context('fork').Pool(2) as p: self.assertEqual(p.map(abs, [-1, 2]), [1, 2])\n"
    " def test_shared(self):\n  from multiprocessing import shared_memory\n"
    "  m = shared_memory.SharedMemory(create=True, size=64); m.close(); m.unlink()\n",
    "node/test.js": "const os = require('os'), dns = require('dns'), assert = require('assert');\n"
    "assert(os.networkInterfaces().lo); assert(os.cpus().length > 0); assert(os.userInfo().username);\n"
    "dns.lookup(os.hostname(), (e) => { assert.ifError(e); require('http').createServer(() => {}).listen(0, '127.0.0.1', function () { this.close(); }); });\n",
    "java/Kit.java": "import java.net.*; import java.util.*;\npublic class Kit { public static void main(String[] a) throws Exception {\n"
    " InetAddress.getLocalHost(); Collections.list(NetworkInterface.getNetworkInterfaces()).size();\n"
    " javax.net.ssl.SSLContext.getDefault(); new ServerSocket(0).close(); new java.text.SimpleDateFormat().format(new Date());\n"
    " if (Runtime.getRuntime().availableProcessors() < 1) throw new Error(); } }\n",
    "swift/Package.swift": '// swift-tools-version: 5.9\nimport PackageDescription\nlet package = Package(name: "Kit", targets: [.target(name: "Kit"), '
    '.testTarget(name: "KitTests", dependencies: ["Kit"])])\n',
    "swift/Sources/Kit/Kit.swift": "public func two() -> Int { 2 }\n",
    "swift/Tests/KitTests/KitTests.swift": "import Foundation\nimport XCTest\n@testable import Kit\nfinal class KitTests: XCTestCase {\n"
    " func testTwo() { XCTAssertEqual(two(), 2); XCTAssertFalse(ProcessInfo.processInfo.hostName.isEmpty); XCTAssertFalse(TimeZone.current.identifier.isEmpty) } }\n",
    "cmake/CMakeLists.txt": "cmake_minimum_required(VERSION 3.16)\nproject(kit C)\nenable_testing()\nadd_executable(kit kit.c)\nadd_test(NAME kit COMMAND kit)\n",
    "cmake/kit.c": "int main(void) { return 0; }\n",
    "make/Makefile": "check: kit\n\t./kit\nkit: kit.c\n\t$(CC) -o $@ $<\n",
    "make/kit.c": "int main(void) { return 0; }\n",
    "perl/kit.t": "use strict; use Test::More; use Socket; use POSIX; use Sys::Hostname;\nok(getpwuid($<)); ok(gethostbyname(hostname())); ok(getservbyname('http', 'tcp'));\n"
    "ok(getprotobyname('tcp')); ok(POSIX::ctime(0)); done_testing();\n",
    "tcl/kit.tcl": "package require Tcl\nset s [socket -server {} -myaddr 127.0.0.1 0]\nclose $s\nputs [clock format 0 -timezone :Europe/Berlin]\nif {$tcl_platform(user) eq \"\"} {exit 1}\n",
    "php/kit.php": "<?php if (!extension_loaded('mbstring') || !class_exists('DOMDocument') || !gethostbyname(gethostname())) exit(1);\n",
    "ruby/kit.rb": "require 'socket'; require 'etc'; require 'openssl'; Socket.getifaddrs; Etc.getlogin; Addrinfo.getaddrinfo(Socket.gethostname, 80)\n",
}

# name: (program, commands). Each name has an empty directory of its own.
TOOLCHAINS = {
    "gcc-asan": ("gcc", "gcc -g -fsanitize=address,undefined -o leak ../c/leak.c && ./leak"),
    "gcc-tsan": ("gcc", "gcc -g -fsanitize=thread -o race ../c/race.c && ./race"),
    "clang-asan": ("clang", "clang -g -fsanitize=address -o leak ../c/leak.c && ./leak"),
    "gdb": ("gdb", "gcc -g -o leak ../c/leak.c && gdb -nx -batch -ex run ./leak | grep -q 'exited normally'"),
    "strace": ("strace", "strace -f -e trace=execve -o log true && grep -q exited log"),
    "go": ("go", "cp ../go/* . && GOFLAGS=-mod=mod GOPROXY=off go test ./..."),
    "cargo": ("cargo", "cp -r ../rust/* . && cargo test --offline -q"),
    "python": ("python3", "/usr/bin/python3 -m unittest discover -s ../python"),
    "node": ("node", "node ../node/test.js"),
    "java": ("javac", "javac -d . ../java/Kit.java && java -cp . Kit"),
    "maven": ("mvn", "mvn -q -v"),
    "swift": ("swift", "cp -r ../swift/* . && swift build --build-tests --disable-sandbox && swift test --skip-build --disable-sandbox"),
    "cmake": ("cmake", "cmake -S ../cmake -B b && cmake --build b && cd b && ctest"),
    "make": ("make", "cp ../make/* . && make check"),
    "perl": ("perl", "perl ../perl/kit.t"),
    "tcl": ("tclsh", "tclsh ../tcl/kit.tcl"),
    "php": ("php", "php ../php/kit.php"),
    "ruby": ("ruby", "ruby ../ruby/kit.rb"),
    "git": ("git", "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git fsck"),
    "dpkg": ("dpkg-query", "dpkg-query -W dpkg && dpkg-vendor --query vendor"),
    "fontconfig": ("fc-match", "fc-match sans | grep -q ."),
    "util-linux": ("lscpu", "lscpu && getent hosts $(hostname) && getent services http"),
    "dbus": ("dbus-run-session", "dbus-run-session -- true"),
    "man": ("man", "man -w ls"),
    "terminal": ("tput", "tput cols && id && locale && df /tmp"),
    "postgresql": ("/usr/lib/postgresql/15/bin/initdb", "/usr/lib/postgresql/15/bin/initdb -D data -A trust"),
}


def script():
    lines = ["top=$PWD"]
    for name, (program, commands) in TOOLCHAINS.items():
        lines.append(
            f"if command -v {program} > /dev/null; then mkdir -p $top/w-{name} && cd $top/w-{name} && "
            f"if ( {commands} ) > out 2>&1; then echo 'T {name} ok'; else echo 'T {name} failed'; tail -4 out | sed 's/^/  /'; fi; "
            f"else echo 'T {name} none'; fi; cd $top")
    return "\n".join(lines) + "\n"


def results(text):
    found, name = {}, None
    for line in text.split("\n"):
        words = line.split()
        if len(words) == 3 and words[0] == "T":
            name = words[1]
            found[name] = (words[2], [])
        elif name and line.startswith("  "):
            found[name][1].append(line.strip())
    return found


def own_directories():
    """What Rust keeps in this user's home directory, which jobs see."""
    found = {"CARGO_HOME": pathlib.Path.home() / ".cargo", "RUSTUP_HOME": pathlib.Path.home() / ".rustup"}
    return found, [str(path) for path in found.values() if path.is_dir()]


def compared(place):
    """What each toolchain came to on the machine and in the job."""
    own, shown = own_directories()
    if shown:
        os.environ["PATH"] += f":{own['CARGO_HOME']}/bin"
    repository = Repository(place, "kit")
    repository.commit({**FILES, "t.sh": script()})
    daemon = Daemon(place, f"isolation: sandbox\nsandbox: {json.dumps({'read-only': shown})}\n")
    # Cargo writes to its home.
    variables = {"CARGO_HOME": "/tmp/cargo", "RUSTUP_HOME": str(own["RUSTUP_HOME"]), "CARGO_NET_OFFLINE": "true"}
    recipe = {"configurations": {"debug": {"build": "true", "test": "bash t.sh", "environment": variables}}, "analyze": []}
    daemon.bot("kit", repository, f"timeout: 20m\nrecipe: {json.dumps(recipe)}\n", poll="1s")
    if daemon.start() is None:
        sys.exit(f"the daemon does not start: {last(read(daemon.log), 5)}")
    daemon.completed("kit", repository.head, limit=1500)
    inside = daemon.text("/api/v1/bots/kit/integrations/1/log/debug")
    return results(run("bash", "t.sh", cwd=repository.work, env={**os.environ, **GIT}).stdout), results(inside)


def main():
    with Place() as place:
        outside, inside = compared(place)
    differing = 0
    for name in TOOLCHAINS:
        here, there = outside.get(name, ("missing", [])), inside.get(name, ("missing", []))
        if here[0] == "none":
            word = "none"
        elif here[0] != "ok":
            word = f"fails on the machine: {' / '.join(here[1])}"
        else:
            word = "same" if there[0] == "ok" else "differs"
        print(f"{name:12} {word}")
        if word == "differs":
            differing += 1
            print("\n".join("    " + line for line in there[1] or [there[0]]))
    print(f"{differing} toolchain(s) differ")
    sys.exit(1 if differing else 0)


main()
