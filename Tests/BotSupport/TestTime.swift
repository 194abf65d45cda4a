package import Model
package import Storage
import TestSupport

/// The time of day in a test: it begins at 2026-03-01 12:00 UTC, a Sunday, and goes on by a millisecond whenever it is asked, so that
/// what is stored later is later.
package final class TestTime: Sendable {
    private let milliseconds: Locked<Int64>

    package init(_ start: Timestamp = Timestamp(millisecondsSinceEpoch: 1_772_366_400_000)) {
        milliseconds = Locked(start.millisecondsSinceEpoch)
    }

    package var clock: WallClock { WallClock { self.now } }

    package var now: Timestamp {
        Timestamp(
            millisecondsSinceEpoch: milliseconds.withLock { value in
                value += 1
                return value
            })
    }

    package func advance(by duration: Duration) { milliseconds.withLock { $0 += duration.milliseconds } }
}
