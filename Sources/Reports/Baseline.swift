package import Model

/// Compares an integration's findings with the issues of the branch's integration before.
package enum Baseline {
    /// A finding of one configuration or several.
    package struct Found: Hashable, Sendable {
        /// What it is called if it is new.
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

    /// Merges findings of several configurations at one place. The second of two equal findings of one configuration is the second of another's.
    package static func joined(_ all: [Found]) -> [Found] {
        struct Place: Hashable {
            let group: IssueMatching.Group
            let (line, column): (Int?, Int?)
        }
        struct Counted: Hashable {
            let place: Place
            let configuration: Name?
        }
        // Within one configuration no two are the same.
        guard all.contains(where: { $0.configurations.first != all[0].configurations.first }) else { return all }
        var joined: [Found] = []
        var places: [Place: [Int]] = [:]
        var counts: [Counted: Int] = [:]
        for found in all {
            let path = IssueMatching.path(of: found.finding)
            // A test fails where it fails.
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

    /// Whether `compare` needs to know what became of files and lines to tell which finding is which issue.
    /// - Parameters:
    ///   - current: As `joined` gives them.
    package static func needsChanges(current: [Found], before: [Issue]) -> Bool {
        // In each file, and in all together: one more elsewhere may be the one that was here.
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

    /// The integration's issues: new and unresolved ones in the order found, then the resolved ones. None is silenced.
    ///
    /// Unresolved ones are one integration older than before, and keep their fingerprint. An issue that was resolved before and is still gone is
    /// not listed again; one that comes back is new.
    /// - Parameters:
    ///   - current: The result of `joined`.
    ///   - before: The issues of the branch's previous integration; empty if there is none.
    ///   - changes: The changes of files and lines since then; empty if there are none, or they are unknown.
    ///   - number: The integration's own number.
    ///   - unlooked: The configurations in which an issue must be presumed present, because the step did not run or an incremental build did not
    ///     compile its file again; `nil`: every configuration checked it. A presumed issue is not resolved by its absence.
    package static func compare(
        current: [Found], before: [Issue], changes: SourceChanges = SourceChanges(), number: Int,
        unlooked: (Issue) -> [Name]? = { _ in nil }
    ) -> [Issue] {
        let before = before.contains { $0.status == .resolved } ? before.filter { $0.status != .resolved } : before
        let matching = IssueMatching(current, before: before, changes: changes)
        // Only a new issue needs a name.
        var used = matching.issues.contains(nil) ? Set(before.lazy.map(\.fingerprint)) : []
        var issues: [Issue] = []
        // All of them: a list that grows takes three times its memory meanwhile.
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

    /// A name that no other issue here has. One has it when it came from the place where this one is now.
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

    /// Each name once.
    private static func union(_ left: [Name], _ right: [Name]) -> [Name] {
        // There is mostly one name, and 100,000 issues share it.
        if left.count <= 1, right.isEmpty { return left }
        var all: [Name] = []
        for name in left + right where !all.contains(name) { all.append(name) }
        return all
    }
}

extension Finding {
    /// Moves it to where its line is now, so that the next integration finds it from there.
    fileprivate mutating func follow(_ changes: SourceChanges) {
        guard let path, let now = changes.path(of: path) else { return }
        if let line, let place = changes.place(path: path, line: line) { self.line = place.line }
        self.path = now
    }
}
