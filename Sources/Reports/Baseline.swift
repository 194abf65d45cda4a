package import Model

/// Compares an integration's findings with the issues of the branch's integration before.
package enum Baseline {
    /// A finding of one configuration or several, under its fingerprint.
    package typealias Current = (fingerprint: String, finding: Finding, configurations: [Name])

    /// The integration's issues: new and unresolved ones in the order found, then the resolved ones.
    ///
    /// Unresolved ones are one integration older than before. What was resolved before and is still gone is not listed
    /// again; what comes back is new. A silenced one stays silenced while it is found.
    /// - Parameters:
    ///   - current: Everything found; equal fingerprints are joined, their configurations too.
    ///   - before: The issues of the branch's integration before; empty when there is none.
    ///   - remains: Whether an issue that was not found must be taken to be still there: nobody looked, since the step did
    ///     not run or an incremental build did not compile its file again. Never resolved by absence.
    package static func compare(
        current: [Current], before: [Issue], remains: (Issue) -> Bool = { _ in false }
    ) -> [Issue] {
        var earlier: [String: Issue] = [:]
        for issue in before where issue.status != .resolved { earlier[issue.fingerprint] = issue }
        var issues: [Issue] = []
        var places: [String: Int] = [:]
        for item in current {
            if let place = places[item.fingerprint] {
                issues[place].configurations = union(issues[place].configurations, item.configurations)
                continue
            }
            places[item.fingerprint] = issues.count
            let old = earlier[item.fingerprint]
            let status: Issue.Status =
                switch old?.status {
                case .silenced: .silenced
                case .new, .unresolved: .unresolved
                case .resolved, nil: .new
                }
            issues.append(
                Issue(
                    fingerprint: item.fingerprint, status: status, finding: item.finding, age: (old?.age ?? 0) + 1,
                    configurations: union([], item.configurations)))
        }
        var listed: Set<String> = []
        for var issue in before where issue.status != .resolved && places[issue.fingerprint] == nil {
            guard listed.insert(issue.fingerprint).inserted else { continue }
            if remains(issue) {
                if issue.status == .new { issue.status = .unresolved }
                issue.age += 1
            } else {
                issue.status = .resolved
                issue.age = 0
            }
            issues.append(issue)
        }
        return issues.filter { $0.status != .resolved } + issues.filter { $0.status == .resolved }
    }

    private static func union(_ left: [Name], _ right: [Name]) -> [Name] {
        var all = left
        for name in right where !all.contains(name) { all.append(name) }
        return all
    }
}
