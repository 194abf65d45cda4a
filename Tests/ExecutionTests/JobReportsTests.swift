import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

/// Reports of jobs of several steps.
@Suite struct JobReportsTests {
    /// As a tool that protects what it wrote; only who is not root is held by that.
    @Test(arguments: JobUser.possible) func testThatAnOldReportInAProtectedDirectoryIsDeleted(user: JobUser)
        async throws
    {
        try await withLaunched(as: user) { launched in
            // given
            var job = launched.fenced("mkdir r; echo old >r/a.xml; chmod 0555 r", "true")
            job.steps[1].report = ["r/*.xml"]
            // when
            let end = try await launched.run(job)
            // then
            #expect(end.result == .completed, "\(end.log)")
            #expect(try end.attempt.reports(ofStep: 1).isEmpty)
        }
    }

    /// Root deletes everything but what is immutable, or on a file system that is read-only.
    @Test(.smallDisk) func testThatAnOldReportThatCannotBeDeletedIsNoReportOfTheStep() async throws {
        try await withLaunched { launched in
            // given
            let place = launched.workspace + "/r"
            try launched.directory.makeDirectory("workspace/r")
            try launched.directory.write("other", "old")
            try launched.directory.write("workspace/r/a.xml", "")
            try await runExpectingSuccess(["mount", "--bind", launched.directory.path("other"), place + "/a.xml"])
            let job = launched.job("touch ran", report: ["r/*.xml"])
            // when
            let end: Result<Ended, any Error>
            do { end = .success(try await launched.run(job)) } catch { end = .failure(error) }
            try await runExpectingSuccess(["umount", "-l", place + "/a.xml"])
            // then
            #expect(try end.get().result == .faulty)
            #expect(try end.get().reason == "an old report could not be deleted: r/a.xml: Device or resource busy")
            #expect(access(launched.workspace + "/ran", F_OK) != 0)
        }
    }

    /// The report files of a step: `a.xml: text`.
    private func reports(of end: Ended, step: Int) throws -> [String] {
        try end.attempt.reports(ofStep: step).map {
            "\($0.path): \(String(decoding: try end.attempt.read($0, limit: 1 << 20), as: UTF8.self))"
        }.sorted()
    }

    @Test func testThatEachStepKeepsItsOwnUnderOneName() async throws {
        try await withLaunched { launched in
            // given
            let job = launched.job(
                "printf one >a.xml; printf only >b.xml", "test ! -e b.xml && printf two >a.xml", report: ["*.xml"])
            // when
            let end = try await launched.run(job)
            // then
            #expect(end.result == .completed)
            #expect(try reports(of: end, step: 0) == ["a.xml: one", "b.xml: only"])
            #expect(try reports(of: end, step: 1) == ["a.xml: two"])
        }
    }

    @Test(arguments: [
        (JobDescription.Limits(reportBytes: 500), "reports over 500 bytes"),
        (JobDescription.Limits(files: 1), "reports over 1 files"),
    ])
    func testThatTheLimitIsOfAllStepsTogether(limits: JobDescription.Limits, words: String) async throws {
        try await withLaunched { launched in
            // given
            let script = "yes | head -c 300 >a.xml"
            let job = launched.job(script, script, "touch ran", limits: limits, report: ["a.xml"])
            // when
            let end = try await launched.run(job)
            // then
            #expect(end.result == .failed)
            #expect(end.limit == words)
            #expect(end.reason == words)
            #expect(end.step(2) == "exit 0", "it is said when all have ended")
            #expect(try end.attempt.reports(ofStep: 0).map(\.path) == ["a.xml"])
            #expect(try end.attempt.reports(ofStep: 1).isEmpty)
        }
    }

    @Test func testThatWhatWasPassedOverIsSaidInTheStepsLog() async throws {
        try await withLaunched { launched in
            // given
            let job = launched.job("ln -s /etc/passwd a.xml", "echo second", report: ["a.xml"])
            // when
            let end = try await launched.run(job)
            // then
            let index = try end.attempt.readIndex()
            let second = try #require(index.first { $0.step == 1 })
            let first = try end.attempt.readLog(from: 0, count: Int(second.offset))
            #expect(String(decoding: first, as: UTF8.self) == "martlet: a.xml was not copied: it is a link\n")
        }
    }

    @Test func testThatACanceledJobKeepsThem() async throws {
        try await withLaunched { launched in
            // given
            let attempt = try launched.prepare(
                launched.job("printf one >a.xml", "printf two >a.xml; touch ready; sleep 1000", report: ["a.xml"]))
            try await launched.executor.start(attempt, secrets: [:])
            await launched.waitFor("ready")
            // when
            try await launched.executor.cancel(attempt, reason: "of the test", grace: .zero)
            let end = try await launched.end(of: attempt)
            // then
            #expect(end.result == .canceled)
            #expect(try reports(of: end, step: 0) == ["a.xml: one"])
            #expect(try reports(of: end, step: 1) == ["a.xml: two"])
        }
    }
}
