import Model

/// Detects when the wall clock jumps forward or back against the elapsed time, because the machine slept or its clock was set.
struct ClockWatch: Sendable {
    /// The largest difference that is ignored: clocks are adjusted by seconds now and then.
    static let slack = Duration.seconds(600)

    private let lived: @Sendable () -> Duration
    /// The wall clock's time at which the elapsed time was zero.
    private var origin: Timestamp

    /// - Parameter timer: The clock with which the caller waits. `ContinuousClock` also counts a machine's sleep, so `SuspendingClock` replaces it
    ///   here.
    init(_ timer: any Clock<Duration>, at now: Timestamp) {
        lived = timer is ContinuousClock ? Self.stopwatch(SuspendingClock()) : Self.stopwatch(timer)
        origin = now
    }

    /// Returns the jump since the last one that was returned; `nil` if the clocks agree.
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
