import CLibGit2
import Model

/// Brings wanted commits into a mirror, on its lane.
struct Fetch {
    let store: MirrorStore
    let session: RemoteSession

    func run(_ wanted: [RefName: CommitID]) throws(SourceControlError) {
        let repository = try store.open()
        var missing = try missing(of: wanted, in: repository.pointer)
        let isAnew = store.hasLostHolds
        guard !missing.isEmpty || isAnew else { return }
        let gone = try session.run(in: repository.pointer, operation: "fetch of") {
            remote, list, operation throws(SourceControlError) in
            let listed = missing.keys.filter { list.refs[$0] != nil }
            let everything = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"]
            let specifications = isAnew ? everything : listed.map { "+\($0):\($0)" }
            if !specifications.isEmpty { try session.download(specifications, from: remote, operation) }
            try store.writeRefs(list.refs, in: repository.pointer)
            return Set(missing.keys).subtracting(listed)
        }
        missing = try self.missing(of: missing, in: repository.pointer)
        for (ref, commit) in missing.sorted(by: { $0.key < $1.key }) {
            try fetch(commit, of: ref, isGone: gone.contains(ref), into: repository.pointer)
        }
        if isAnew { try store.restoreHolds(in: repository.pointer) }
    }

    private func missing(of wanted: [RefName: CommitID], in repository: OpaquePointer) throws(SourceControlError)
        -> [RefName: CommitID]
    {
        var missing: [RefName: CommitID] = [:]
        for (ref, commit) in wanted where !(try store.contains(commit, in: repository)) { missing[ref] = commit }
        return missing
    }

    /// Asks for a commit that its ref does not lead to any more, by its id.
    private func fetch(_ commit: CommitID, of ref: RefName, isGone: Bool, into repository: OpaquePointer)
        throws(SourceControlError)
    {
        var reason: SourceControlError?
        if !isGone {
            do throws(SourceControlError) {
                try session.run(in: repository, operation: "fetch of") {
                    remote, _, operation throws(SourceControlError) in
                    try session.download(["\(commit)"], from: remote, operation)
                }
            } catch {
                if session.control.stopped != nil { throw error }
                reason = error
            }
            if try store.contains(commit, in: repository) { return }
        }
        let what =
            isGone ? "was deleted" : "was replaced and its commit \(commit.abbreviated) is not to be had any more"
        throw SourceControlError(
            code: .refGone, operation: "fetch of \(session.url)",
            message: "\(ref) \(what); nothing needs to be done, what it points to now is integrated by itself",
            underlying: reason)
    }
}
