import GRDB
import Glibc

/// More messages wait for one who fails than may: docs/manual.md, "Notices".
extension KillSweep {
    /// So many may wait for one destination: `OutboxLimits.waitingRows`.
    private static let most = 10_000

    func beginCrowding() throws -> Course {
        let (bot, listener) = (KillScenario.tellingCrowd.rawValue, listener)
        try crowd(bot)
        listener.set(.answers(503), for: bot)
        let one = try turn(bot)
        return Course(
            bot: bot, act: push(one.commit, to: bot), results: [(one.commit, one.result)], attempts: ["debug": 1]
        ) {
            let number = try self.end(of: one.commit, bot: bot)
            return try self.violations(bot, number, one.type, isTaken: false, refusal: 503, isDaemonKilled: $0)
        }
    }

    /// Has as many messages wait as may, once for all runs. They are newer than whatever the bot ever tells, so that this is what is given
    /// up, and behind one that there is not, so that they never are sent.
    private func crowd(_ bot: String) throws {
        guard !isCrowded else { return }
        service.end(SIGTERM)
        let tomorrow = Moment.wall / 1_000_000 + 86_400_000
        try change(
            """
            WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ?1)
            INSERT INTO outbox (kind, destination, account, subject, is_first, bot, content, state, next_at, created_at)
            SELECT 'webhook', ?2, ?3, 'the crowd', 0, ?3, '{}', 'waiting', ?4, ?4 FROM numbers
            """, [Self.most, "127.0.0.1:\(listener.port)", bot, tomorrow])
        try service.start()
        isCrowded = true
    }
}
