/// A request of the daemon to the launcher, of which each connection has one. It is sent as four bytes of length, little-endian, followed by JSON.
package struct LaunchRequest: Sendable, Equatable {
    /// The size limit of a request in bytes.
    package static let sizeLimit = 1 << 20

    /// The absolute path of the attempt's directory, which contains `job.json`.
    package let attempt: String
    /// The values of the secrets by name. They are never in files or arguments.
    package let secrets: [String: String]

    package init(attempt: String, secrets: [String: String]) {
        self.attempt = attempt
        self.secrets = secrets
    }

    /// Decodes a request.
    /// - Throws: `.malformed` or `.overLimit`.
    package init(json bytes: [UInt8]) throws(JobProtocolError) {
        let value = try JSON(bytes, limit: Self.sizeLimit)
        guard let attempt = value["attempt"]?.text, attempt.hasPrefix("/"), let members = value["secrets"]?.members
        else {
            throw JobProtocolError(.malformed, "read a launch request", "it needs an absolute attempt and secrets")
        }
        var secrets: [String: String] = [:]
        for (name, member) in members {
            guard let text = member.text, !text.utf8.contains(0), !name.contains("="), !name.isEmpty else {
                throw JobProtocolError(.malformed, "read a launch request", "the secret \(name) is not text")
            }
            secrets[name] = text
        }
        self.init(attempt: attempt, secrets: secrets)
    }

    /// Encodes the request for the launch socket, without its frame. It contains the values of secrets and is never written to a file.
    package func json() -> [UInt8] {
        JSON.object(["attempt": .string(attempt), "secrets": .object(secrets.mapValues(JSON.string))]).bytes()
    }
}

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
