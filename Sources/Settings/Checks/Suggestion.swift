/// Functions that find the word that was probably meant.
package enum Suggestion {
    /// The longest word that is compared, in characters, so that comparing a hostile key takes no time.
    static let maximumLength = 64

    /// Returns the nearest of `candidates` by edit distance (insert, delete, replace, swap of neighbors; case is ignored). If none is near, it
    /// returns one with the same first four letters (`config`, `success`). A candidate is near if at most a third of the longer word's letters must
    /// change. Otherwise `nil`.
    package static func nearest(_ word: String, in candidates: [String]) -> String? {
        if let near = near(word, in: candidates) { return near }
        guard !word.isEmpty, word.unicodeScalars.count <= maximumLength else { return nil }
        let beginning = word.lowercased().unicodeScalars.prefix(4)
        return beginning.count == 4
            ? candidates.first { $0.lowercased().unicodeScalars.starts(with: beginning) } : nil
    }

    /// Returns the nearest candidate by edit distance alone, for sets of names that often begin with the same letters; `nil` if none is near.
    static func near(_ word: String, in candidates: [String]) -> String? {
        guard !word.isEmpty, word.unicodeScalars.count <= maximumLength else { return nil }
        let letters = Array(word.lowercased().unicodeScalars)
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let others = Array(candidate.lowercased().unicodeScalars)
            let distance = distance(letters, others)
            guard distance * 3 <= max(letters.count, others.count, 3) else { continue }
            if best.map({ distance < $0.distance }) ?? true { best = (candidate, distance) }
        }
        return best?.candidate
    }

    /// Returns whether the edit distance of two words is at most one; case is ignored.
    static func isNearly(_ word: String, _ other: String) -> Bool {
        guard word.unicodeScalars.count <= maximumLength else { return false }
        return distance(Array(word.lowercased().unicodeScalars), Array(other.lowercased().unicodeScalars)) <= 1
    }

    /// Returns "; did you mean `x`?", or an empty text.
    static func hint(for word: String, in candidates: [String]) -> String {
        nearest(word, in: candidates).map { "; did you mean `\($0)`?" } ?? ""
    }

    /// Returns the optimal string alignment distance: Levenshtein's, with a swap of two neighbors as one change.
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for i in left.indices {
            var row = [i + 1]
            for j in right.indices {
                var least = min(last[j + 1] + 1, row[j] + 1, last[j] + (left[i] == right[j] ? 0 : 1))
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    least = min(least, beforeLast[j - 1] + 1)
                }
                row.append(least)
            }
            (beforeLast, last) = (last, row)
        }
        return last[right.count]
    }
}
