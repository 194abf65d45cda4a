/// The answer of the launcher, in the framing of the request. It is sent when the supervisor holds the lock and creates the process of the first
/// step, or has ended.
package enum LaunchAnswer: Sendable, Equatable {
    /// The supervisor runs the job.
    case started(pid: Int32)
    /// The attempt was launched before; whatever became of it is in its directory.
    case exists
    /// The job could not be started. The text states what was tried, what happened and what to do.
    case failed(String)

    /// Decodes an answer.
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

    /// Encodes the answer for the launch socket, without its frame.
    package func json() -> [UInt8] {
        switch self {
        case .started(let pid):
            JSON.object(["answer": .string("started"), "pid": .integer(Int64(pid))]).bytes()
        case .exists: JSON.object(["answer": .string("exists")]).bytes()
        case .failed(let reason): JSON.object(["answer": .string("failed"), "reason": .string(reason)]).bytes()
        }
    }
}
