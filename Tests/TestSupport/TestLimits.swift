import Foundation
package import Testing

/// How long a test waits for what must come.
package enum TestLimits {
    /// Multiplies every limit; from the environment's `MARTLET_TEST_TIMEOUT_SCALE`, 1 without it. For slow machines,
    /// sanitizers (5) and debuggers (1000).
    package static var scale: Double {
        ProcessInfo.processInfo.environment["MARTLET_TEST_TIMEOUT_SCALE"].flatMap(Double.init) ?? 1
    }

    /// What `until` and the fixtures wait at most: 10 s, scaled.
    package static var wait: Duration { .seconds(10) * scale }

    /// A limit that is never to be reached, scaled, in milliseconds.
    package static func never(milliseconds: Int64) -> Int64 { Int64(Double(milliseconds) * scale) }

    /// A time limit of a whole test, scaled.
    package static func minutes(_ minutes: Double) -> TimeLimitTrait.Duration {
        .minutes(Int((minutes * scale).rounded(.up)))
    }

    /// A limit that a test lets pass, and that something has to come before: scaled, but since it is waited out each time, to no more
    /// than five seconds, or what is asked for. In milliseconds.
    package static func passing(milliseconds: Int64, most: Int64 = 5000) -> Int64 {
        max(milliseconds, min(Int64(Double(milliseconds) * scale), most))
    }
}
