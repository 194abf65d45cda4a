package import Model

/// The comparison of an integration's findings with the issues of the branch's previous integration.
package enum Baseline {
    /// A finding of one or more configurations.
    package struct Found: Hashable, Sendable {
        /// The fingerprint that it gets if it is new.
        package var fingerprint: String
        /// See `Issue.content`.
        package var content: String
        package var finding: Finding
        package var configurations: [Name]
        /// See `Issue.step`.
        package var step: JobStep?

        package init(
            fingerprint: String, content: String, finding: Finding, configurations: [Name], step: JobStep? = nil
        ) {
            self.fingerprint = fingerprint
            self.content = content
            self.finding = finding
            self.configurations = configurations
            self.step = step
        }
    }

    /// Merges findings of several configurations at one place. The second of two equal findings of one configuration is merged with the second of
    /// another.
    package static func joined(_ all: [Found]) -> [Found] {
        struct Place: Hashable {
            let group: IssueMatching.Group
            let (line, column): (Int?, Int?)
        }
        struct Counted: Hashable {
            let place: Place
            let configuration: Name?
        }
        // Within one configuration no two findings are the same.
        guard all.contains(where: { $0.configurations.first != all[0].configurations.first }) else { return all }
        var joined: [Found] = []
        var places: [Place: [Int]] = [:]
        var counts: [Counted: Int] = [:]
        for found in all {
            let path = IssueMatching.path(of: found.finding)
            // Findings without a path, such as test failures, are compared without line and column.
            let isPlaced = !path.isEmpty
            let place = Place(
                group: .init(content: found.content, path: path), line: isPlaced ? found.finding.line : nil,
                column: isPlaced ? found.finding.column : nil)
            let counted = Counted(place: place, configuration: found.configurations.first)
            let ordinal = counts[counted, default: 0]
            counts[counted] = ordinal + 1
            if let same = places[place], ordinal < same.count {
                joined[same[ordinal]].configurations = union(
                    joined[same[ordinal]].configurations, found.configurations)
            } else {
                places[place, default: []].append(joined.count)
                joined.append(found)
            }
        }
        return joined
    }

    /// Returns whether `compare` needs the changes of files and lines to match findings with issues.
    /// - Parameters:
    ///   - current: The result of `joined`.
    ///   - before: The issues of the branch's previous integration.
    package static func needsChanges(current: [Found], before: [Issue]) -> Bool {
        // Both each file and all files together are counted: an additional finding elsewhere may be the one that was here.
        var places: [IssueMatching.Group: Int] = [:]
        var contents: [String: Int] = [:]
        for issue in before where issue.status != .resolved {
            places[.init(content: issue.content, path: IssueMatching.path(of: issue.finding)), default: 0] += 1
            contents[issue.content, default: 0] += 1
        }
        for found in current {
            let group = IssueMatching.Group(content: found.content, path: IssueMatching.path(of: found.finding))
            if let count = places[group] { places[group] = count - 1 }
            if let count = contents[found.content] { contents[found.content] = count - 1 }
        }
        return places.contains { $0.value != 0 } || contents.contains { $0.value != 0 }
    }

    /// Returns the integration's issues: new and unresolved ones in the order found, then the resolved ones. None is silenced.
    ///
    /// Unresolved issues keep their fingerprint, and their age grows by one. An issue that was resolved before and is still gone is not listed again.
    /// If it comes back, it is new.
    /// - Parameters:
    ///   - current: The result of `joined`.
    ///   - before: The issues of the branch's previous integration; empty if there is none.
    ///   - changes: The changes of files and lines since then; empty if there are none, or they are unknown.
    ///   - number: The integration's own number.
    ///   - unlooked: Returns the configurations in which an issue must be presumed present, because the step did not run or an incremental build did
    ///     not compile its file again; `nil`: every configuration checked it. A presumed issue is not resolved by its absence.
    package static func compare(
        current: [Found], before: [Issue], changes: SourceChanges = SourceChanges(), number: Int,
        unlooked: (Issue) -> [Name]? = { _ in nil }
    ) -> [Issue] {
        let before = before.contains { $0.status == .resolved } ? before.filter { $0.status != .resolved } : before
        let matching = IssueMatching(current, before: before, changes: changes)
        // Only new issues need a fingerprint.
        var used = matching.issues.contains(nil) ? Set(before.lazy.map(\.fingerprint)) : []
        var issues: [Issue] = []
        // The full capacity is reserved, since a growing array temporarily takes three times its memory.
        issues.reserveCapacity(current.count + matching.isTaken.count { !$0 })
        for (found, place) in zip(current, matching.issues) {
            var issue: Issue
            if let place {
                issue = before[place]
                issue.status = .unresolved
                issue.age += 1
                issue.content = found.content
                issue.finding = found.finding
                issue.step = found.step
                issue.configurations = union(found.configurations, unlooked(before[place]) ?? [])
            } else {
                issue = Issue(
                    fingerprint: unused(found.fingerprint, &used), content: found.content, status: .new,
                    finding: found.finding, age: 1, since: number, configurations: union(found.configurations, []),
                    step: found.step)
            }
            issues.append(issue)
        }
        var resolved: [Issue] = []
        for (place, var issue) in before.enumerated() where !matching.isTaken[place] {
            if let configurations = unlooked(issue) {
                issue.status = .unresolved
                issue.age += 1
                issue.configurations = configurations
                issue.finding.follow(changes)
                issues.append(issue)
            } else {
                issue.status = .resolved
                issue.age = 0
                issue.silence = nil
                resolved.append(issue)
            }
        }
        issues += resolved
        return issues
    }

    /// Returns a fingerprint that no other issue here has. An issue that came from this finding's present place may already have it.
    private static func unused(_ fingerprint: String, _ used: inout Set<String>) -> String {
        var name = fingerprint
        var number = 0
        while !used.insert(name).inserted {
            number += 1
            let digits = String(number, radix: 16)
            name = fingerprint.dropLast(8) + String(repeating: "0", count: max(0, 8 - digits.utf8.count)) + digits
        }
        return name
    }

    /// Returns the union of two lists, each name once.
    private static func union(_ left: [Name], _ right: [Name]) -> [Name] {
        // Usually there is one name, which 100,000 issues share.
        if left.count <= 1, right.isEmpty { return left }
        var all: [Name] = []
        for name in left + right where !all.contains(name) { all.append(name) }
        return all
    }
}

extension Finding {
    /// Moves a finding to its line's present place, so that the next integration finds it from there.
    fileprivate mutating func follow(_ changes: SourceChanges) {
        guard let path, let now = changes.path(of: path) else { return }
        if let line, let place = changes.place(path: path, line: line) { self.line = place.line }
        self.path = now
    }
}
