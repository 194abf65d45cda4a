/// How long and how large a transfer may be.
package struct TransferLimits: Sendable, Hashable {
    /// Until the connection stands, TLS or ssh included. 10 s: three lost SYNs (1 + 2 + 4 s) and some.
    package var connect: Duration = .seconds(10)
    /// From the first to the last byte; nothing means no such limit.
    package var total: Duration? = .seconds(3600)
    /// Longest time with less than one byte a second; nothing means no such limit.
    package var stall: Duration? = .seconds(60)
    /// Of the answer's body in bytes, after which the transfer is broken off as `tooLarge`. 16 MiB is far above every
    /// JSON answer; downloads say their own.
    package var response: Int64 = 16 << 20

    /// What the slowest line that a file is not given up on takes for so many bytes: 16 KiB a second, 128 kbit/s.
    package static func time(for bytes: Int64) -> Duration { .seconds(bytes / (16 << 10)) }

    /// Of an answer's header fields in bytes, all together.
    package static let headers = 256 << 10

    package init(
        connect: Duration = .seconds(10), total: Duration? = .seconds(3600), stall: Duration? = .seconds(60),
        response: Int64 = 16 << 20
    ) {
        self.connect = connect
        self.total = total
        self.stall = stall
        self.response = response
    }
}
