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
