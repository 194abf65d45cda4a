import JobProtocol
import Model
import Reports

/// What the script of a usual command says to the service, in lines of its own; see `ProjectProfile.Command.prelude`.
///
/// Of a command that the recipe states nothing is read so. A job that prints such a line itself comes to what it could have had by
/// an exit status: never to a green that it could not have anyway.
struct UsualStepWords {
    /// The program without which it did not begin.
    private(set) var missing: String?
    private(set) var noTests: String?

    /// A longer text is none of ours, in bytes.
    private static let maximumBytes = 200

    /// Whether a step is a usual command with a script.
    static func mayBe(in step: JobDescription.Step) -> Bool {
        step.arguments.count > 3 && step.arguments[2].hasPrefix(ProjectProfile.Command.prelude)
    }

    mutating func take(_ line: LogLine) {
        guard line.count <= Self.maximumBytes, line.begins(with: "martlet: ") else { return }
        let text = line.text
        if let program = Self.rest(of: text, after: "martlet: missing: ") { missing = program }
        if let reason = Self.rest(of: text, after: "martlet: no tests: ") { noTests = reason }
    }

    private static func rest(of text: String, after prefix: String) -> String? {
        guard text.hasPrefix(prefix) else { return nil }
        return String(text.dropFirst(prefix.count))
    }
}
