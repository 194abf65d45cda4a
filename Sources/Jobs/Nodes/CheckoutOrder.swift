import Basics
package import Execution
import Foundation
import JobProtocol
package import Model

/// What a node of a cluster checks out before it runs an attempt: the content of `checkout.json`. The daemon writes it; `NodeCheckout` does it.
package struct CheckoutOrder: Sendable, Hashable, Codable {
    /// The size limit of the file in bytes.
    static let sizeLimit = 1 << 20

    /// The directory of the mirrors, which the node sees at the same path.
    package var mirrors: String
    /// The URL of the repository, which names its mirror. The node contacts no server.
    package var repository: String
    package var commit: CommitID
    package var ref: RefName
    /// The absolute path of the tree on the node.
    package var tree: String
    package var clean: BotSpecification.Clean
    /// Whether the workspace is emptied whatever `clean` says.
    package var isClean: Bool
    /// The names in the root that an incremental build needs.
    package var kept: [String]
    package var hasSubmodules: Bool
    package var upstream: [RefName: CommitID]
    package var defaultBranch: RefName?
    package var acceptsPointers: Bool
    /// See `JobRunner.Place.mark`.
    package var mark: String
    package var isSandboxed: Bool
    /// The patterns of the steps' reports.
    package var reports: [String]

    /// Writes the order into an attempt's directory.
    /// - Throws: `FileError`; `EncodingError`.
    func write(to attempt: AttemptDirectory) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try AtomicFile.write(Array(encoder.encode(self)), to: attempt.paths.checkout)
    }

    /// Reads an attempt's order.
    /// - Throws: `FileError`; `DecodingError`.
    package static func read(of attempt: AttemptDirectory) throws -> CheckoutOrder {
        try JSONDecoder().decode(Self.self, from: Data(WholeFile.read(attempt.paths.checkout, limit: sizeLimit)))
    }
}
