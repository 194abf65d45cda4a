import API
import ArgumentParser

/// Waits for an integration's end, even if the daemon is restarted meanwhile.
enum Waiting {
    /// The results that end a command with the status 0.
    private static let green: Set<String> = ["succeeded", "warnings", "analyzer-warnings"]
    /// The most failing tests that are printed.
    private static let maximumTests = 20

    /// Prints the address of the integration's page, if it is known.
    static func printPage(of integration: API.Integration, _ connection: Connection) async {
        guard let page = await connection.page(of: integration) else { return }
        Output.print("\(Output.visible(page))\n")
    }

    /// Waits for the end and prints the result.
    /// - Parameter terminal: Where the progress is printed; `nil` to print the daemon's JSON in the end, and nothing else.
    /// - Throws: `ExitCode` if the integration is not green; `Failure` if the queued run never began.
    static func verdict(of queued: API.Integration, _ connection: Connection, _ terminal: Terminal?) async throws {
        let done = try await completion(of: queued, connection, isQuiet: terminal == nil)
        if done.run < queued.run {
            // The integration is back in its earlier state, which does not concern the requested run.
            throw Failure(
                .no,
                "\(done.id): run \(queued.run) was withdrawn before it began, so the result is still that of run \(done.run); "
                    + "`martlet show \(done.id)` prints it")
        }
        if let terminal {
            try await printFailingTests(of: done, connection, terminal)
            Output.print(
                Output.visible(done.id) + " " + terminal.paint(result: done.outcome) + ": "
                    + Output.visible(done.summary?.sentence ?? done.reason ?? "") + "\n")
        } else {
            Output.print(try await Retries.whileAway { try await connection.get(path(of: queued)) })
        }
        if !green.contains(done.outcome) { throw ExitCode(Failure.Status.no.rawValue) }
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
            let now = try await Retries.whileAway {
                try await connection.get(path(of: integration), as: API.Integration.self)
            }
            if now.state == "completed" { return now }
            if now.step != last, !isQuiet { Output.print(Output.visible("\(now.id) \(now.step)") + "\n") }
            last = now.step
            try await Task.sleep(for: .milliseconds(500))
        }
    }

    private static func printFailingTests(
        of done: API.Integration, _ connection: Connection, _ terminal: Terminal
    ) async throws {
        guard done.summary?.testFailures ?? 0 > 0 else { return }
        let list = try await Retries.whileAway {
            try await connection.get(
                path(of: done) + "/tests?failing=true&limit=\(maximumTests)", as: API.List<API.TestCase>.self)
        }
        for test in list.items {
            let name = Output.visible("\(Tests.fullName(test.suite, test.name)) [\(test.configuration)]")
            Output.print("\(terminal.paint(result: test.outcome)): \(name)\n")
        }
        if list.next != nil { Output.print("`martlet tests \(done.id) --failing` lists all that fail.\n") }
    }
}

/// Retries for commands that wait while a daemon that answered before is away, such as during a restart.
enum Retries {
    /// Stopping the daemon takes up to the 30 s that its unit allows (deploy/martlet.service), and starting it a few seconds.
    private static let limit = Duration.seconds(60)
    /// The delay between two requests to a daemon that is away.
    static let pause = Duration.milliseconds(200)

    /// Repeats a request while the daemon is away.
    /// - Throws: The `Failure` of `ask`; `unavailable` if the daemon stays away longer than `limit`.
    static func whileAway<Value>(_ ask: () async throws -> Value) async throws -> Value {
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
