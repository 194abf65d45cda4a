import API
import ArgumentParser

/// Waits for an integration's end, even if the daemon is restarted meanwhile.
enum Waiting {
    /// Waits for the end and prints the result.
    /// - Throws: `ExitCode` if the integration is not green; `Failure` if the queued run never began.
    static func verdict(of queued: API.Integration, _ connection: Connection, json: Bool) async throws {
        let done = try await completion(of: queued, connection, isQuiet: json)
        if done.run < queued.run {
            // The integration is back in its earlier state, which does not concern the requested run.
            throw Failure(
                .no, "\(done.id): run \(queued.run) was taken back before it began; what is there is of run \(done.run)"
            )
        }
        if json {
            Output.print(try await Patience.bearing { try await connection.get(path(of: queued)) })
        } else {
            Output.print(
                Output.visible("\(done.id) \(done.outcome): \(done.summary?.sentence ?? done.reason ?? "")") + "\n")
        }
        if !["succeeded", "warnings", "analyzer-warnings"].contains(done.outcome) {
            throw ExitCode(Failure.Status.no.rawValue)
        }
    }

    private static func path(of integration: API.Integration) -> String {
        "/api/v1/bots/\(integration.bot)/integrations/\(integration.number)"
    }

    /// Polls every half second, prints each new step, and returns the completed integration.
    private static func completion(
        of integration: API.Integration, _ connection: Connection, isQuiet: Bool
    ) async throws -> API.Integration {
        var last = ""
        while true {
            let now = try await Patience.bearing {
                try await connection.get(path(of: integration), as: API.Integration.self)
            }
            if now.state == "completed" { return now }
            if now.step != last, !isQuiet { Output.print(Output.visible("\(now.id) \(now.step)") + "\n") }
            last = now.step
            try await Task.sleep(for: .milliseconds(500))
        }
    }
}

/// Retries for commands that wait while a daemon that answered before is away, such as during a restart.
enum Patience {
    /// Stopping the daemon takes up to the 30 s that its unit allows (deploy/martlet.service), and starting it a few seconds.
    private static let limit = Duration.seconds(60)
    /// The delay between two requests to a daemon that is away.
    static let pause = Duration.milliseconds(200)

    /// Repeats a request while the daemon is away.
    /// - Throws: The `Failure` of `ask`; `unavailable` if the daemon stays away longer than `limit`.
    static func bearing<Value>(_ ask: () async throws -> Value) async throws -> Value {
        let end = ContinuousClock.now + limit
        while true {
            do {
                return try await ask()
            } catch let failure as Failure {
                guard failure.status == .unavailable, ContinuousClock.now < end else { throw failure }
                try await Task.sleep(for: pause)
            }
        }
    }
}
