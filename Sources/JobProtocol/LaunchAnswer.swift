/// What the launcher answers, in the request's framing, once the supervisor holds the lock and makes its first step's process, or has ended.
package enum LaunchAnswer: Sendable, Equatable {
    /// By whether its job has a fence, the launcher knows what to have ready for the next one (`Readiness` of martlet-supervisor).
    case started(pid: Int32, isFenced: Bool = false)
    /// The attempt was launched before; whatever became of it is in its directory.
    case exists
    /// It could not be started: what was tried, what happened, what to do.
    case failed(String)

    /// - Throws: `.malformed` or `.overLimit`.
    package init(json bytes: [UInt8]) throws(JobProtocolError) {
        let value = try JSON(bytes, limit: LaunchRequest.sizeLimit)
        switch value["answer"]?.text {
        case "started":
            self = .started(
                pid: Int32(clamping: value["pid"]?.integer ?? 0), isFenced: value["fenced"]?.boolean ?? false)
        case "exists": self = .exists
        case "failed": self = .failed(value["reason"]?.text ?? "no reason was given")
        default: throw JobProtocolError(.malformed, "read a launch answer", "an unknown answer")
        }
    }

    /// What goes over the launch socket, without its frame.
    package func json() -> [UInt8] {
        switch self {
        case .started(let pid, let isFenced):
            JSON.object([
                "answer": .string("started"), "pid": .integer(Int64(pid)), "fenced": .bool(isFenced),
            ]).bytes()
        case .exists: JSON.object(["answer": .string("exists")]).bytes()
        case .failed(let reason): JSON.object(["answer": .string("failed"), "reason": .string(reason)]).bytes()
        }
    }
}
