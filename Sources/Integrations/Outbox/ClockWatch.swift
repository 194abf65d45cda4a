import Model

/// Notices that the wall clock went on, or back, by what the machine did not live through: it slept, or somebody set its clock.
struct ClockWatch: Sendable {
    /// A difference below this is let pass: clocks are adjusted now and then, by seconds.
    static let slack = Duration.seconds(600)

    private let lived: @Sendable () -> Duration
    /// The wall clock's time when nothing had been lived through.
    private var origin: Timestamp

    /// - Parameter timer: What sleepers wait by. `ContinuousClock` counts a machine's sleep too, so `SuspendingClock` is asked for that.
    init(_ timer: any Clock<Duration>, at now: Timestamp) {
        lived = timer is ContinuousClock ? Self.stopwatch(SuspendingClock()) : Self.stopwatch(timer)
        origin = now
    }

    /// - Returns: By how much, since the last time that it was said; nothing where the clocks agree.
    mutating func jump(at now: Timestamp) -> Duration? {
        let lived = lived()
        let jump = now - origin - lived
        guard jump > Self.slack || jump < .zero - Self.slack else { return nil }
        origin = now + (.zero - lived)
        return jump
    }

    private static func stopwatch<Timer: Clock>(
        _ timer: Timer
    ) -> @Sendable () -> Duration where Timer.Duration == Duration {
        let start = timer.now
        return { start.duration(to: timer.now) }
    }
}
