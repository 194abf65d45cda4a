import CLibGit2
package import Model

extension Mirror {
    /// How far one question about the past may go; what is not found by then is not told. 200 lines of 200 files in an
    /// interval of 50 commits take 25 ms; 2 s are 10,000 commits (Tests/GitFigures history, release build, 2 cores).
    package struct HistoryLimit: Sendable {
        /// Commits, trees and files that are compared, in all.
        package var steps: Int
        package var time: Duration

        package init(steps: Int = 40_000, time: Duration = .seconds(2)) {
            self.steps = steps
            self.time = time
        }
    }

    /// Returns the commit that last wrote each line. It ignores changes of white space and follows renames.
    /// - Parameters:
    ///   - commits: The commits to search; `nil` for all ancestors of `commit`.
    /// - Returns: For each line its commit; `nil` if the line is older than `commits`, does not exist, or is past the limit.
    package func origins(
        of places: [LinePlace], at commit: CommitID, among commits: Set<CommitID>?, limit: HistoryLimit
    ) async throws(SourceControlError) -> [LinePlace: CommitID] {
        try await history(limit, "blaming lines of \(commit.abbreviated)") { history throws(SourceControlError) in
            var origins: [LinePlace: CommitID] = [:]
            for place in places where !history.isExhausted {
                let origin = try history.origin(of: place, at: commit, among: commits)
                if case .commit(let found) = origin { origins[place] = found }
            }
            return origins
        }
    }

    /// Which of the commits changed each file, in the order of the commits.
    /// - Parameters:
    ///   - files: Every name that a file has had in these commits, by the one under which it is told.
    package func modifications(
        of files: [String: Set<String>], among commits: [CommitID], limit: HistoryLimit
    ) async throws(SourceControlError) -> [String: [CommitID]] {
        try await history(limit, "finding who changed files") { history throws(SourceControlError) in
            var found: [String: [CommitID]] = [:]
            for commit in commits {
                for (file, names) in files where !history.isExhausted {
                    for name in names where try history.changes(name, commit) {
                        found[file, default: []].append(commit)
                        break
                    }
                }
            }
            return found
        }
    }

    /// The commits that lead to one, newest first, that changed each file.
    /// - Parameter each: At most this many a file.
    package func lastModifications(
        of files: Set<String>, at commit: CommitID, each: Int, limit: HistoryLimit
    ) async throws(SourceControlError) -> [String: [CommitID]] {
        try await history(limit, "finding who changed files last") { history throws(SourceControlError) in
            let reading = history.reading
            let walk = try GitHandle(reading.operation, free: git_revwalk_free) {
                git_revwalk_new($0, reading.repository)
            }
            try git(reading.operation) { git_revwalk_sorting(walk.pointer, GIT_SORT_TIME.rawValue) }
            _ = try reading.commit(commit)
            var start = try git_oid(commit)
            try git(reading.operation) { git_revwalk_push(walk.pointer, &start) }
            var found: [String: [CommitID]] = [:]
            var next = git_oid()
            var missing = files
            while !missing.isEmpty, !history.isExhausted {
                let result = git_revwalk_next(&next, walk.pointer)
                if result == GIT_ITEROVER.rawValue { break }
                try git(reading.operation) { result }
                guard let id = next.commitID else { continue }
                for file in missing where try history.changes(file, id) {
                    found[file, default: []].append(id)
                    if found[file]?.count == each { missing.remove(file) }
                }
            }
            return found
        }
    }

    private func history<Value: Sendable>(
        _ limit: HistoryLimit, _ operation: String,
        _ body: @escaping @Sendable (inout LineHistory) throws(SourceControlError) -> Value
    ) async throws(SourceControlError) -> Value {
        try await local { repository throws(SourceControlError) in
            var history = LineHistory(
                CommitReading(repository: repository, operation: operation), maximumSteps: limit.steps,
                deadline: .now + limit.time)
            return try body(&history)
        }
    }
}

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
