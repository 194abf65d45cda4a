import Basics

extension Mirror {
    /// Packs above which a mirror is repacked: git's own `gc.autoPackLimit` (git-config(1)). Each fetch adds one, and each object
    /// that is read is looked for in all.
    static let maximumPacks = 50

    /// Joins small packs into larger ones when there are many, by `git repack --geometric`; nothing is ever dropped, held or
    /// not. Jobs that read the mirror meanwhile go on: git and libgit2 look for packs again when one is gone.
    /// - Returns: Whether it was needed and done; false also where git is not installed.
    @discardableResult
    package func repack() async throws(SourceControlError) -> Bool {
        guard engine != .library else { return false }
        let (store, kept, listCache) = (store, kept, listCache)
        return try await watch.run(limit: limits.fetch) { control throws(SourceControlError) in
            // It may hold packs open that go.
            kept.drop(store)
            guard let program = try GitProgram.installed() else { return false }
            let operation = "repacking the mirror \(store.name)"
            let count = try files(operation) { () throws(FileError) in
                let objects = try Directory(creating: store.path + "/objects")
                guard try objects.status("pack") != nil else { return 0 }
                return try objects.entries("pack").count { $0.name.hasSuffix(".pack") }
            }
            listCache.recordPackCount(min(count, Self.maximumPacks))
            guard count > Self.maximumPacks else { return false }
            try store.removeTemporaryPacks(operation)
            let scratch = try GitScratch(program, store: store, operation: operation)
            let result = try scratch.run(
                ["repack", "--geometric=2", "-d", "-q", "--no-write-bitmap-index"], operation, control: control,
                isQuiet: true)
            try scratch.remove(operation)
            guard try MirrorStore.isFine(result, operation) else {
                try store.markDamaged()
                throw SourceControlError(
                    code: .mirrorDamaged, operation: operation,
                    message: "git says: \(result.errors.suffix(600)); the next fetch looks what is damaged")
            }
            return true
        }
    }
}
