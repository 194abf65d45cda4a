/// What the launcher answers, in the request's framing, once the supervisor holds the lock and makes its first step's process, or has ended.
package enum LaunchAnswer: Sendable, Equatable {
    /// The supervisor runs the job.
    case started(pid: Int32)
    /// The attempt was launched before; whatever became of it is in its directory.
    case exists
    /// It could not be started: what was tried, what happened, what to do.
    case failed(String)

    /// - Throws: `.malformed` or `.overLimit`.
    package init(json bytes: [UInt8]) throws(JobProtocolError) {
        let value = try JSON(bytes, limit: LaunchRequest.sizeLimit)
        switch value["answer"]?.text {
        case "started":
            self = .started(pid: Int32(clamping: value["pid"]?.integer ?? 0))
        case "exists": self = .exists
        case "failed": self = .failed(value["reason"]?.text ?? "no reason was given")
        default: throw JobProtocolError(.malformed, "read a launch answer", "an unknown answer")
        }
    }

    /// What goes over the launch socket, without its frame.
    package func json() -> [UInt8] {
        switch self {
        case .started(let pid):
            JSON.object(["answer": .string("started"), "pid": .integer(Int64(pid))]).bytes()
        case .exists: JSON.object(["answer": .string("exists")]).bytes()
        case .failed(let reason): JSON.object(["answer": .string("failed"), "reason": .string(reason)]).bytes()
        }
    }
}
