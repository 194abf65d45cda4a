/// How coverage changed from one integration to another.
package struct CoverageDelta: Hashable, Sendable, Codable {
    /// A file that is new, gone, or whose lines are covered otherwise than before.
    package struct File: Hashable, Sendable, Codable {
        package var path: String
        /// `nil` for a file that did not exist before, or does not exist any more.
        package var before: Coverage.Share?
        package var after: Coverage.Share?

        package init(path: String, before: Coverage.Share?, after: Coverage.Share?) {
            self.path = path
            self.before = before
            self.after = after
        }

        /// In percentage points; `nil` if either is unknown.
        package var points: Double? { CoverageDelta.points(before, after) }
        /// See `CoverageDelta.pointsText`.
        package var pointsText: String? { points.map(CoverageDelta.text) }
    }

    package var before: Coverage.Share
    package var after: Coverage.Share
    /// Only those that changed: the ones that lost most first, then new and gone ones, by path where equal.
    package var files: [File]

    /// In percentage points of lines; `nil` if either has nothing to cover.
    package var points: Double? { Self.points(before, after) }

    /// `+0.3`, `−1.2` with the typographic minus, `±0.0`; `nil` if it is unknown. A change of less than a twentieth of a point still has its sign.
    package var pointsText: String? { points.map(Self.text) }

    static func text(_ points: Double) -> String {
        if points == 0 { return "±0.0" }
        let tenths = Int(clamping: (points.magnitude * 10).rounded())
        return (points < 0 ? "\u{2212}" : "+") + "\(tenths / 10).\(tenths % 10)"
    }

    package init(from before: Coverage, to after: Coverage) {
        self.before = before.lines
        self.after = after.lines
        let old = Dictionary(before.files.map { ($0.path, $0.lines) }) { first, _ in first }
        let new = Dictionary(after.files.map { ($0.path, $0.lines) }) { first, _ in first }
        files = Set(old.keys).union(new.keys)
            .map { File(path: $0, before: old[$0], after: new[$0]) }
            .filter { $0.before != $0.after }
            .sorted { left, right in
                let (a, b) = (left.points ?? .infinity, right.points ?? .infinity)
                return a == b ? left.path < right.path : a < b
            }
    }

    static func points(_ before: Coverage.Share?, _ after: Coverage.Share?) -> Double? {
        guard let old = before?.percent, let new = after?.percent else { return nil }
        return new - old
    }
}
