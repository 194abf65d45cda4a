import Foundation
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// `martlet log` as users run it.
@Suite struct LogCommandTests {
    private static let office = Name(nearest: "office")

    /// Stores a trigger's attempt with its output so far.
    private static func trigger(
        _ attempt: Int, printed text: String, isEnded: Bool = true, _ web: WebFixture
    ) async throws {
        try web.directory.write("state/\(place(attempt))/log", text)
        try await record(attempt, isEnded: isEnded, web)
    }

    private static func place(_ attempt: Int) -> String { "integrations/kit/1/_trigger-office/\(attempt)" }

    private static func record(_ attempt: Int, isEnded: Bool, _ web: WebFixture) async throws {
        try await web.store.recordTrigger(
            TriggerRecord(
                integration: IntegrationID(bot: SampleContent.kit, number: 1), trigger: office, attempt: attempt,
                phase: .after, state: isEnded ? .succeeded : .running, startedAt: WebFixture.now,
                endedAt: isEnded ? WebFixture.now : nil, log: place(attempt)))
    }

    /// Runs the command with its output piped into a shell command.
    private func martlet(_ arguments: String, into reader: String, _ web: WebFixture) async throws -> ProgramResult {
        try await run(
            ["sh", "-c", "\"$0\" log \(arguments) | \(reader)", try TestTools.builtProduct("martlet")],
            in: web.directory.path, environment: ["PATH": "/usr/bin:/bin", "MARTLET_URL": web.socket])
    }

    /// A log is fetched in parts of 1 MiB, and followed in parts of 64 KiB. U+009B (CSI) and U+202E, a line end and a color are each cut by the end
    /// of a part.
    @Test(
        .proves(.jobs, "A long log's terminal controls are seen also where a piece ends within one (X3)"),
        arguments: [[], ["--follow"]])
    func testThatWhatAPieceOfALogCutsIsSeenAsAWhole(_ arguments: [String]) async throws {
        try await withWeb { web in
            // given
            try await SampleContent(web: web).fill()
            let mebibyte = 1 << 20
            var (log, safe) = ("", "")
            for (text, seen, cut) in [
                ("\u{9B}2J", "??2J", 1), ("\u{202E}", "???", 2), ("\r\n", "\r\n", 1), ("\rover", "\nover", 1),
                ("\u{1B}[31mred", "\u{1B}[31mred", 3),
            ] {
                let filling = String(repeating: ".", count: mebibyte - log.utf8.count % mebibyte - cut)
                log += filling + text
                safe += filling + seen
            }
            // The beginning of a color is at the end
            log += "\u{1B}["
            safe += "?["
            try web.directory.write("state/integrations/kit/1/debug/1/log", log)
            // when
            let printed = try await WebTests.martlet(
                ["log", "kit#1", "--configuration", "debug", "--color", "always"] + arguments, web)
            // then
            #expect(printed.status == 0, "\(printed.stderr)")
            let isSafe = printed.stdout.utf8.elementsEqual(safe.utf8)
            #expect(isSafe, "\(printed.stdout.utf8.filter { $0 != UInt8(ascii: ".") })")
        }
    }

    @Test(
        .proves(
            .jobs,
            "`martlet log` is of one attempt, also when another begins meanwhile; it follows triggers' logs, and says what is not there"
        ), arguments: ["debug", "_trigger-office", "office"])
    func testThatALogIsOfOneAttemptAlsoWhenAFurtherOneBeginsMeanwhile(_ name: String) async throws {
        try await withWeb { web in
            // given: the reader has not taken the first part yet
            let job = try await LogEventsTests.Running(web)
            let log = String(repeating: "first\n", count: 1 << 18)
            job.print(log)
            try await Self.trigger(1, printed: log, web)
            async let printed = martlet(
                "kit#1 --configuration \(name)",
                into: "{ head -c 1; : >begun; while ! test -e further; do sleep 0.02; done; cat; }", web)
            await until("it is printed") { FileManager.default.fileExists(atPath: web.directory.path("begun")) }
            // when
            try await job.another("second\n")
            try await Self.trigger(2, printed: "second\n", web)
            try web.directory.write("further", "")
            // then
            let result = try await printed
            #expect(result.stderr == "")
            let isWhole = result.stdout == log
            #expect(isWhole, "\(result.stdout.utf8.count) of \(log.utf8.count) bytes")
        }
    }

    @Test(
        .proves(
            .jobs,
            "`martlet log` is of one attempt, also when another begins meanwhile; it follows triggers' logs, and says what is not there"
        ), arguments: ["_trigger-office", "office"])
    func testThatATriggersLogIsFollowedWhileItIsWritten(_ name: String) async throws {
        try await withWeb(looksAtLogs: .milliseconds(20)) { web in
            // given
            let job = try await LogEventsTests.Running(web)
            try await Self.trigger(1, printed: "first\n", isEnded: false, web)
            async let followed = martlet("kit#1 --configuration \(name) --follow", into: "tee printed", web)
            // when
            let isSeen = await until("what is there is printed") {
                (try? web.directory.text("printed")) == "first\n"
            }
            let log = try FileHandle(
                forWritingTo: URL(filePath: "\(web.state)/\(Self.place(1))/log"))
            try log.seekToEnd()
            try log.write(contentsOf: Data("second\n".utf8))
            try await Self.record(1, isEnded: true, web)
            _ = try await web.store.apply(
                .completed(.succeeded, triggerFailed: false), to: job.id.integration, at: WebFixture.now)
            // then
            #expect(isSeen)
            #expect(try await followed.stdout == "first\nsecond\n")
        }
    }

    @Test(
        .proves(
            .jobs,
            "`martlet log` is of one attempt, also when another begins meanwhile; it follows triggers' logs, and says what is not there"
        ), arguments: [[], ["--follow"]])
    func testThatAnAttemptThatIsNotThereIsSaid(_ arguments: [String]) async throws {
        try await withWeb { web in
            // given
            try await SampleContent(web: web).fill()
            // when
            let printed = try await WebTests.martlet(
                ["log", "kit#1", "--configuration", "debug", "--attempt", "9"] + arguments, web)
            // then
            #expect(printed.status == 66)
            #expect(printed.stdout == "")
            expectContains(printed.stderr, "kit#1 has no such job, trigger or attempt; `martlet show kit#1` lists")
        }
    }
}
