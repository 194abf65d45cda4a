package import Model
package import Storage
import TestSupport
import Testing

extension Bot {
    /// The time that a test waits for an integration: 30 s, scaled. All tests run at once, and each integration starts a dozen programs and
    /// synchronizes as many files. At a load of 18 on two cores some took 12 s.
    package static var waitLimit: Duration { TestLimits.wait * 3 }

    /// Waits until something is stored. It checks at once and after every change of the store, and never sleeps.
    /// - Parameter condition: Returns the awaited value, or `nil` while it is not stored.
    /// - Throws: `BotFailure` with the log if the limit passes.
    @discardableResult
    package func wait<Value: Sendable>(
        _ what: String, limit: Duration = Bot.waitLimit,
        for condition: @escaping @Sendable (Store) async throws -> Value?
    ) async throws -> Value {
        let store = try store
        let changes = store.changes()
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                if let value = try await condition(store) { return value }
                for await _ in changes {
                    if let value = try await condition(store) { return value }
                }
                return nil
            }
            group.addTask {
                try await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let value = first else {
                let lines = log.lines.suffix(20).map(\.description).joined(separator: "\n")
                throw BotFailure("\(what) did not come to be within \(limit); the log's end:\n\(lines)")
            }
            return value
        }
    }

    /// Waits until an integration is completed.
    package func completion(of id: IntegrationID, limit: Duration = Bot.waitLimit) async throws -> Integrated {
        let record = try await wait("the end of \(id)", limit: limit) { store in
            let record = try await store.integration(id)
            return record?.state.verdict == nil ? nil : record
        }
        return try await Integrated(record, store: try store)
    }

    /// Waits until the integration of a commit on a ref exists.
    package func integration(of commit: CommitID, on ref: RefName) async throws -> IntegrationOutline {
        try await wait("an integration of \(commit.abbreviated) on \(ref)") { store in
            try await store.integrations(IntegrationFilter(ref: ref, commit: commit)).items.first
        }
    }

    /// Waits until no integration is queued or running.
    package func idle(limit: Duration = Bot.waitLimit) async throws {
        try await wait("the end of all integrations", limit: limit) { store in
            let (queued, running) = (try await store.queued(), try await store.running())
            return queued.isEmpty && running.isEmpty ? true : nil
        }
    }

    /// Waits until an attempt of a job has reached a step.
    package func attempt(
        _ job: String = "debug", of id: IntegrationID, number: Int = 1, at step: JobStep? = nil
    ) async throws -> AttemptRecord {
        try await wait("attempt \(number) of \(id)/\(job) at \(step?.rawValue ?? "all")") { store in
            let attempts = try await store.attempts(of: id)
            return attempts.first { attempt in
                attempt.id.job.description == job && attempt.id.attempt == number
                    && (step == nil || attempt.steps.contains { $0.step == step })
            }
        }
    }
}

extension Bot {
    /// Begins an integration of a bot that uploads (`BotPlan.uploading`). Returns when the server has the upload, which it never answers.
    package func beginUploadWithoutAnswer() async throws -> IntegrationID {
        transport.serve("https://files.example/")
        transport.fail(request: 1, with: .silence)
        let id = try await begin(on: "release/1.0")
        await until("the upload begins", limit: Self.waitLimit) { transport.count == 1 }
        return id
    }
}
