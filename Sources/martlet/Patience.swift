/// How long the commands that wait bear with a daemon which answered them before, as when it is restarted.
enum Patience {
    /// Stopping it takes up to the 30 s that its unit allows (deploy/martlet.service), and starting it a few.
    private static let limit = Duration.seconds(60)
    /// Between looks at a daemon that is away.
    static let pause = Duration.milliseconds(200)

    /// Asks again as long as the daemon is away.
    /// - Throws: `Failure` as `ask` does; `unavailable` of a daemon that stays away for too long.
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
