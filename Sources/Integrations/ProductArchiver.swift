import Archives
import Basics
import Execution
import Glibc
import JobProtocol
import Model
import SourceControl
import Storage

/// Packs what an attempt archived: the commit's source, and the products of the archived configuration.
///
/// The files lie in `archives/` of the attempt's directory, named by the commit; a version publishes the very same bytes
/// under its own name, so that a digest seen on the integration's page is the digest of the release.
package struct ProductArchiver: Sendable {
    private let state: StateDirectory

    package init(state: StateDirectory) { self.state = state }

    /// The source of a commit without products is packed only if a trigger uses it: it is in the repository.
    /// - Returns: The files, or none if this configuration is not the archived one, or nothing uses its products; and the files that should be in them and are not.
    /// - Throws: `ArchivingError` if something that the recipe names is missing; any other error is ours.
    func archive(_ attempt: AttemptDirectory, of request: JobRunner.Request) async throws -> (
        artifacts: [Artifact], leftOut: [String]
    ) {
        let integration = request.integration
        let archived = request.bot.archivedConfiguration(of: request.recipe, on: integration.ref)
        guard archived == request.configuration.name else { return ([], []) }
        let lane = BlockingLane(label: "archiving.\(integration.id)")
        let source = "source-\(integration.id.bot)-\(integration.id.number)"
        let staging = state.staging
        let (hasFiles, notCopied) = try await lane.run {
            try Directory(opening: staging).remove(source)
            return (try !attempt.artifacts().isEmpty, try attempt.leftOut().filter { $0.step == nil }.map(\.text))
        }
        if !hasFiles, let include = request.recipe.archive.include, !include.isEmpty {
            throw ArchivingError(patterns: include, leftOut: notCopied)
        }
        guard hasFiles || request.bot.usesProducts(of: integration.ref) else {
            return ([], notCopied)
        }
        try await request.mirror.export(integration.commit, into: "\(staging)/\(source)")
        let packer = ArtifactPacker(
            product: request.bot.product, commit: integration.commit, configuration: request.configuration.name,
            triple: Self.triple, modified: integration.committedAt ?? integration.queuedAt,
            isBundled: request.recipe.archive.bundle ?? false, lane: lane)
        let packed = try await packer.pack(
            tree: attempt.paths.artifacts, source: "\(staging)/\(source)", into: attempt.paths.archives)
        try await lane.run { try Directory(opening: staging).remove(source) }
        return (packed.artifacts, notCopied + packed.leftOut)
    }

    /// The machine's triple, as the Swift compiler writes it for Linux with glibc.
    static let triple: String = {
        var name = utsname()
        uname(&name)
        let machine = withUnsafeBytes(of: &name.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return "\(machine)-unknown-linux-gnu"
    }()
}

/// The recipe archives files that are not there.
struct ArchivingError: Error, CustomStringConvertible {
    var patterns: [String]
    /// Files that match a pattern and were not copied.
    var leftOut: [String] = []

    var description: String {
        if let first = leftOut.first {
            return
                "archiving failed: nothing that matches include: [\(patterns.joined(separator: ", "))] could be copied: \(first)"
        }
        return
            "archiving failed: no file matches include: [\(patterns.joined(separator: ", "))]; paths are relative to the "
            + "repository's root, and the steps before must have made the files"
    }
}
