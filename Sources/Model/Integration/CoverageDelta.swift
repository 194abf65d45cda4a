/// The change of coverage from one integration to another.
package struct CoverageDelta: Hashable, Sendable, Codable {
    /// A file that is new or gone, or whose line coverage changed.
    package struct File: Hashable, Sendable, Codable {
        package var path: String
        /// `nil` if the file did not exist before. `after` is `nil` if it no longer exists.
        package var before: Coverage.Share?
        package var after: Coverage.Share?

        package init(path: String, before: Coverage.Share?, after: Coverage.Share?) {
            self.path = path
            self.before = before
            self.after = after
        }

        /// The change in percentage points; `nil` if either percentage is unknown.
        package var points: Double? { CoverageDelta.points(before, after) }
        /// The change as text; see `CoverageDelta.pointsText`.
        package var pointsText: String? { points.map(CoverageDelta.text) }
    }

    package var before: Coverage.Share
    package var after: Coverage.Share
    /// Only the files that changed. The greatest losses come first, then gains, then new and removed files; equal ones are ordered by path.
    package var files: [File]

    /// The change of line coverage in percentage points; `nil` if either side has no lines to cover.
    package var points: Double? { Self.points(before, after) }

    /// The change as text: `+0.3`, `−1.2` with the typographic minus, or `±0.0`; `nil` if it is unknown. A change of less than a twentieth of a point
    /// still has its sign.
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
