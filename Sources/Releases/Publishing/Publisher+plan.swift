package import Model
package import SourceControl
import Storage

extension Publisher {
    /// The result of a publish trigger for the next push of a branch.
    package enum Prospect: Hashable, Sendable {
        /// The next push would become this version, unless another commit is published first.
        case version(SemanticVersion)
        /// The next push gets no version, for this reason.
        case noVersion(String)
        /// Only the integration can determine the version. The text states where it comes from.
        case unknown(String)
    }

    /// Returns the version that the next commit of a branch would get by the rules of `publish`. Does not reserve the version.
    /// - Parameter tip: The branch's newest commit, which is in the mirror. It represents the next commit.
    /// - Throws: `StoreError`, `SourceControlError` and `ArchiveError` if the store, the mirror or the versions cannot be read.
    package func prospect(
        of source: Trigger.VersionSource, product: Name, ref: RefName, tip: CommitID, mirror: Mirror
    ) async throws -> Prospect {
        do {
            switch source {
            case .branch:
                let line = try Self.line(of: ref).line
                let onDisk = try await versions.versions(of: product)
                let next = try await store.nextVersion(
                    major: line.major, minor: line.minor, product: product, onDisk: onDisk)
                switch next {
                case .reserved(let version): return .version(version)
                case .conflict(let sentence): return .noVersion(sentence)
                case .already, .superseded, .newestChanged: return .unknown("the branch's name")
                }
            case .tag:
                return .version(try Self.version(ofTag: ref))
            case .file(let path):
                let stated = try await StatedVersion.read(file: path, of: tip, in: mirror)
                guard let stored = try await store.version(stated, of: product), stored.state == .published else {
                    return .version(stated)
                }
                let commit = stored.commit
                var isOurs = commit == tip
                if !isOurs, try await mirror.contains(commit) {
                    isOurs = try await mirror.isAncestor(commit, of: tip)
                }
                return .noVersion(
                    isOurs
                        ? "\(path) states \(stated), which is published from \(commit.abbreviated); a push that states another version is published"
                        : "\(path) states \(stated), which was made of \(commit.abbreviated) by \(stored.integration) and never changes; "
                            + "state another version")
            case .command(let command): return .unknown("what `\(command.prefix(200))` prints")
            }
        } catch let error as TriggerError {
            return .noVersion(error.description)
        }
    }
}
