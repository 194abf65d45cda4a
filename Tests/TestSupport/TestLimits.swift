import Foundation
package import Testing

/// The time limits of tests.
package enum TestLimits {
    /// The factor of every limit, from `MARTLET_TEST_TIMEOUT_SCALE` in the environment; 1 by default. It is for slow machines, sanitizers (5) and
    /// debuggers (1000).
    package static var scale: Double {
        ProcessInfo.processInfo.environment["MARTLET_TEST_TIMEOUT_SCALE"].flatMap(Double.init) ?? 1
    }

    /// The limit of `until` and of the fixtures: 10 s, scaled.
    package static var wait: Duration { .seconds(10) * scale }

    /// Returns a scaled limit, in milliseconds, that is never to be reached.
    package static func never(milliseconds: Int64) -> Int64 { Int64(Double(milliseconds) * scale) }

    /// Returns a scaled limit of a whole test.
    package static func minutes(_ minutes: Double) -> TimeLimitTrait.Duration {
        .minutes(Int((minutes * scale).rounded(.up)))
    }

    /// Returns a limit, in milliseconds, that the test lets pass, and before which something must happen. It is scaled up to `most`,
    /// because it is waited out each time.
    package static func passing(milliseconds: Int64, most: Int64 = 5000) -> Int64 {
        max(milliseconds, min(Int64(Double(milliseconds) * scale), most))
    }
}
