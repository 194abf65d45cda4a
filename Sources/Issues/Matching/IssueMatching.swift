import Model

/// The assignment of findings to previous issues.
///
/// The following steps are made in this order, each with the findings and issues that the previous ones left over:
/// 1. The same line: the same content (category, rule, the line's text), in the file that has the old one's present name. Several of them in one file
///    are paired in order, so that the sum of the distances from the lines' present places is least.
/// 2. A line that moved to another file: the same content; the old line was removed and the new one added.
/// 3. An edited line: the same category, rule and message; one change removed the old line and added the new one.
/// 4. A test whose file was renamed: the same name, in the file that has the old one's present name.
struct IssueMatching {
    private let before: [Issue]
    private let current: [Baseline.Found]
    private let changes: SourceChanges
    /// The index of the previous issue for each finding; `nil` if there is none.
    private(set) var issues: [Int?]
    /// Whether a finding was matched with each previous issue.
    private(set) var isTaken: [Bool]

    /// The most pairs of equal findings in one file whose distances are compared, such as 500 × 500. More are matched in order.
    private static let maximumPairs = 250_000

    /// The most remaining pairs for which edited lines and renamed tests are searched, such as 2,000 × 2,000.
    private static let maximumWeighed = 4_000_000

    init(_ current: [Baseline.Found], before: [Issue], changes: SourceChanges) {
        self.before = before
        self.current = current
        self.changes = changes
        issues = [Int?](repeating: nil, count: current.count)
        isTaken = [Bool](repeating: false, count: before.count)
        matchNames()
        matchLines()
        guard isTaken.contains(false), issues.contains(nil) else { return }
        matchMoved()
        guard untaken.count * unmatched.count <= Self.maximumWeighed else { return }
        matchEdited()
        matchTests()
    }

    /// A content and a file within which findings are matched by line. The path is empty where files do not matter.
    struct Group: Hashable {
        var content: String
        var path: String
    }

    static func path(of finding: Finding) -> String {
        if finding.isOfTest, !finding.rule.isEmpty { return "" }
        if finding.category == .triggerError { return "" }
        return finding.path.map(MessageText.withoutBuildDirectory) ?? ""
    }

    private mutating func pair(_ old: Int, _ new: Int) {
        issues[new] = old
        isTaken[old] = true
    }

    private var unmatched: [Int] { current.indices.filter { issues[$0] == nil } }
    private var untaken: [Int] { before.indices.filter { !isTaken[$0] } }

    /// Matches issues that an older version stored, which have only a fingerprint.
    private mutating func matchNames() {
        var names: [String: Int] = [:]
        for index in before.indices where before[index].content.isEmpty { names[before[index].fingerprint] = index }
        guard !names.isEmpty else { return }
        for index in current.indices {
            if let old = names.removeValue(forKey: current[index].fingerprint) { pair(old, index) }
        }
    }

    // MARK: The same line

    /// The last elements of two linked lists: a group's issues and its findings. The links are in one array for all groups, because an array for each
    /// of 100,000 groups would take more memory than everything else here.
    private struct Chains {
        var old: Int32 = -1
        var new: Int32 = -1
    }

    private mutating func matchLines() {
        var chains: [Group: Chains] = [:]
        var oldLines = [Int](repeating: 0, count: before.count)
        var nextOld = [Int32](repeating: -1, count: before.count)
        for index in before.indices where !isTaken[index] && !before[index].content.isEmpty {
            let finding = before[index].finding
            var group = Group(content: before[index].content, path: "")
            oldLines[index] = finding.line ?? 0
            if let path = finding.path, !Self.path(of: finding).isEmpty {
                guard let now = changes.path(of: path) else { continue }
                group.path = MessageText.withoutBuildDirectory(now)
                oldLines[index] = finding.line.flatMap { changes.place(path: path, line: $0)?.line } ?? 0
            }
            nextOld[index] = chains[group]?.old ?? -1
            chains[group, default: Chains()].old = Int32(index)
        }
        var nextNew = [Int32](repeating: -1, count: current.count)
        for index in current.indices where issues[index] == nil {
            let group = Group(content: current[index].content, path: Self.path(of: current[index].finding))
            guard let last = chains[group]?.new else { continue }
            nextNew[index] = last
            chains[group]?.new = Int32(index)
        }
        for chain in chains.values where chain.new >= 0 {
            let known = Self.numbers(from: chain.old, nextOld).sorted { (oldLines[$0], $0) < (oldLines[$1], $1) }
            let found = Self.numbers(from: chain.new, nextNew).sorted { left, right in
                let (a, b) = (current[left].finding, current[right].finding)
                return (a.line ?? 0, a.column ?? 0, left) < (b.line ?? 0, b.column ?? 0, right)
            }
            let pairs = Self.aligned(known.map { oldLines[$0] }, found.map { current[$0].finding.line ?? 0 })
            for (left, right) in pairs { pair(known[left], found[right]) }
        }
    }

    /// Returns the indexes in a linked list, the last element first.
    private static func numbers(from last: Int32, _ next: [Int32]) -> [Int] {
        var (numbers, number): ([Int], Int32) = ([], last)
        while number >= 0 {
            numbers.append(Int(number))
            number = next[Int(number)]
        }
        return numbers
    }

    /// Returns pairs of elements of two ascending lists, as many as the shorter list has, in order and with the least sum of distances.
    static func aligned(_ left: [Int], _ right: [Int]) -> [(Int, Int)] {
        if left.count == right.count || left.count * right.count > maximumPairs {
            return Array(zip(left.indices, right.indices))
        }
        if left.count > right.count { return aligned(right, left).map { ($1, $0) } }
        // cost[i][j]: the least cost of pairing the first i elements of the left list with some of the first j of the right one.
        var cost = [[Int]](repeating: [Int](repeating: 0, count: right.count + 1), count: left.count + 1)
        for i in 1...max(left.count, 1) where i <= left.count {
            cost[i][i - 1] = .max / 2
            for j in i...right.count {
                cost[i][j] = min(cost[i][j - 1], cost[i - 1][j - 1] + abs(left[i - 1] - right[j - 1]))
            }
        }
        var pairs: [(Int, Int)] = []
        var (i, j) = (left.count, right.count)
        while i > 0 {
            // Of two equally near elements, the first is used.
            while j > i, cost[i][j - 1] == cost[i][j] { j -= 1 }
            pairs.append((i - 1, j - 1))
            (i, j) = (i - 1, j - 1)
        }
        return pairs.reversed()
    }

    // MARK: What moved or was edited

    private mutating func matchMoved() {
        var brought: [String: [SourceChanges.Hunk]] = [:]
        for file in changes.files.values { if let path = file.path { brought[path] = file.hunks } }
        var places: [String: [Int]] = [:]
        for index in unmatched {
            guard let path = current[index].finding.path, let line = current[index].finding.line,
                changes.added.contains(path)
                    || brought[path]?.last(\.new, startingUpTo: line)?.new.contains(line) == true
            else { continue }
            places[current[index].content, default: []].append(index)
        }
        // Findings of one content are used in order. `taken` counts them.
        var taken: [String: Int] = [:]
        for index in untaken {
            let content = before[index].content
            guard let path = before[index].finding.path, let line = before[index].finding.line,
                !before[index].finding.isOfTest, changes.isRemoved(path: path, line: line),
                let new = places[content], taken[content, default: 0] < new.count
            else { continue }
            pair(index, new[taken[content, default: 0]])
            taken[content, default: 0] += 1
        }
    }

    private mutating func matchEdited() {
        struct Key: Hashable {
            let (category, rule, message, path): (Finding.Category, String, String, String)
            init(_ finding: Finding, path: String) {
                (category, rule, self.path) = (finding.category, finding.rule, path)
                message = MessageText.withoutNumbers(MessageText.identifying(finding.message))
            }
        }
        var found: [Key: [Int]] = [:]
        for index in unmatched {
            let finding = current[index].finding
            guard let path = finding.path, finding.line != nil, !finding.isOfTest else { continue }
            found[Key(finding, path: path), default: []].append(index)
        }
        for index in untaken {
            let finding = before[index].finding
            guard let path = finding.path, let line = finding.line,
                let place = changes.place(path: path, line: line), let hunk = place.taken
            else { continue }
            let key = Key(finding, path: place.path)
            guard
                let new = found[key]?.firstIndex(where: { hunk.new.contains(current[$0].finding.line ?? 0) }),
                let number = found[key]?.remove(at: new)
            else { continue }
            pair(index, number)
        }
    }

    private mutating func matchTests() {
        func name(_ finding: Finding) -> Substring? { finding.rule.split(separator: "/").last }
        struct Key: Hashable {
            let category: Finding.Category
            let path: String
            let name: Substring?
        }
        var found: [Key: [Int]] = [:]
        for index in unmatched.reversed() where current[index].finding.isOfTest {
            let finding = current[index].finding
            guard let path = finding.path else { continue }
            found[Key(category: finding.category, path: path, name: name(finding)), default: []].append(index)
        }
        for index in untaken where before[index].finding.isOfTest {
            let finding = before[index].finding
            guard let path = finding.path, let now = changes.files[path]?.path, now != path else { continue }
            let key = Key(category: finding.category, path: now, name: name(finding))
            if let new = found[key]?.popLast() { pair(index, new) }
        }
    }
}
