import Basics
import Model
import TestSupport
import Testing

@testable import SourceControl

/// The meaning of git's messages, decided by git's own words and not by those of names in them.
@Suite struct ProgramFailureTests {
    @Test(
        .proves(
            .sourceControl,
            "What git says is judged by its own words; a silent git that works is not given up; a list without end is"),
        arguments: [
            (
                "https://h/acme/certificate-manager.git",
                "fatal: unable to access 'https://h/acme/certificate-manager.git/': Could not resolve host: h",
                "unreachable"
            ),
            (
                "https://h/redirect-service",
                "fatal: unable to access 'https://h/redirect-service/': Failed to connect to h port 443", "unreachable"
            ),
            ("https://h/kit", "fatal: couldn't find remote ref refs/heads/fix-certificate-check", "refGone"),
            (
                "https://h/kit",
                "fatal: unable to access 'https://h/kit/': server certificate verification failed. CAfile: none CRLfile: none",
                "serverUntrusted"
            ),
            (
                "https://h/kit", "fatal: unable to access 'https://h/kit/': The requested URL returned error: 301",
                "redirected"
            ),
            ("https://h/kit", "error: Server does not allow request for unadvertised object 1234", "refGone"),
            ("https://h/kit", "fatal: repository 'https://h/kit/' not found", "repositoryNotFound"),
            (
                "https://h/kit",
                "fatal: pack has bad object at offset 12: inflate returned -3\nfatal: fetch-pack: invalid index-pack output",
                "unreachable"
            ),
            (
                "https://h/kit", "fatal: local object 1234 is corrupt\nfatal: fetch-pack: invalid index-pack output",
                "mirrorDamaged"
            ),
            (
                "ssh://git@h/kit",
                "W access denied; repositories are stored in /srv\nfatal: Could not read from remote repository.",
                "repositoryNotFound"
            ),
            ("https://h/kit", "fatal: remote error: object 1234 is corrupt", "unreachable"),
            (
                "ssh://git@h/kit", "sh: 1: /usr/bin/ssh: not found\nfatal: Could not read from remote repository.",
                "unreachable"
            ),
            (
                "ssh://git@h/kit", "error: cannot run ssh: No such file or directory\nfatal: unable to fork",
                "unreachable"
            ),
        ])
    func testWhatItMeans(_ url: String, _ said: String, _ code: String) throws {
        let result = ChildProcess.Result(status: 128, output: [], errors: said)
        let failure = ProgramFailure(result, url: try RemoteURL(url, isInsecureAllowed: false), hasCredentials: true)
        #expect(failure.error("fetch of \(url)").code.rawValue == code)
    }

    /// A pack is removed only for what git found in it.
    @Test(
        .proves(
            .sourceControl,
            "A damaged pack, ref or HEAD is repaired by the next fetch, with all holds; only damaged files are removed"),
        arguments: [
            (0, "", true), (1, "fatal: pack is corrupted (SHA1 mismatch)", false),
            (1, "error: packfile is not a GIT packfile", false),
            (137, "", nil), (1, "error: index-pack died of signal 9", nil),
            (128, "fatal: Out of memory, malloc failed", nil),
            (128, "fatal: unable to write new file: Disk quota exceeded", nil),
            (128, "fatal: unable to create thread: Resource temporarily unavailable", nil),
        ])
    func testThatWhatCouldNotBeLookedAtIsNotTakenForDamaged(_ status: Int32, _ said: String, _ expected: Bool?)
        async throws
    {
        let result = ChildProcess.Result(status: status, output: [], errors: said)
        if let expected {
            #expect(try MirrorStore.isFine(result, "looking") == expected)
        } else {
            await expectRejection(SourceControlError.self, \.code, .unreachable) {
                _ = try MirrorStore.isFine(result, "looking")
            }
        }
    }

    /// git is silent while it checks whether millions of objects are connected.
    @Test(
        .proves(
            .sourceControl,
            "What git says is judged by its own words; a silent git that works is not given up; a list without end is"))
    func testThatASilentProcessThatWorksIsNotGivenUp() async throws {
        // On a busy machine a working process gets no processor time for a while.
        let silence = Int(min(max(1, TestLimits.scale), 3))
        var limits = NetworkLimits()
        limits.silence = .seconds(silence)
        limits.interval = .milliseconds(20)
        let watch = NetworkWatch(queue: .init(label: "work"), limits: limits)
        // It ends itself after a second more of work than it may be idle.
        for (script, code) in [
            ("ulimit -t \(silence + 1); while :; do :; done", SourceControlError.Code.other),
            ("tail -f /dev/null", .timedOut),
        ] {
            let process = ChildProcess(
                arguments: ["/bin/sh", "-c", script], environment: ["PATH": "/usr/bin:/bin"], directory: "/")
            await expectRejection(SourceControlError.self, \.code, code) {
                try await watch.run(limit: .seconds(600)) { control throws(SourceControlError) in
                    let result = try process.run("working", control: control)
                    throw SourceControlError(code: .other, operation: "working", message: "ended with \(result.status)")
                }
            }
        }
    }

    /// A watch finds it like this if the machine was suspended for the whole silence.
    @Test func testThatTheFirstMeasureOfWorkJudgesNothing() async throws {
        // given
        var limits = NetworkLimits()
        limits.silence = .milliseconds(TestLimits.passing(milliseconds: 200, most: 2000))
        let control = NetworkControl(limits: limits)
        #expect(control.add(process: 1 << 30))
        func silence() throws -> Duration { try #require(control.silence { _ in nil }) }
        try await until("the silence is too long") { try silence() > limits.silence }
        // when
        control.record(effort: 5)
        // then
        let first = try silence()
        #expect(first < limits.silence)
        #expect(control.silentProcesses == [1 << 30])
        // Another one without any work changes nothing
        control.record(effort: 5)
        #expect(try silence() >= first)
        // One with some work does
        control.record(effort: 6)
        #expect(try silence() < first)
    }
}
