import Glibc

/// The machine's clocks, in nanoseconds.
package enum Moment {
    /// The time since some moment, for durations. It is never set back.
    package static var monotonic: Int64 { read(CLOCK_MONOTONIC) }
    /// The time since 1970, as printed by `date +%s%N`.
    package static var wall: Int64 { read(CLOCK_REALTIME) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    private static let scale = getenv("MARTLET_TEST_TIMEOUT_SCALE").flatMap { Double(String(cString: $0)) } ?? 1

    /// Returns the duration of `body`, in milliseconds.
    package static func milliseconds(_ body: () throws -> Void) rethrows -> Double {
        let start = monotonic
        try body()
        return Double(monotonic - start) / 1_000_000
    }

    /// Waits until a condition holds, and checks it every `pause` milliseconds. It is for the effects of daemons outside of this program, which
    /// send no event to it.
    /// - Parameter isScaled: Whether the limit grows with `MARTLET_TEST_TIMEOUT_SCALE`, as those of the tests do.
    /// - Returns: Whether the condition held within `limit` seconds.
    package static func until(
        limit: Double, pause: Double = 2, isScaled: Bool = true, _ condition: () throws -> Bool
    ) rethrows -> Bool {
        let end = monotonic + Int64(limit * (isScaled ? scale : 1) * 1_000_000_000)
        while true {
            if try condition() { return true }
            if monotonic > end { return false }
            usleep(useconds_t(pause * 1000))
        }
    }
}

/// Measured values and their statistics.
package struct Figures {
    private let sorted: [Double]

    package init(_ values: [Double]) { sorted = values.sorted() }

    package var median: Double { at(0.5) }
    package var p99: Double { at(0.99) }
    package var least: Double { sorted.first ?? .nan }

    private func at(_ share: Double) -> Double {
        sorted.isEmpty ? .nan : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }
}

extension Double {
    /// The text with two decimals.
    package var text: String {
        let hundredths = Int((self * 100).rounded())
        let rest = abs(hundredths % 100)
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}
