/// What the daemon sends to the launcher: four bytes of length, little-endian, then this as JSON. One request a connection.
package struct LaunchRequest: Sendable, Equatable {
    /// The most bytes of a request.
    package static let sizeLimit = 1 << 20

    /// The attempt's directory, absolute; `job.json` is in it.
    package let attempt: String
    /// Values by name. They are in no file and no argument.
    package let secrets: [String: String]

    package init(attempt: String, secrets: [String: String]) {
        self.attempt = attempt
        self.secrets = secrets
    }

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
                throw JobProtocolError(.malformed, "read a launch request", "the secret \(name) is no text")
            }
            secrets[name] = text
        }
        self.init(attempt: attempt, secrets: secrets)
    }

    /// What goes over the launch socket, without its frame. It holds the values of secrets and is never written to a file.
    package func json() -> [UInt8] {
        JSON.object(["attempt": .string(attempt), "secrets": .object(secrets.mapValues(JSON.string))]).bytes()
    }
}
