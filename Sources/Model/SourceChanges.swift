/// How the files of one commit became those of another: renames, and which lines moved where.
///
/// Only what was asked about is in it; a file that is not in it is the same in both, under the same path.
package struct SourceChanges: Hashable, Sendable {
    /// A run of lines that was replaced by another; either may be empty. Lines count from 1. An empty run's start is the
    /// line that follows it.
    package struct Hunk: Hashable, Sendable {
        package var old: Range<Int>
        package var new: Range<Int>

        package init(old: Range<Int>, new: Range<Int>) {
            self.old = old
            self.new = new
        }
    }

    /// What became of a file.
    package struct File: Hashable, Sendable {
        /// Where it lies now; nothing: it was deleted.
        package var path: String?
        /// From top to bottom; nothing where its lines were not compared: it is binary, very large, or past a limit.
        package var hunks: [Hunk]?

        package init(path: String?, hunks: [Hunk]?) {
            self.path = path
            self.hunks = hunks
        }
    }

    /// The place of a line of before, as of now.
    package struct Place: Hashable, Sendable {
        package var path: String
        package var line: Int
        /// Where the line itself is gone: the change that took it. `line` is then what stands there now, about.
        package var taken: Hunk?
    }

    /// The changed files by their path before.
    package var files: [String: File]
    /// Files that were nowhere before.
    package var added: Set<String>

    package init(files: [String: File] = [:], added: Set<String> = []) {
        self.files = files
        self.added = added
    }

    /// Where a file of before lies now; nothing when it was deleted.
    package func path(of old: String) -> String? {
        guard let file = files[old] else { return old }
        return file.path
    }

    /// Where a line of before is now; nothing when its file was deleted. Where lines were not compared it is taken to have
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

    /// Whether a line of before is not in its file now: it was taken out, or the file was.
    package func isRemoved(path: String, line: Int) -> Bool {
        guard let place = place(path: path, line: line) else { return true }
        return place.taken != nil
    }
}

extension [SourceChanges.Hunk] {
    /// The last of a file's hunks whose lines begin at this one or above it. Binary: a file can have as many as it has lines.
    package func last(_ side: KeyPath<SourceChanges.Hunk, Range<Int>>, startingUpTo line: Int) -> SourceChanges.Hunk? {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle][keyPath: side].lowerBound <= line { low = middle + 1 } else { high = middle }
        }
        return low > startIndex ? self[low - 1] : nil
    }
}
