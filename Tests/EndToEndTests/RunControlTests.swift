import Basics
import Foundation
import Glibc
import JobProtocol
import TestSupport
import Testing

/// The end of `martlet run` on the user's request.
@Suite struct RunControlTests {
    /// Returns tests that run until they are killed. The file `ready` in the workspace shows that they run.
    private static func endless(_ trap: String = "") -> [String: String] {
        [
            "Makefile": "all:\n\ncheck:\n\t@\(trap) : {marker}; touch ready; while :; do sleep 0.05; done\n",
            ".gitignore": "ready\n",
        ]
    }

    @Test(
        .proves(
            .programs,
            "Ctrl-C cancels `martlet run`, a second one kills, and no process outlives it, also if it is killed itself")
    )
    func testThatCtrlCEndsItAndLeavesNothing() async throws {
        try await withWorkingTree(Self.endless()) { fixture in
            // given
            let started = try await fixture.start()
            await fixture.waitForJob()
            // when
            started.signal(SIGINT)
            let status = try await started.end()
            // then
            #expect(status == 130)
            #expect(fixture.left.isEmpty && fixture.supervisors.isEmpty)
            let output = try fixture.directory.text("output")
            expectContains(output, "canceling: what runs has 10 s to end; Ctrl-C again kills it\n")
            expectContains(output, "kit#1 canceled: ")
        }
    }

    @Test(
        .proves(
            .programs,
            "Ctrl-C cancels `martlet run`, a second one kills, and no process outlives it, also if it is killed itself")
    )
    func testThatASecondCtrlCKillsWhatDoesNotEnd() async throws {
        try await withWorkingTree(Self.endless("trap '' TERM INT HUP;")) { fixture in
            // given
            let started = try await fixture.start()
            await fixture.waitForJob()
            started.signal(SIGINT)
            await until("it is canceled") { (try? fixture.directory.text("output"))?.contains("canceling") ?? false }
            // when
            started.signal(SIGINT)
            let status = try await started.end()
            // then
            #expect(status == 130)
            #expect(fixture.left.isEmpty && fixture.supervisors.isEmpty)
            expectContains(try fixture.directory.text("output"), "killed\n")
        }
    }

    @Test(.proves(.programs, "Ctrl-C cancels `martlet run` also while nobody reads its output"))
    func testThatCtrlCIsHeardWhileNobodyReadsItsOutput() async throws {
        let warnings = #"i=0; while [ $$i -lt 5000 ]; do i=$$((i+1)); echo "a.c:$$i:1: warning: odd $$i"; done"#
        var files = Self.endless("trap '' TERM INT HUP;")
        files["Makefile"]?.replace("all:\n", with: "all:\n\t@\(warnings)\n")
        try await withWorkingTree(files) { fixture in
            // given: a pipe that is full
            let path = fixture.directory.path("pipe")
            try #require(mkfifo(path, 0o600) == 0)
            let pipe = open(path, O_RDWR | O_CLOEXEC)
            try #require(pipe >= 0)
            defer { close(pipe) }
            let started = try await fixture.start(into: path)
            await fixture.waitForJob()
            await until("the pipe is full") {
                var bytes: Int32 = 0
                return ioctl(pipe, UInt(FIONREAD), &bytes) == 0 && bytes > 60_000
            }
            // when
            started.signal(SIGINT)
            await until("the job is asked to end") { fixture.isAskedToEnd }
            started.signal(SIGINT)
            // then
            #expect(try await started.end() == 130)
            #expect(fixture.left.isEmpty && fixture.supervisors.isEmpty)
        }
    }

    @Test(.proves(.programs, "Ctrl-C cancels `martlet run` while it reads the directory, and keeps nothing of it then"))
    func testThatCtrlCIsHeardWhileTheTreeIsRead() async throws {
        try await withWorkingTree(["Makefile": "all:\n"]) { fixture in
            // given: an index that cannot be read until the test writes it
            _ = try await GitRepository.make(at: fixture.tree)
            let index = fixture.tree + "/.git/index"
            unlink(index)
            try #require(mkfifo(index, 0o600) == 0)
            let started = try await fixture.start()
            await until("it hears signals") { started.hears(SIGINT) }
            // when
            started.signal(SIGINT)
            await until("it is canceled") { (try? fixture.directory.text("output"))?.contains("canceling") ?? false }
            let writer = open(index, O_RDWR | O_CLOEXEC)
            defer { close(writer) }
            // then
            #expect(try await started.end() == 130)
            #expect(try !fixture.directory.text("output").contains("kit#1"))
        }
    }

    @Test(
        .proves(
            .programs,
            "Ctrl-C cancels `martlet run`, a second one kills, and no process outlives it, also if it is killed itself")
    )
    func testThatNothingOutlivesItWhenItIsKilled() async throws {
        try await withWorkingTree(Self.endless("trap '' TERM INT HUP;")) { fixture in
            // given
            let started = try await fixture.start()
            await fixture.waitForJob()
            // when
            started.signal(SIGKILL)
            _ = try await started.end()
            // then
            await until("all of it is gone") { fixture.left.isEmpty && fixture.supervisors.isEmpty }
            // and the next run works
            try fixture.write(["Makefile": "all:\n\ncheck:\n\t@true\n"])
            let next = try await fixture.martlet()
            #expect(next.status == 0)
            expectContains(next.stdout, "kit#2 succeeded")
        }
    }

    @Test(.proves(.programs, "`martlet run` bounds its cache, and one run at a time works on a tree"))
    func testThatASecondRunInTheSameTreeIsRefused() async throws {
        try await withWorkingTree(Self.endless()) { fixture in
            // given
            let started = try await fixture.start()
            await fixture.waitForJob()
            // when
            let second = try await fixture.martlet()
            started.signal(SIGINT)
            _ = try await started.end()
            // then
            #expect(second.status == 69)
            expectContains(
                second.stderr,
                "another `martlet run` works on \(fixture.tree) (process \(started.pid))")
        }
    }
}

extension RunFixture {
    /// Waits until the tests of the only configuration run.
    fileprivate func waitForJob() async {
        await until("the job runs", limit: TestLimits.wait * 3) {
            (try? built("ready")) != nil
        }
    }

    /// Whether the cancellation request was written for the first attempt of the only configuration.
    fileprivate var isAskedToEnd: Bool {
        let own = (try? Directory(opening: caches).entries().first { $0.name.hasPrefix("kit-") }?.name) ?? ""
        return access("\(caches)/\(own)/integrations/kit/1/debug/1/cancel", F_OK) == 0
    }
}

extension StartedProgram {
    /// Whether it has a handler for a signal (proc(5)). Before its execve(2) it has none, but all signals are blocked.
    fileprivate func hears(_ signal: Int32) -> Bool {
        let status = String(decoding: SmallFile.read("/proc/\(pid)/status", limit: 8192) ?? [], as: UTF8.self)
        return status.split(separator: "\n").contains { line in
            guard line.hasPrefix("SigCgt:") else { return false }
            let mask = line.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
            return mask & 1 << UInt64(signal - 1) != 0
        }
    }
}
