/// How much of the source a test run executed, for each file.
package struct Coverage: Hashable, Sendable, Codable {
    /// A covered part of a total.
    package struct Share: Hashable, Sendable, Codable {
        package var covered: Int
        package var total: Int

        /// Creates a share. Negative numbers become 0, and `covered` is limited to `total`.
        package init(covered: Int, total: Int) {
            self.total = max(0, total)
            self.covered = min(max(0, covered), self.total)
        }

        /// The percentage from 0 to 100; `nil` if `total` is 0.
        package var percent: Double? { total == 0 ? nil : Double(covered) / Double(total) * 100 }

        /// The percentage as text, `81.2 %`. It is truncated, so that only full coverage is 100. It is `–` if `total`
        /// is 0.
        package var text: String {
            guard total > 0 else { return "–" }
            // A tiny amount is added for fractions that a Double cannot represent exactly, such as 1 of 10.
            let tenths =
                covered == total ? 1000 : min(999, Int(clamping: Double(covered) / Double(total) * 1000 + 1e-9))
            return "\(tenths / 10).\(tenths % 10) %"
        }

        package static func + (left: Share, right: Share) -> Share {
            let total = left.total.addingReportingOverflow(right.total)
            let covered = left.covered.addingReportingOverflow(right.covered)
            return Share(
                covered: covered.overflow ? .max : covered.partialValue,
                total: total.overflow ? .max : total.partialValue)
        }
    }

    /// A file of the repository.
    package struct File: Hashable, Sendable, Codable {
        /// The path, relative to the repository's root.
        package var path: String
        package var lines: Share
        /// `nil` if the tool does not count functions or branches.
        package var functions: Share?
        package var branches: Share?

        package init(path: String, lines: Share, functions: Share? = nil, branches: Share? = nil) {
            self.path = path
            self.lines = lines
            self.functions = functions
            self.branches = branches
        }
    }

    /// The files in the order of their paths, each path once.
    package private(set) var files: [File]

    /// Creates the coverage of some files. If a path occurs twice, the better share of each kind is kept, because
    /// reports do not state which lines were covered.
    package init(files: [File]) {
        // A stored report is already in this order.
        if zip(files, files.dropFirst()).allSatisfy({ $0.path < $1.path }) {
            self.files = files
            return
        }
        var byPath: [String: File] = [:]
        for file in files {
            guard let other = byPath[file.path] else {
                byPath[file.path] = file
                continue
            }
            byPath[file.path] = File(
                path: file.path, lines: Self.better(file.lines, other.lines) ?? file.lines,
                functions: Self.better(file.functions, other.functions),
                branches: Self.better(file.branches, other.branches))
        }
        self.files = byPath.values.sorted { $0.path < $1.path }
    }

    /// Merges several reports of one run.
    package static func + (left: Coverage, right: Coverage) -> Coverage { Coverage(files: left.files + right.files) }

    /// The lines of all files together. The totals that a report states are not used.
    package var lines: Share { files.reduce(Share(covered: 0, total: 0)) { $0 + $1.lines } }

    /// The sum over the files that have it; `nil` if none has it.
    package var functions: Share? { Self.sum(files.compactMap(\.functions)) }
    package var branches: Share? { Self.sum(files.compactMap(\.branches)) }

    private static func sum(_ shares: [Share]) -> Share? {
        shares.isEmpty ? nil : shares.reduce(Share(covered: 0, total: 0), +)
    }

    private static func better(_ left: Share?, _ right: Share?) -> Share? {
        guard let left, let right else { return left ?? right }
        return (left.percent ?? 0, left.total) >= (right.percent ?? 0, right.total) ? left : right
    }
}
