/// The changes of files from one commit to another: renames, and how lines moved.
///
/// It contains only files that were asked about. A file that is missing here is the same in both commits, under the same path.
package struct SourceChanges: Hashable, Sendable {
    /// A run of lines that was replaced by another. Either may be empty. Lines are counted from 1. The start of an empty run is the line after it.
    package struct Hunk: Hashable, Sendable {
        package var old: Range<Int>
        package var new: Range<Int>

        package init(old: Range<Int>, new: Range<Int>) {
            self.old = old
            self.new = new
        }
    }

    /// The change of a file.
    package struct File: Hashable, Sendable {
        /// The path in the new commit; `nil` if the file was deleted.
        package var path: String?
        /// The hunks from top to bottom; `nil` if the lines were not compared, because the file is binary, very large, or past a limit.
        package var hunks: [Hunk]?

        package init(path: String?, hunks: [Hunk]?) {
            self.path = path
            self.hunks = hunks
        }
    }

    /// The place in the new commit of a line in the old commit.
    package struct Place: Hashable, Sendable {
        package var path: String
        package var line: Int
        /// The change that removed the line, if it was removed. `line` is then approximately the line in its place.
        package var taken: Hunk?
    }

    /// The changed files, keyed by path in the old commit.
    package var files: [String: File]
    /// The paths of new files that are not renamed ones.
    package var added: Set<String>

    package init(files: [String: File] = [:], added: Set<String> = []) {
        self.files = files
        self.added = added
    }

    /// Returns the new path of a file in the old commit; `nil` if it was deleted.
    package func path(of old: String) -> String? {
        guard let file = files[old] else { return old }
        return file.path
    }

    /// Returns the new place of a line in the old commit; `nil` if its file was deleted. If lines were not compared, the line is assumed to have
    /// stayed.
    package func place(path: String, line: Int) -> Place? {
        guard let file = files[path] else { return Place(path: path, line: line, taken: nil) }
        guard let newPath = file.path else { return nil }
        guard let hunk = file.hunks?.last(\.old, startingUpTo: line) else {
            return Place(path: newPath, line: line, taken: nil)
        }
        guard hunk.old.contains(line) else {
            return Place(path: newPath, line: line + hunk.new.upperBound - hunk.old.upperBound, taken: nil)
        }
        let within = min(line - hunk.old.lowerBound, max(hunk.new.count - 1, 0))
        return Place(path: newPath, line: hunk.new.lowerBound + within, taken: hunk)
    }

    /// Whether a line of the old commit was removed, alone or with its file.
    package func isRemoved(path: String, line: Int) -> Bool {
        guard let place = place(path: path, line: line) else { return true }
        return place.taken != nil
    }
}

extension [SourceChanges.Hunk] {
    /// Returns the last hunk whose lines start at `line` or above it; `nil` if there is none. It is a binary search, because a file can have as many
    /// hunks as lines.
    package func last(_ side: KeyPath<SourceChanges.Hunk, Range<Int>>, startingUpTo line: Int) -> SourceChanges.Hunk? {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle][keyPath: side].lowerBound <= line { low = middle + 1 } else { high = middle }
        }
        return low > startIndex ? self[low - 1] : nil
    }
}
