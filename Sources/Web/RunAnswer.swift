package import Integrations
import Model
import Storage

/// What `martlet run --json` prints: an integration as the interface has it, with its issues and tests in it.
package enum RunAnswer {
    /// JSON, as `GET …/integrations/{number}` answers it, with `issues` and `tests` as their own routes list them.
    package static func json(_ result: WorkingTreeResult) -> [UInt8] {
        // Nothing is silenced in a working tree.
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
