import HTTPTypes
import Hummingbird
import Model

/// Lists the published files that differ from what was published, for operators who can restore them.
struct DamageRoutes: Sendable {
    let site: Site

    var routes: [Route] {
        [
            Route(
                .get, "/api/v1/files/damaged", .role(.viewer),
                "Published files that are not what was published, and when all were looked at last."
            ) { _ in .json(answer()) }
        ]
    }

    private func answer() -> JSONValue {
        let root = "\(site.configuration.state)/files/"
        let items: [JSONValue] = site.checks.damaged.compactMap { path, since in
            guard path.hasPrefix(root) else { return nil }
            let parts = path.dropFirst(root.count).split(separator: "/", maxSplits: 2)
            guard parts.count == 3 else { return nil }
            return [
                "product": .string(String(parts[0])), "version": .string(String(parts[1])),
                "file": .string(String(parts[2])), "since": .init(since),
            ]
        }
        return ["looked": .init(site.checks.lookedAt), "items": .array(items)]
    }
}
