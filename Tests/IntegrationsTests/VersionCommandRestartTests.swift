import Basics
import BotSupport
import Execution
import ExecutionSupport
import JobProtocol
import Model
import Settings
import Storage
import TestSupport
import Testing
import Transfer

@testable import Integrations

/// A daemon that ends between a version command's end and the publication; the next one asks again.
@Suite struct VersionCommandRestartTests {
    private func runner(_ fixture: PublisherFixture, _ executor: ScriptedExecutor) throws -> TriggerRunner {
        let state = StateDirectory(path: fixture.directory.path)
        let secrets = SecretStore(directory: nil, credentialsDirectory: nil)
        return TriggerRunner(
            store: fixture.store, state: state, executor: executor, publisher: fixture.publisher,
            uploads: Uploads(uploader: Uploader(transport: FakeTransport()), secrets: secrets), scripts: "/nowhere",
            secrets: secrets, environment: JobEnvironment(daemon: [:], url: ""), clock: fixture.time.clock,
            logger: fixture.log.logger)
    }

    /// What two daemons, one after the other, are told by one attempt.
    private func asked(printing text: String?, exit: Int32 = 0) async throws -> [Result<String, PublishError>] {
        let answers = Locked<[Result<String, PublishError>]>([])
        try await withPublisher { fixture in
            try fixture.directory.makeDirectory("integrations")
            let starts = Locked(0)
            let executor = ScriptedExecutor { job in
                starts.withLock { $0 += 1 }
                return ScriptedExecutor.Plan { _, _ in
                    if let text {
                        do {
                            try Directory(opening: job.workspace).write(".martlet-version", bytes: Array(text.utf8))
                        } catch { Issue.record(error) }
                    }
                    return .init(exit: exit)
                }
            }
            let request = try await fixture.request(fixture.commit("a"))
            let context = TriggerRunner.Context(
                integration: request.integration, bot: request.bot, mirror: request.mirror)
            let trigger = Trigger(
                name: try Samples.name("publish"), when: [.succeeded], action: .publish(.command("./version")))
            let log = StateDirectory.trigger(trigger.name, of: request.integration.id) + "/1"
            for _ in 1...2 {
                do {
                    let printed = try await runner(fixture, executor).printedVersion(
                        "./version", trigger, log: log,
                        as: JobDescription(steps: [], environment: [:], workspace: "/w"),
                        context, Cancellation())
                    answers.withLock { $0.append(.success(String(decoding: printed, as: UTF8.self))) }
                } catch let error as PublishError {
                    answers.withLock { $0.append(.failure(error)) }
                }
                // Nothing of a checkout waits for the publication.
                expectNoFile(fixture.directory.path(log) + ".work")
            }
            #expect(starts.value == 1)
        }
        return answers.value
    }

    @Test(arguments: ["1.4.0\n", nil]) func testThatWhatItPrintedIsKept(text: String?) async throws {
        let answers = try await asked(printing: text).map { try $0.get() }
        #expect(answers == [text ?? "", text ?? ""])
    }

    @Test func testThatItsFailureStaysTheSame() async throws {
        for answer in try await asked(printing: "1.4.0\n", exit: 3) {
            let error = #expect(throws: PublishError.self) { try answer.get() }
            expectContains(error?.description ?? "", "the command for the version failed")
        }
    }
}
