import Glibc

/// The clocks of the kernel.
enum Time {
    /// Returns the monotonic clock, which cannot be set and stops while the machine sleeps. It is for timeouts.
    static func monotonicMilliseconds() -> Int64 { milliseconds(CLOCK_MONOTONIC) }

    /// Returns the time since the epoch, for times that users read.
    static func wallMilliseconds() -> Int64 { milliseconds(CLOCK_REALTIME) }

    /// Returns the processor time of this thread. It measures the cost of a check without the time in which other threads had the processor.
    static func workedMilliseconds() -> Int64 { milliseconds(CLOCK_THREAD_CPUTIME_ID) }

    private static func milliseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// Limits in words, such as `10 min` and `64 MiB`.
enum Words {
    static func duration(_ milliseconds: Int64) -> String {
        switch milliseconds {
        case let value where value > 0 && value % 3_600_000 == 0: "\(value / 3_600_000) h"
        case let value where value > 0 && value % 60_000 == 0: "\(value / 60_000) min"
        case let value where value % 1000 == 0: "\(value / 1000) s"
        default: "\(milliseconds) ms"
        }
    }

    /// Returns a number such as `2,000,000`.
    static func number(_ value: Int64) -> String {
        var text = ""
        for (index, digit) in String(value).reversed().enumerated() {
            text = String(digit) + (index > 0 && index % 3 == 0 ? "," : "") + text
        }
        return text
    }

    static func size(_ bytes: Int64) -> String {
        switch bytes {
        case let value where value > 0 && value % (1 << 30) == 0: "\(value >> 30) GiB"
        case let value where value > 0 && value % (1 << 20) == 0: "\(value >> 20) MiB"
        case let value where value > 0 && value % 1024 == 0: "\(value >> 10) KiB"
        default: "\(bytes) bytes"
        }
    }
}
