import JobProtocol
import SourceControl

extension CheckedOutFiles {
    /// Returns the files that one of the patterns matches, sorted by path.
    func matching(_ patterns: [String]) -> [[UInt8]] {
        let parsed = Set(patterns).compactMap { PathPattern($0) }
        // Most patterns name one file, or begin with a directory that no commit has. Then no path has to be matched.
        var found = Set(parsed.compactMap(\.literal).filter(contains))
        let wide = parsed.filter { $0.literal == nil }.map { (pattern: $0, start: $0.literalStart) }
        if !wide.isEmpty {
            for path in paths where wide.contains(where: { path.starts(with: $0.start) && $0.pattern.matches(path) }) {
                found.insert(path)
            }
        }
        return found.sorted { $0.lexicographicallyPrecedes($1) }
    }
}
