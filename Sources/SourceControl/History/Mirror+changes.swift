package import Model

extension Mirror {
    /// The most files whose lines `changes` compares.
    package static let maximumComparedFiles = 2000
    /// For so long files are compared; of those that follow only the paths are told.
    static let maximumComparingTime = Duration.seconds(10)

    /// How files of one commit became those of another, with renames, and with lines where that was asked.
    /// - Parameters:
    ///   - paths: The files that matter, by their paths in either commit; others are left out. Of the first
    ///     `maximumComparedFiles` that changed, lines are compared.
    /// - Throws: `commitMissing` when one of the two is not here.
    package func changes(
        from: CommitID, to: CommitID, paths: Set<String>
    ) async throws(SourceControlError) -> SourceChanges {
        try await local { repository throws(SourceControlError) in
            let operation = "comparing \(from.abbreviated) with \(to.abbreviated)"
            let comparing = ChangeReading(reading: CommitReading(repository: repository, operation: operation))
            let old = try comparing.reading.rootTree(of: from)
            let new = try comparing.reading.rootTree(of: to)
            let deltas = try comparing.deltas(from: old, to: new) { plain in
                plain.contains { $0.new == nil && $0.old.map { paths.contains($0.path) } == true }
                    || plain.contains { $0.old == nil && $0.new.map { paths.contains($0.path) } == true }
            }
            var changes = SourceChanges()
            var compared = 0
            let end = ContinuousClock.now + Self.maximumComparingTime
            for delta in deltas {
                guard
                    delta.old.map({ paths.contains($0.path) }) == true
                        || delta.new.map({ paths.contains($0.path) }) == true
                else { continue }
                guard let before = delta.old else {
                    if let path = delta.new?.path { changes.added.insert(path) }
                    continue
                }
                var file = SourceChanges.File(path: delta.new?.path, hunks: nil)
                if let after = delta.new, compared < Self.maximumComparedFiles, ContinuousClock.now < end {
                    compared += 1
                    file.hunks = try comparing.hunks(from: before.id, to: after.id)
                }
                changes.files[before.path] = file
            }
            return changes
        }
    }
}
