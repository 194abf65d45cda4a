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
            Route(
                .get, "/health", .open,
                "200 while the service is alive and the database can be read; `/ready` says whether it can work."
            ) { _ in
                _ = try await site.store.hasTokens()
                return try .json(
                    API.Health(
                        status: site.operations.diskShortage == nil ? "ok" : "disk full",
                        version: site.configuration.version, url: site.configuration.url))
            }.described("getHealth", .system, .json(API.Health.self)),
            Route(
                .get, "/ready", .open,
                "200 when the service can do its work, 503 when it cannot: disk, database, launcher, sandbox, scans."
            ) { _ in
                let readiness = API.Readiness(site.operations.health)
                return try .json(readiness, status: readiness.ready ? .ok : .serviceUnavailable)
            }.described("getReadiness", .system, .json(API.Readiness.self)),
            Route(
                .get, "/api/v1/conditions", .role(.viewer), "The service's present troubles, each with its remedy."
            ) { _ in
                try .json(API.List(site.operations.health.troubles.map { API.Condition($0) }))
            }.described("listConditions", .system, .json(API.List<API.Condition>.self)).costing(.list),
            Route(.get, "/metrics", .read, "Prometheus's text format.") { _ in
                .body(Array(try await metrics().utf8), type: "text/plain; version=0.0.4; charset=utf-8")
            }.described("getMetrics", .system, .media("text/plain")).costing(.list),
            Route(
                .get, "/badge/{file}", .read,
                "{bot}.svg: the latest result of the default branch; {bot}.json: the same for shields.io's endpoint badge; ?branch=."
            ) { try await badge($0) }.described(
                "getBadge", .system, query: [.branch], .medias(["image/svg+xml", "application/json"])
            ).reaching(.found),
            Route(.get, "/cctray.xml", .read, "For CCMenu and other trays.") { call in
                .body(Array(try await tray(call).utf8), type: "application/xml; charset=utf-8")
            }.described("getTray", .system, .media("application/xml")).costing(.list).reaching(.listing),
        ]
    }

    private func metrics() async throws -> String {
        let bots = try await site.store.bots().filter { !$0.isRetired }
        var text = MetricsText()
        text.add("martlet_info", .gauge, "The running version.", [.init(1, ("version", site.configuration.version))])
        text.add("martlet_bots", .gauge, "Bots with a file.", [.init(bots.count)])
        text.add(
            "martlet_disk_full", .gauge, "1 while the state's or the workspaces' disk has too little left for jobs.",
            [.init(site.operations.diskShortage == nil ? 0 : 1)])
        let troubles = site.operations.health.troubles
        text.add(
            "martlet_ready", .gauge, "1 while the service can do its work.",
            [.init(API.Readiness(site.operations.health).ready ? 1 : 0)])
        text.add(
            "martlet_conditions", .gauge, "Troubles of the service by kind.",
            ServiceCondition.Kind.allCases.map { kind in
                .init(troubles.count { $0.kind == kind }, ("kind", kind.rawValue))
            })
        let pauses = try await site.store.pauses()
        text.add(
            "martlet_paused", .gauge, "1 while no integration starts: the service is paused or drained.",
            [.init((pauses.drain ?? pauses.service) == nil ? 0 : 1)])
        text.add(
            "martlet_drained", .gauge, "1 while the service is drained for a restart of the machine.",
            [.init(pauses.drain == nil ? 0 : 1)])
        text.add(
            "martlet_bot_paused", .gauge, "1 while the bot itself is paused.",
            bots.map { .init(pauses.bots[$0.name] == nil ? 0 : 1, ("bot", $0.name.description)) })
        let open = try await site.store.openCounts()
        let completed = try await site.store.lastCompleted()
        text.add("martlet_integrations_queued", .gauge, "Integrations that wait.", [.init(open.queued)])
        text.add("martlet_integrations_running", .gauge, "Integrations under way.", [.init(open.running)])
        text.add(
            "martlet_repository_look_failures", .gauge, "Scans in a row that failed.",
            bots.map { .init($0.repositoryState?.failures ?? 0, ("bot", $0.name.description)) })
        text.add(
            "martlet_bot_result", .gauge, "1 for the latest result of the bot's default branch.",
            bots.compactMap { bot in
                completed[bot.name]?.state.result.map {
                    .init(1, ("bot", bot.name.description), ("result", $0.description))
                }
            })
        text.add(
            "martlet_versions", .gauge, "Published versions.",
            try await site.store.versionCounts().map { .init($0.count, ("product", $0.product.description)) })
        // Archived files are left out: they are removed with their integration, and are not checked again.
        let published = "\(site.configuration.state)/files/"
        text.add(
            "martlet_files_damaged", .gauge, "Published files that are not what was published.",
            [.init(site.checks.damaged.count { $0.path.hasPrefix(published) })])
        let messages = try await site.store.outboxCounts()
        text.add(
            "martlet_outbox_messages", .gauge, "Messages to others by state; those that ended stay for a while.",
            Storage.OutboxMessage.State.allCases.map { .init(messages[$0] ?? 0, ("state", $0.rawValue)) })
        addFigures(since: &text)
        return text.text
    }

    /// Adds what is counted since the start.
    private func addFigures(since text: inout MetricsText) {
        text.add(
            "martlet_webhooks_refused_total", .counter, "Deliveries refused for their signature since the start.",
            [.init(Int(site.operations.refusedDeliveries))])
        let writer = site.store.writerFigures()
        text.add(
            "martlet_transactions_total", .counter, "Transactions since the start.", [.init(writer.transactions)])
        text.add(
            "martlet_transactions_long_total", .counter,
            "Transactions since the start that held the writer for more than 5 ms.", [.init(writer.long)])
        text.add(
            "martlet_transaction_longest_seconds", .gauge, "The longest transaction since the start.",
            [.init(writer.longest / .seconds(1))])
        text.add(
            "martlet_commits_long_total", .counter,
            "Commits since the start that alone took more than 5 ms: the disk's time, also for copying the log.",
            [.init(writer.longCommits)])
        let figures = site.figures.figures
        text.add(
            "martlet_integration_queue_seconds", "How long integrations waited for their start.",
            figures.waiting.sorted)
        text.add(
            "martlet_integration_seconds", "How long integrations took from their start to their end.",
            figures.integrations.sorted)
        text.add("martlet_step_seconds", "How long steps of jobs took.", figures.steps.sorted)
    }

    private func badge(_ call: AuthorizedRequest) async throws -> Response {
        let file = call.text("file")
        let kind = [".svg", ".json"].first { file.hasSuffix($0) }
        guard let kind, let bot = Name(file.dropLast(kind.count)) else { throw Problem.notFound }
        guard call.shows(bot) else { throw Problem.elsewhere(call.caller.rights) }
        var filter = IntegrationFilter(bot: bot, state: "completed", leavesOutPulls: true)
        // Skipped integrations do not judge the code.
        filter.hasSkipped = false
        guard try await site.store.bot(bot) != nil else { throw Problem.notFound }
        filter.ref = try await site.branch(call, of: bot)
        let latest = try await site.store.integrations(filter, limit: 1, before: nil).items.first
        let badge = Badge(label: bot.description, result: latest?.state.result)
        return kind == ".json" ? .json(badge.endpoint) : .body(Array(badge.svg.utf8), type: "image/svg+xml")
    }

    private func tray(_ call: AuthorizedRequest) async throws -> String {
        var projects = ""
        let completed = try await site.store.lastCompleted()
        for bot in try await site.store.bots() where !bot.isRetired && call.shows(bot.name) {
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
