import Execution
import ExecutionSupport
import Glibc
import JobProtocol
import TestSupport
import Testing

/// Reports of jobs of several steps.
@Suite struct JobReportsTests {
    /// A tool protects its output like this. Only users other than root are stopped by it.
    @Test(
        .proves(.jobs, "Reports and artifacts collected safely; last week's report is no report"),
        arguments: JobUser.possible)
    func testThatAnOldReportInAProtectedDirectoryIsDeleted(user: JobUser)
        async throws
    {
        try await withLaunched(as: user) { launched in
            // given
            var job = launched.sandboxed("mkdir r; echo old >r/a.xml; chmod 0555 r", "true")
            job.steps[1].report = ["r/*.xml"]
            // when
            let end = try await launched.run(job)
            // then
            #expect(end.result == .completed, "\(end.log)")
            #expect(try end.attempt.reports(ofStep: 1).isEmpty)
        }
    }

    /// Root can delete everything except immutable files and files on a read-only file system.
    @Test(.proves(.jobs, "Reports and artifacts collected safely; last week's report is no report"), .smallDisk)
    func testThatAnOldReportThatCannotBeDeletedIsNoReportOfTheStep() async throws {
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

    /// Returns the report files of a step: `a.xml: text`.
    private func reports(of end: Ended, step: Int) throws -> [String] {
        try end.attempt.reports(ofStep: step).map {
            "\($0.path): \(String(decoding: try end.attempt.read($0, limit: 1 << 20), as: UTF8.self))"
        }.sorted()
    }

    /// The commit's files are not the step's.
    @Test(
        .proves(
            .issueHistory,
            "Old reports are deleted before a step, but never the commit's files or `.git`; a file of the commit is a report once the step has changed it"
        ))
    func testThatAFileOfTheCommitStaysAndIsAReportOnceTheStepHasChangedIt() async throws {
        try await withLaunched { launched in
            // given
            for name in ["pom.xml", "fixtures/a.xml", "own.xml", "old.xml", ".git/x.xml", "lib/.git/y.xml"] {
                try launched.directory.write("workspace/\(name)", "before")
            }
            let script =
                "ls pom.xml fixtures/a.xml own.xml .git/x.xml lib/.git/y.xml && ! ls old.xml; echo new >new.xml"
            let job = launched.job(script, "echo changed >own.xml", report: ["**/*.xml"])
            let attempt = launched.attempt()
            try attempt.prepare(job, tracked: ["fixtures/a.xml", "own.xml", "pom.xml"].map { Array($0.utf8) })
            // when
            try await launched.executor.start(attempt, secrets: [:])
            let end = try await launched.end(of: attempt)
            // then
            #expect(end.result == .completed, "\(end.log)")
            #expect(try reports(of: end, step: 0) == ["new.xml: new\n"])
            #expect(try reports(of: end, step: 1) == ["own.xml: changed\n"])
            #expect(try launched.directory.text("workspace/fixtures/a.xml") == "before")
            #expect(try end.attempt.leftOut().isEmpty)
            expectContains(end.log, "3 of the commit's files match report:")
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "Old reports are deleted before a step, but never the commit's files or `.git`; a file of the commit is a report once the step has changed it"
        ))
    func testThatAPatternForAllLeavesGitsFilesAlone() async throws {
        try await withLaunched { launched in
            // given
            try launched.directory.write("workspace/.git/HEAD", "ref: refs/heads/main")
            try launched.directory.write("workspace/a", "old")
            // when
            let end = try await launched.run(
                launched.job("echo x >b; test ! -e a", report: ["**"], collect: [.init(patterns: ["**"])]))
            // then
            #expect(end.result == .completed, "\(end.log)")
            #expect(try reports(of: end, step: 0) == ["b: x\n"])
            #expect(try end.attempt.artifacts().map(\.path) == ["b"])
            #expect(try launched.directory.text("workspace/.git/HEAD") == "ref: refs/heads/main")
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "Links and files with several names that stay in the workspace are archived and can be reports; a left-out file is a warning, a note, and in the manifest"
        ),
        arguments: [
            // The file has another name, or is below a link to a directory.
            ("mkdir out; echo x >out/run-1.log; ln -s out/run-1.log latest.xml", "latest.xml: x\n"),
            ("mkdir -p real/dir; echo x >real/dir/r; ln -s real out; ln -s out/dir/r a.xml", "a.xml: x\n"),
            ("echo x >b; ln -s \"$PWD/b\" a.xml", "a.xml: x\n"),
            // A link beside its own file is not a second report.
            ("echo x >one.xml; ln -s one.xml two.xml; ln -s two.xml three.xml", "one.xml: x\n"),
            ("echo x >one; ln -s one two.xml; ln -s one three.xml", "three.xml: x\n"),
            ("echo x >one; ln one two.xml", "two.xml: x\n"),
        ])
    func testThatALinkToAFileOfTheWorkspaceIsAReport(script: String, report: String) async throws {
        try await withLaunched { launched in
            // when
            let end = try await launched.run(launched.job(script, report: ["*.xml"]))
            // then
            #expect(try reports(of: end, step: 0) == [report])
            #expect(try end.attempt.leftOut().isEmpty)
        }
    }

    @Test func testThatALinkToTheLastRunsFileIsNoReport() async throws {
        try await withLaunched { launched in
            // given
            try launched.directory.write("workspace/out/last", "old")
            symlink("out/last", launched.workspace + "/a.xml")
            // when: the step makes the link again, without a target
            let end = try await launched.run(launched.job("test ! -e a.xml; ln -s out/last a.xml", report: ["*.xml"]))
            // then
            #expect(try reports(of: end, step: 0).isEmpty)
            let text = "a.xml was not copied: it is a link to a file that the step did not write"
            #expect(try end.attempt.leftOut() == [LeftOut(step: 0, text: text)])
        }
    }

    @Test func testThatTheWaysOfAllLinksOfAStepHaveOneLimit() async throws {
        try await withLaunched { launched in
            // given: 2,000 components for a job that may leave one file. Each link takes some 1,600, and the first is dangling
            let script = """
                mkdir d; echo x >x
                way=$(printf 'd/../%.0s' $(seq 800))
                ln -s "${way}missing" a.xml; ln -s "${way}x" b.xml
                """
            // when
            let end = try await launched.run(launched.job(script, limits: .init(files: 1), report: ["*.xml"]))
            // then
            #expect(end.result == .completed, "\(end.log)")
            #expect(try reports(of: end, step: 0).isEmpty)
            #expect(
                try Set(end.attempt.leftOut().map(\.text)) == [
                    "a.xml was not copied: it is a link that leads to no file of the workspace",
                    "b.xml was not copied: it is a link, and the ways of all links are longer than is followed",
                ])
        }
    }

    @Test func testThatTheNameOfWhatIsLeftOutHidesASecret() async throws {
        try await withLaunched { launched in
            // given
            let job = launched.job("ln -s /etc/passwd hunter2-hunter2.xml", report: ["*.xml"], secrets: ["KEY"])
            // when
            let attempt = try launched.prepare(job)
            try await launched.executor.start(attempt, secrets: ["KEY": "hunter2-hunter2"])
            let end = try await launched.end(of: attempt)
            // then
            #expect(try end.attempt.leftOut().map(\.text) == ["***.xml was not copied: its name holds a secret"])
        }
    }

    /// 1.8 MB of JSON for each step, of which the file may have 4 MiB.
    @Test func testThatManyLongNamesThatAreLeftOutAreRead() async throws {
        try await withLaunched { launched in
            // given
            let script = """
                name=$(printf '\\001%.0s' $(seq 200)); place=.
                for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do place=$place/$name; done
                mkdir -p "$place"; cd "$place"
                ln -s -t . $(seq -f /x/%g.xml 101)
                """
            // when
            let end = try await launched.run(launched.job(script, script, script, report: ["**/*.xml"]))
            // then
            #expect(end.result == .completed, "\(end.reason ?? "")")
            let leftOut = try end.attempt.leftOut()
            #expect(leftOut.count == 3 * (LeftOut.countLimit + 1))
            #expect(leftOut.first?.text.hasSuffix("it is a link that leads to no file of the workspace") == true)
        }
    }

    @Test(.proves(.jobs, "Each step's reports are taken directly after it, all within one limit"))
    func testThatEachStepKeepsItsOwnUnderOneName() async throws {
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

    @Test(
        .proves(.jobs, "Each step's reports are taken directly after it, all within one limit"),
        arguments: [
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

    @Test(.proves(.jobs, "Each step's reports are taken directly after it, all within one limit"))
    func testThatWhatWasPassedOverIsSaidInTheStepsLog() async throws {
        try await withLaunched { launched in
            // given
            let job = launched.job("ln -s /etc/passwd a.xml", "echo second", report: ["a.xml"])
            // when
            let end = try await launched.run(job)
            // then
            let index = try end.attempt.readIndex()
            let second = try #require(index.first { $0.step == 1 })
            let first = try end.attempt.readLog(from: 0, count: Int(second.offset))
            #expect(
                String(decoding: first, as: UTF8.self)
                    == "martlet: a.xml was not copied: it is a link that leads to no file of the workspace\n")
        }
    }

    @Test(.proves(.jobs, "Each step's reports are taken directly after it, all within one limit"))
    func testThatACanceledJobKeepsThem() async throws {
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
