import Basics
import CLibGit2
import Glibc
package import Model

extension Mirror {
    /// Keeps the commit and its history here even when no branch leads to it any more. It survives a kill. A stop of the machine may undo it
    /// (`Mirrors.doubt`); the commit itself is then still in the mirror, or is fetched again.
    /// - Throws: `commitMissing`.
    package func hold(_ commit: CommitID, for id: IntegrationID) async throws(SourceControlError) {
        let store = store
        try await local(isKept: true) { repository throws(SourceControlError) in
            guard try store.contains(commit, in: repository) else {
                throw Self.missing(commit, operation: "holding \(commit.abbreviated) for \(id)")
            }
            try store.hold(commit, as: MirrorStore.holdName(id), in: repository)
        }
    }

    /// Reads of a commit what an integration begins with: one way to the queue and one opening for all.
    /// - Parameters:
    ///   - file: A file of the root; see `file(_:at:limit:)`. `nil`: no file is read.
    ///   - limit: Of the file, in bytes.
    ///   - project: Reads what tells the kinds of project; `nil`: that is not read.
    /// - Returns: `nil` if the commit is not here, or the mirror is to be verified; fetch it then.
    /// - Throws: `tooLarge`.
    package func content(
        of commit: CommitID, file: String?, limit: Int, project: ProjectTree.Reader? = nil
    ) async throws(SourceControlError) -> CommitContent? {
        let mirror = self
        return try await local(isKept: true) { repository throws(SourceControlError) in
            try mirror.content(of: commit, file: file, limit: limit, project: project, in: repository)
        }
    }

    /// Has the repository opened, and the same read, for who asks for it in the next second. Returns at once; what fails fails again then.
    package func readAhead(_ commit: CommitID, file: String?, limit: Int) {
        let mirror = self
        queue.enqueue {
            // The mirror is not made for this.
            guard access(mirror.path, F_OK) == 0 else { return }
            _ = try? mirror.onQueue(isKept: true) { repository throws(SourceControlError) in
                try mirror.content(of: commit, file: file, limit: limit, in: repository)
            }
        }
    }

    private func content(
        of commit: CommitID, file: String?, limit: Int, project: ProjectTree.Reader? = nil, in repository: OpaquePointer
    ) throws(SourceControlError) -> CommitContent? {
        // One in which something may be damaged is verified first, which the fetch does: a job reads of it what we never read.
        guard !store.isMarkedDamaged, try store.contains(commit, in: repository) else { return nil }
        // A tag that was put on a commit which is here needs no fetch, and jobs ask git for it.
        if let list = listCache.unwritten {
            try store.writeRefs(list.refs, in: repository)
            listCache.recordWritten(list.refs)
        }
        let reading = CommitReading(repository: repository, operation: "reading \(commit.abbreviated)")
        let entries = CommitReading.entries(of: try reading.rootTree(of: commit))
        let content = if let file { try reading.file(file, at: commit, limit: limit) } else { [UInt8]?.none }
        let names = entries.map { String(decoding: $0.name, as: UTF8.self) }
        let tree =
            if let project {
                try reading.project(of: commit, rootEntries: names, reader: project)
            } else {
                ProjectTree?.none
            }
        return CommitContent(
            details: try reading.details(of: commit), rootEntries: names, file: content, project: tree)
    }

    /// The name of its directory, beside those of other mirrors.
    package var directoryName: String { store.name }

    /// Removes the mirror, with all commits that it holds. It is made again when it is next used.
    package func remove() async throws(SourceControlError) {
        let (store, kept, listCache) = (store, kept, listCache)
        try await queue.run { () throws(SourceControlError) in
            kept.drop(store)
            listCache.reset()
            try files("removing the mirror \(store.name)") { () throws(FileError) in
                let parent = String(store.path.dropLast(store.name.utf8.count + 1))
                try Directory(opening: parent).remove(store.name)
            }
        }
    }

    /// Ends what `hold` began; harmless when there is none.
    package func release(_ id: IntegrationID) async throws(SourceControlError) {
        let store = store
        try await local { repository throws(SourceControlError) in
            try store.release(MirrorStore.holdName(id), in: repository)
        }
    }
}
