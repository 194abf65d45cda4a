extension StatusEvent {
    /// Decodes an event.
    /// - Parameter line: The line without its newline.
    /// - Throws: `.malformed` or `.overLimit`.
    package init(line: some Collection<UInt8>) throws(JobProtocolError) {
        let value = try JSON(line, limit: Self.lineLimit)
        func malformed(_ what: String) -> JobProtocolError { JobProtocolError(.malformed, "read status.jsonl", what) }
        guard let event = value["event"]?.text, let at = value["at"]?.integer else {
            throw malformed("a line without event or time")
        }
        let step = value["step"]?.integer.flatMap { Int(exactly: $0) }
        switch event {
        case "started":
            guard let step else { throw malformed("started without a step") }
            self = .started(step: step, at: at)
        case "ended":
            guard let step else { throw malformed("ended without a step") }
            let exit = value["exit"]?.integer.flatMap { Int32(exactly: $0) }
            let signal = value["signal"]?.integer.flatMap { Int32(exactly: $0) }
            guard (exit == nil) != (signal == nil) else { throw malformed("ended needs an exit or a signal") }
            let usage = value["usage"]
            self = .ended(
                step: step, at: at, exit: exit, signal: signal, limit: value["limit"]?.text,
                usage: Usage(
                    userMilliseconds: usage?["user"]?.integer ?? 0, systemMilliseconds: usage?["system"]?.integer ?? 0,
                    maximumResidentBytes: usage?["memory"]?.integer ?? 0))
        case "finished":
            guard let result = value["result"]?.text.flatMap(Outcome.init(rawValue:)) else {
                throw malformed("finished without a known result")
            }
            self = .finished(
                at: at, result: result, reason: value["reason"]?.text, limit: value["limit"]?.text, step: step)
        default: throw malformed("an unknown event")
        }
    }

    /// Encodes the event as one line, without its newline.
    package func line() -> [UInt8] {
        var members: [String: JSON] = ["at": .integer(at)]
        switch self {
        case .started(let step, _):
            members["event"] = .string("started")
            members["step"] = .integer(Int64(step))
        case .ended(let step, _, let exit, let signal, let limit, let usage):
            members["event"] = .string("ended")
            members["step"] = .integer(Int64(step))
            members["exit"] = exit.map { .integer(Int64($0)) }
            members["signal"] = signal.map { .integer(Int64($0)) }
            members["limit"] = limit.map(JSON.string)
            members["usage"] = .object([
                "user": .integer(usage.userMilliseconds), "system": .integer(usage.systemMilliseconds),
                "memory": .integer(usage.maximumResidentBytes),
            ])
        case .finished(_, let result, let reason, let limit, let step):
            members["event"] = .string("finished")
            members["result"] = .string(result.rawValue)
            members["reason"] = reason.map(JSON.string)
            members["limit"] = limit.map(JSON.string)
            members["step"] = step.map { .integer(Int64($0)) }
        }
        return JSON.object(members).bytes()
    }

    /// Decodes all complete lines of a status file. A last line without a newline is still being written and is left
    /// out.
    /// - Throws: `.malformed` or `.overLimit` for a complete line that is not an event.
    package static func events(in bytes: some Collection<UInt8>) throws(JobProtocolError) -> [StatusEvent] {
        var events: [StatusEvent] = []
        var lines = Array(bytes).split(separator: 0x0A, omittingEmptySubsequences: false)
        lines.removeLast()
        for line in lines { events.append(try StatusEvent(line: line)) }
        return events
    }
}
