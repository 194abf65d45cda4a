import CLibGit2
import Model

/// The conversation with a repository on this machine that this process reads itself.
extension RemoteSession {
    /// Copies the commits that refspecs name, with the tags that lead to commits of the mirror, as `git fetch` does.
    /// - Returns: False if git must do it, because commits are named by their ids, everything is wanted, or there are too many objects.
    func copy(
        _ refspecs: [String], listed: [RefName: AdvertisedRef], from place: PathRepository,
        into repository: OpaquePointer,
        _ operation: String
    ) throws(SourceControlError) -> Bool {
        var tips: [git_oid] = []
        for specification in refspecs {
            guard let name = specification.split(separator: ":").last, let ref = listed[RefName(String(name))],
                let id = git_oid(hexadecimal: ref.id)
            else { return false }
            tips.append(id)
        }
        let here = try GitHandle(operation, free: git_odb_free) { git_repository_odb($0, repository) }
        // The caller has refreshed it to find out what is missing.
        let pointer = here.pointer
        let tags = listed.values.compactMap { ref -> (tag: git_oid, commit: git_oid)? in
            guard let tag = git_oid(hexadecimal: ref.id), let commit = ref.peeled.flatMap({ git_oid(hexadecimal: $0) })
            else { return nil }
            return (tag, commit)
        }
        do throws(SourceControlError) {
            let source = try place.open()
            let there = try GitHandle(operation, free: git_odb_free) { git_repository_odb($0, source.pointer) }
            var missing = MissingObjects(of: source.pointer, there.pointer, notIn: pointer, operation: operation)
            return missing.fetch(tips, tags: tags, to: store.path + "/objects/pack")
        } catch {
            // git reports problems of the other repository; they are no damage of the mirror.
            return false
        }
    }
}
