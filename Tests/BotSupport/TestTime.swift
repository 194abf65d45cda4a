package import Model
package import Storage
import TestSupport

/// The wall clock of a test. It begins at 2026-03-01 12:00 UTC, a Sunday, and advances by 1 ms at each reading, so that later rows have later
/// times.
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
