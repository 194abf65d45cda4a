import API
import HTTPTypes
import Hummingbird
import Integrations
import Model
import Storage

/// Routes for monitoring: health, metrics, badges, tray programs.
struct SystemRoutes: Sendable {
    let site: Site

    var routes: [Route] {
        [
            Route(.get, "/health", .open, "200 when the database answers; its status is `ok` or `disk full`.") { _ in
                _ = try await site.store.hasTokens()
                return try .json(
                    API.Health(
                        status: site.operations.diskShortage == nil ? "ok" : "disk full",
                        version: site.configuration.version))
            }.described("getHealth", .system, .json(API.Health.self)),
            Route(.get, "/metrics", .read, "Prometheus's text format.") { _ in
                .body(Array(try await metrics().utf8), type: "text/plain; version=0.0.4; charset=utf-8")
            }.described("getMetrics", .system, .media("text/plain")).costing(.list),
            Route(.get, "/badge/{file}", .read, "{bot}.svg: the latest result of the default branch; ?branch=.") {
                try await badge($0)
            }
            .described("getBadge", .system, query: [.branch], .media("image/svg+xml")),
            Route(.get, "/cctray.xml", .read, "For CCMenu and other trays.") { _ in
                .body(Array(try await tray().utf8), type: "application/xml; charset=utf-8")
            }.described("getTray", .system, .media("application/xml")).costing(.list),
        ]
    }

    private func metrics() async throws -> String {
        let bots = try await site.store.bots().filter { !$0.isRetired }
        var lines: [String] = []
        func gauge(_ name: String, _ help: String, _ values: [(labels: String, value: Int)]) {
            lines += ["# HELP \(name) \(help)", "# TYPE \(name) gauge"]
            lines += values.map { "\(name)\($0.labels) \($0.value)" }
        }
        gauge("martlet_info", "The running version.", [("{version=\"\(site.configuration.version)\"}", 1)])
        gauge("martlet_bots", "Bots with a file.", [("", bots.count)])
        gauge(
            "martlet_disk_full", "1 while the state's or the workspaces' disk has too little left for jobs.",
            [("", site.operations.diskShortage == nil ? 0 : 1)])
        let open = try await site.store.openCounts()
        let completed = try await site.store.lastCompleted()
        gauge("martlet_integrations_queued", "Integrations that wait.", [("", open.queued)])
        gauge("martlet_integrations_running", "Integrations under way.", [("", open.running)])
        gauge(
            "martlet_repository_look_failures", "Scans in a row that failed.",
            bots.map { ("{bot=\"\($0.name)\"}", $0.repositoryState?.failures ?? 0) })
        gauge(
            "martlet_bot_result", "1 for the latest result of the bot's default branch.",
            bots.compactMap { bot in
                completed[bot.name]?.state.result.map { ("{bot=\"\(bot.name)\",result=\"\($0)\"}", 1) }
            })
        gauge(
            "martlet_versions", "Published versions.",
            try await site.store.versionCounts().map { ("{product=\"\($0.product)\"}", $0.count) })
        // Archived files are left out: they are removed with their integration, and are not checked again.
        let published = "\(site.configuration.state)/files/"
        gauge(
            "martlet_files_damaged", "Published files that are not what was published.",
            [("", site.checks.damaged.count { $0.path.hasPrefix(published) })])
        lines += [
            "# HELP martlet_webhooks_refused_total Deliveries refused for their signature since the start.",
            "# TYPE martlet_webhooks_refused_total counter",
            "martlet_webhooks_refused_total \(site.operations.refusedDeliveries)",
        ]
        let messages = try await site.store.outboxCounts()
        gauge(
            "martlet_outbox_messages", "Messages to others by state; those that ended stay for a while.",
            Storage.OutboxMessage.State.allCases.map { ("{state=\"\($0.rawValue)\"}", messages[$0] ?? 0) })
        let writer = site.store.writerFigures()
        gauge("martlet_transactions", "Transactions since the start.", [("", writer.transactions)])
        gauge("martlet_transactions_long", "Those that held the writer for more than 5 ms.", [("", writer.long)])
        gauge(
            "martlet_transaction_longest_microseconds", "The longest of them.",
            [("", Int(writer.longest / .microseconds(1)))])
        gauge(
            "martlet_commits_long",
            "Commits that alone took more than 5 ms: the disk's time, also for copying the log.",
            [("", writer.longCommits)])
        return lines.joined(separator: "\n") + "\n"
    }

    private func badge(_ call: AuthorizedRequest) async throws -> Response {
        guard call.text("file").hasSuffix(".svg"), let bot = Name(call.text("file").dropLast(4)) else {
            throw Problem.notFound
        }
        var filter = IntegrationFilter(bot: bot, state: "completed", leavesOutPulls: true)
        // Skipped integrations do not judge the code.
        filter.hasSkipped = false
        guard try await site.store.bot(bot) != nil else { throw Problem.notFound }
        filter.ref = try await site.branch(call, of: bot)
        let latest = try await site.store.integrations(filter, limit: 1, before: nil).items.first
        return .body(
            Array(Badge(label: bot.description, result: latest?.state.result).svg.utf8), type: "image/svg+xml")
    }

    private func tray() async throws -> String {
        var projects = ""
        let completed = try await site.store.lastCompleted()
        for bot in try await site.store.bots() where !bot.isRetired {
            let latest = bot.latest
            let last = completed[bot.name]
            let activity = latest.map { $0.state.word == "running" } == true ? "Building" : "Sleeping"
            projects += """
                  <Project name="\(bot.name)" activity="\(activity)" lastBuildStatus="\(trayWord(last?.state.result))" \
                lastBuildLabel="\(last?.id.number ?? 0)" lastBuildTime="\((last?.endedAt)?.description ?? "")" \
                webUrl="\(HTMLText.escape(site.configuration.url))/bots/\(bot.name)"/>

                """
        }
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Projects>\n\(projects)</Projects>\n"
    }

    private func trayWord(_ result: IntegrationResult?) -> String {
        switch result {
        case nil: "Unknown"
        case .verdict(.internalError), .verdict(.checkoutError), .triggerError: "Exception"
        case .verdict(.canceled): "Unknown"
        case .verdict(let verdict): verdict.isPublishable ? "Success" : "Failure"
        }
    }
}
