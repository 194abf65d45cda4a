import Archives
import Basics
package import Execution
import Glibc
import JobProtocol
import Model
import SourceControl
import Storage

/// Archives the files of an attempt: the commit's source, and the products of the archived configuration.
///
/// The archives are in `archives/` of the attempt's directory, named by the commit. A version publishes the same bytes under its own name, so that a
/// digest on the integration's page is the digest of the release.
package struct ProductArchiver: Sendable {
    private let state: StateDirectory

    package init(state: StateDirectory) { self.state = state }

    /// Makes the archives of an attempt. The source of a commit without products is archived only if a trigger uses it, because it is in the
    /// repository.
    /// - Returns: The archives, and the files that should be in them and are missing. There are no archives if this configuration is not the archived
    ///   one, or if no trigger uses its products.
    /// - Throws: `ArchivingError` if no file matches what the recipe names. Any other error is a fault of the service.
    func archive(_ attempt: AttemptDirectory, of request: JobRunner.Request) async throws -> (
        artifacts: [Artifact], leftOut: [String]
    ) {
        let integration = request.integration
        let archived = request.bot.archivedConfiguration(of: request.recipe, on: integration.ref)
        guard archived == request.configuration.name else { return ([], []) }
        let queue = SerialQueue(label: "archiving.\(integration.id)")
        let source = "source-\(integration.id.bot)-\(integration.id.number)"
        let staging = state.staging
        let (hasFiles, notCopied) = try await queue.run {
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
            isBundled: request.recipe.archive.bundle ?? false, queue: queue)
        let packed = try await packer.pack(
            tree: attempt.paths.artifacts, source: "\(staging)/\(source)", into: attempt.paths.archives)
        try await queue.run { try Directory(opening: staging).remove(source) }
        return (packed.artifacts, notCopied + packed.leftOut)
    }

    /// The machine's triple in the form of the Swift compiler for Linux with glibc.
    static let triple: String = {
        var name = utsname()
        uname(&name)
        let machine = withUnsafeBytes(of: &name.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return "\(machine)-unknown-linux-gnu"
    }()
}

/// The error if the recipe archives files that do not exist.
struct ArchivingError: Error, CustomStringConvertible {
    var patterns: [String]
    /// The files that match a pattern but were not copied.
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
