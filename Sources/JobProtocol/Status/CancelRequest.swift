/// The content of `cancel`: a request to end this attempt. A signal to the supervisor without this file means that the
/// machine is stopping.
package struct CancelRequest: Sendable, Equatable {
    /// The size limit of the file in bytes.
    package static let sizeLimit = 64 * 1024

    package let reason: String
    /// The time that the step has to end after SIGTERM, before it is killed.
    package let graceMilliseconds: Int64

    package init(reason: String, graceMilliseconds: Int64) {
        self.reason = reason
        self.graceMilliseconds = graceMilliseconds
    }

    /// Decodes the content of `cancel`.
    /// - Throws: `.malformed` or `.overLimit`.
    package init(json bytes: [UInt8]) throws(JobProtocolError) {
        let value = try JSON(bytes, limit: Self.sizeLimit)
        guard let reason = value["reason"]?.text, let grace = value["grace"]?.integer, grace >= 0 else {
            throw JobProtocolError(.malformed, "read cancel", "it needs a reason and a grace in milliseconds")
        }
        self.init(reason: reason, graceMilliseconds: grace)
    }

    /// Encodes the content of the file `cancel`.
    package func json() -> [UInt8] {
        JSON.object(["reason": .string(reason), "grace": .integer(graceMilliseconds)]).bytes()
    }
}
