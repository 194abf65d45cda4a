/// The limits of a transfer's time and size.
package struct TransferLimits: Sendable, Hashable {
    /// The time until the connection is established, including TLS or ssh. 10 s are enough for three lost SYNs (1 + 2 +
    /// 4 s).
    package var connect: Duration = .seconds(10)
    /// The time from the first to the last byte; `nil` means no limit.
    package var total: Duration? = .seconds(3600)
    /// The longest time with less than one byte per second; `nil` means no limit.
    package var stall: Duration? = .seconds(60)
    /// The size limit of the answer's body in bytes; a larger answer fails as `tooLarge`. 16 MiB are enough for every
    /// JSON answer; downloads set their own limit.
    package var response: Int64 = 16 << 20

    /// Returns the time for a number of bytes at the slowest rate that is accepted: 16 KiB per second (128 kbit/s).
    package static func time(for bytes: Int64) -> Duration { .seconds(bytes / (16 << 10)) }

    /// The size limit in bytes of all header fields of an answer together.
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
