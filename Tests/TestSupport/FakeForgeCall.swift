import Foundation

/// The parts of a request to a forge about statuses.
struct FakeForgeCall {
    var project: String
    var commit: String
    var isReading = false
    /// The query's `name`, and GitLab's `ref`.
    var name: String?
    var ref: String?

    /// Returns `nil` for a path or method that the forge does not have.
    init?(_ method: String, _ url: String, api: String, _ kind: FakeForge.Kind) {
        guard url.hasPrefix(api + "/") else { return nil }
        let halves = url.dropFirst(api.count + 1).split(separator: "?", maxSplits: 1).map(String.init)
        let parts = halves[0].split(separator: "/", omittingEmptySubsequences: false).map(Self.decoded)
        for pair in halves.dropFirst().first?.split(separator: "&") ?? [] {
            if pair.hasPrefix("name=") { name = Self.decoded(pair.dropFirst(5)) }
            if pair.hasPrefix("ref=") { ref = Self.decoded(pair.dropFirst(4)) }
        }
        switch (kind, method, parts.count) {
        case (.github, "POST", 5), (.gitea, "POST", 5), (.forgejo, "POST", 5):
            guard parts[0] == "repos", parts[3] == "statuses" else { return nil }
            (project, commit) = ("\(parts[1])/\(parts[2])", parts[4])
        case (.github, "GET", 6), (.gitea, "GET", 6), (.forgejo, "GET", 6):
            guard parts[0] == "repos", parts[3] == "commits", parts[5] == "statuses" else { return nil }
            (project, commit, isReading) = ("\(parts[1])/\(parts[2])", parts[4], true)
        case (.gitlab, "POST", 4):
            guard parts[0] == "projects", parts[2] == "statuses" else { return nil }
            (project, commit) = (parts[1], parts[3])
        case (.gitlab, "GET", 6):
            guard parts[0] == "projects", Array(parts[2...3]) == ["repository", "commits"], parts[5] == "statuses"
            else {
                return nil
            }
            (project, commit, isReading) = (parts[1], parts[4], true)
        case (.bitbucket, "POST", 7):
            guard parts[0] == "repositories", parts[3] == "commit", Array(parts[5...6]) == ["statuses", "build"] else {
                return nil
            }
            (project, commit) = ("\(parts[1])/\(parts[2])", parts[4])
        case (.bitbucketServer, "POST", 7):
            guard parts[0] == "projects", parts[2] == "repos", parts[4] == "commits", parts[6] == "builds" else {
                return nil
            }
            (project, commit) = ("\(parts[1])/\(parts[3])", parts[5])
        default: return nil
        }
    }

    private static func decoded(_ text: some StringProtocol) -> String {
        String(text).removingPercentEncoding ?? String(text)
    }
}
