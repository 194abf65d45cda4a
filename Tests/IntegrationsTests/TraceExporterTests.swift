import JobProtocol
import Logging
import Model
import Settings
import Storage
import TestSupport
import Testing
import Transfer

@testable import Integrations

@Suite struct TraceExporterTests {
    private static let collector = "http://127.0.0.1:4318/v1/traces"
    private static let kit = Name(nearest: "kit")
    private static let start = Timestamp(secondsSinceEpoch: 1_772_366_400)
    private static let id = IntegrationID(bot: kit, number: 1)

    /// An integration of a minute with one job of two steps, of which the second fails.
    private static func completed(_ store: Store, repository: String) async throws -> IntegrationRecord {
        try await store.register([BotSpecification(name: kit, repository: repository)], at: start)
        let commit = try #require(CommitID(String(repeating: "1", count: 40)))
        let record = try await store.queue(
            NewIntegration(bot: kit, ref: RefName(branch: "main"), commit: commit, cause: .push), at: start)
        _ = try await store.apply(.started, to: record.id, at: start + .seconds(2))
        _ = try await store.apply(
            .completed(.testFailures, triggerFailed: false), to: record.id, at: start + .seconds(62))
        return try #require(try await store.integration(record.id))
    }

    private static func attempt() throws -> AttemptRecord {
        var attempt = AttemptRecord(
            id: AttemptID(integration: id, job: Name(nearest: "debug"), attempt: 1),
            state: .processed(.testFailures), queuedAt: start)
        attempt.startedAt = start + .seconds(3)
        attempt.endedAt = start + .seconds(60)
        attempt.steps = [
            StepRecord(
                index: 0, step: .building, name: "swift build", startedAt: start + .seconds(4),
                endedAt: start + .seconds(30), exit: 0),
            StepRecord(
                index: 1, step: .testing, name: "swift test", startedAt: start + .seconds(30),
                endedAt: start + .seconds(59), exit: 1),
        ]
        return attempt
    }

    private static func withStore(_ body: (Store) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let store = try Store.open(path: directory.path("martlet.sqlite"))
            try await body(store)
            try store.close()
        }
    }

    private static func exporter(
        _ store: Store, _ transport: FakeTransport, _ clock: ManualClock, _ log: RecordingLogger
    ) -> TraceExporter {
        TraceExporter(
            settings: TraceSettings(endpoint: "http://127.0.0.1:4318"), store: store,
            secrets: SecretStore(directory: nil, credentialsDirectory: nil), transport: transport,
            clock: WallClock { start }, timer: clock, url: "http://ci.example", version: "1.2.3", logger: log.logger)
    }

    /// opentelemetry.io/docs/specs/semconv/cicd/cicd-spans
    @Test(
        .proves(
            .programs,
            "A trace has a span for an integration, each job and each step, with OpenTelemetry's conventions for CI/CD")
    )
    func testThatATraceHasASpanForEachPart() async throws {
        try await Self.withStore { store in
            // given
            let record = try await Self.completed(store, repository: "https://user:secret@git.acme.example/kit.git")
            // when
            let trace = try #require(IntegrationTrace(record, [try Self.attempt()], url: "http://ci.example"))
            // then
            #expect(trace.id.utf8.count == 32)
            #expect(trace.attributes["vcs.repository.url.full"] == "https://git.acme.example/kit.git")
            #expect(trace.attributes["cicd.pipeline.run.id"] == "kit#1")
            #expect(trace.attributes["cicd.pipeline.run.url.full"] == "http://ci.example/bots/kit/1")
            #expect(trace.attributes["vcs.ref.head.name"] == "main")
            #expect(trace.spans.map(\.name) == ["RUN kit", "debug", "swift build", "swift test"])
            #expect(trace.spans.map(\.parent) == [nil, trace.spans[0].id, trace.spans[1].id, trace.spans[1].id])
            #expect(Set(trace.spans.map(\.id)).count == 4)
            #expect(trace.spans.map(\.result) == [.failure, .failure, .success, .failure])
            #expect(trace.spans[0].kind == .server)
            #expect(trace.spans[0].attributes["cicd.pipeline.result"] == "failure")
            #expect(trace.spans[0].attributes["error.type"] == "test-failures")
            #expect(trace.spans[2].attributes["cicd.pipeline.task.type"] == "build")
            #expect(trace.spans[2].attributes["error.type"] == nil)
            #expect(trace.spans[3].attributes["cicd.pipeline.task.run.result"] == "failure")
            #expect(trace.spans[3].message == "exit status 1")
            #expect(IntegrationTrace(record, [try Self.attempt()], url: "http://ci.example") == trace)
        }
    }

    @Test(
        .proves(
            .programs,
            "Traces go to an OTLP/HTTP collector after an integration has ended, and are sent again with growing pauses"
        ))
    func testThatATraceIsSentAgainUntilTheCollectorTakesIt() async throws {
        try await Self.withStore { store in
            try await withFakeTransport { transport in
                // given
                let (clock, log) = (ManualClock(), RecordingLogger())
                transport.answer(.post, Self.collector, with: TransferResponse(status: 200))
                transport.fail(request: 1, with: .status(503))
                transport.fail(request: 2, with: .before(.unreachable))
                let exporter = Self.exporter(store, transport, clock, log)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await exporter.run() }
                    // when
                    _ = try await Self.completed(store, repository: "/srv/kit.git")
                    for number in 1...2 {
                        await until { transport.count == number }
                        await clock.awaitSleepers(1)
                        clock.advance(by: .seconds(2))
                    }
                    // then
                    await until { transport.count == 3 }
                    group.cancelAll()
                }
                let requests = transport.takeRequests()
                #expect(Set(requests.map(\.body)).count == 1)
                #expect(requests.allSatisfy { $0.headers["Content-Type"] == "application/json" })
                let body = try JSON(requests[2].body, limit: 1 << 20)
                let resource = body["resourceSpans"]?.elements?.first
                let span = resource?["scopeSpans"]?.elements?.first?["spans"]?.elements?.first
                #expect(span?["name"] == .string("RUN kit"))
                #expect(span?["startTimeUnixNano"] == .string("1772366402000000000"))
                #expect(span?["endTimeUnixNano"] == .string("1772366462000000000"))
                #expect(span?["kind"] == .integer(2))
                #expect(span?["status"]?["code"] == .integer(2))
            }
        }
    }

    /// A full service must not fill its memory for a collector that is gone.
    @Test(.proves(.badInput, "A collector that takes no traces holds at most 1,000 integrations up, and delays none"))
    func testThatWhatACollectorRefusesIsDroppedAndSaid() async throws {
        try await Self.withStore { store in
            try await withFakeTransport { transport in
                // given
                let (clock, log) = (ManualClock(), RecordingLogger())
                transport.answer(.post, Self.collector, with: TransferResponse(status: 400))
                let exporter = Self.exporter(store, transport, clock, log)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await exporter.run() }
                    // when
                    _ = try await Self.completed(store, repository: "/srv/kit.git")
                    // then
                    await until { log.lines.contains { $0.description.contains("traces were not taken") } }
                    group.cancelAll()
                }
                #expect(transport.takeRequests().count == 1)
            }
        }
    }
}
