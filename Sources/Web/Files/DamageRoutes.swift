import API
import HTTPTypes
import Hummingbird
import Model
import Storage

/// Lists the published files that differ from what was published, for operators who can restore them.
struct DamageRoutes: Sendable {
    let site: Site

    var routes: [Route] {
        [
            Route(
                .get, "/api/v1/files/damaged", .role(.viewer),
                "Published files that are not what was published, and when all were looked at last."
            ) { _ in try .json(answer()) }.described("listDamagedFiles", .versions, .json(API.DamagedFiles.self))
        ]
    }

    /// Returns a condition for each damaged file, at most `Store.maximumTroubles`.
    func conditions() -> [ServiceCondition] {
        answer().items.prefix(Store.maximumTroubles).map { item in
            ServiceCondition(
                .file, subject: "\(item.product)/\(item.version)/\(item.file)",
                reason: "\(item.file) of \(item.product) \(item.version) is not what was published, and is not served",
                remedy:
                    "restore \(site.configuration.state)/files/\(item.product)/\(item.version)/\(item.file) from a backup; `martlet doctor` lists all damaged files"
            )
        }
    }

    private func answer() -> API.DamagedFiles {
        let root = "\(site.configuration.state)/files/"
        let items: [API.DamagedFiles.Item] = site.checks.damaged.compactMap { path, since in
            guard path.hasPrefix(root) else { return nil }
            let parts = path.dropFirst(root.count).split(separator: "/", maxSplits: 2)
            guard parts.count == 3 else { return nil }
            return API.DamagedFiles.Item(
                product: String(parts[0]), version: String(parts[1]), file: String(parts[2]), since: API.Time(since))
        }
        return API.DamagedFiles(looked: API.Time(site.checks.lookedAt), items: items)
    }
}
