package import Integrations
import Model
import Storage

/// The output of `martlet run --json`: an integration as the HTTP interface returns it, together with its issues and tests.
package enum RunAnswer {
    /// Returns the JSON of `GET …/integrations/{number}` with `issues` and `tests`, as their own routes list them.
    package static func json(_ result: WorkingTreeResult) -> [UInt8] {
        // A working tree has no silences.
        let time = result.integration.queuedAt
        var members: [JSONValue.Member] = []
        if case .object(let known) = JSONValue(result.integration, attempts: result.attempts) { members = known }
        members.append(.init(key: "issues", value: .array(result.issues.map { JSONValue($0, at: time) })))
        members.append(.init(key: "tests", value: .array(result.tests.map { JSONValue($0) })))
        var bytes: [UInt8] = []
        JSONValue.object(members).write(to: &bytes)
        return bytes + [UInt8(ascii: "\n")]
    }
}
