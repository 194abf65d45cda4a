package import API
package import Integrations
import Model
import Storage

extension API.LocalRun {
    /// Creates the output of `martlet run --json` from the result of a run.
    package init(_ result: WorkingTreeResult) {
        // A working tree has no silences.
        let time = result.integration.queuedAt
        self.init(
            detail: API.IntegrationDetail(result.integration, attempts: result.attempts, root: nil),
            issues: result.issues.map { API.Issue($0, at: time) }, tests: result.tests.map { API.TestCase($0) })
    }

    /// The text as `martlet run --json` prints it, in the form of the HTTP interface's answers.
    package func json() throws -> [UInt8] { try JSONWriter.bytes(of: self) + [UInt8(ascii: "\n")] }
}
