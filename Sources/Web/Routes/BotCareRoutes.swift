import API
import Basics
import HTTPTypes
import Hummingbird
import Integrations
import Model
import Storage

/// Deletes, renames and cleans bots, measures the disk, and reruns what failed by the machine's fault.
struct BotCareRoutes: Sendable {
    let site: Site

    var routes: [Route] {
        [
            Route(
                .post, "/api/v1/bots/{bot}/delete", .role(.admin),
                "Deletes a bot without a file, or says what would go: {dryRun}, which is true if left out."
            ) { call in
                let wish = try await call.json(API.BotDeletionRequest.self)
                let bot = try call.name("bot")
                let deletion = try await site.operations.care.delete(
                    bot, isDry: wish.dryRun ?? true, by: call.caller.name)
                if deletion.isDone {
                    try await site.record(
                        .botDeleted, by: call, bot: bot, bot, "\(deletion.contents.integrations) integrations")
                }
                return try .json(API.BotDeletion(deletion))
            }.described(
                "deleteBot", .bots, body: API.BotDeletionRequest.self, example: ["dryRun": true],
                .json(API.BotDeletion.self)),
            Route(
                .post, "/api/v1/bots/{bot}/rename", .role(.admin),
                "Gives a bot without a file another name, with its history: {name}."
            ) { call in
                let wish = try await call.json(API.BotRenameRequest.self)
                guard let name = Name(wish.name) else {
                    throw Problem(400, "`name` is not a bot's name: it has 1 to 64 of a-z, 0-9, `.`, `_` and `-`.")
                }
                let former = try call.name("bot")
                // Otherwise a bot could be given to another team, whose roles are on that name.
                try call.require(.admin, on: name)
                try await site.operations.care.rename(former, to: name, by: call.caller.name)
                try await site.record(.botRenamed, by: call, bot: name, former, "now \(name)")
                guard let bot = try await site.store.bot(name) else { throw Problem.notFound }
                return try .json(
                    API.Bot(
                        bot, specification: nil, nextScheduled: nil, pause: try await site.store.pauses().bots[name],
                        root: site.configuration.url))
            }.described(
                "renameBot", .bots, body: API.BotRenameRequest.self, example: ["name": "core"], .json(API.Bot.self)),
            Route(
                .post, "/api/v1/bots/{bot}/clean", .role(.operator),
                "Removes the workspaces of a bot that no job uses."
            ) { call in
                let bot = try call.name("bot")
                let outcome = try await site.operations.care.clean(bot, by: call.caller.name)
                try await site.record(.botCleaned, by: call, bot: bot, bot, "\(outcome.removed) workspaces")
                return try .json(
                    API.BotCleaning(
                        bot: bot.description, workspaces: outcome.removed, bytes: outcome.use.bytes,
                        busy: outcome.busy))
            }.described("cleanBot", .bots, .json(API.BotCleaning.self)),
            Route(
                .get, "/api/v1/disk", .role(.operator),
                "The space of the state directory by kind and bot, measured now."
            ) { _ in
                try .json(API.DiskReport(try await site.operations.survey.parts(), in: site.configuration.state))
            }.described("getDisk", .retention, .json(API.DiskReport.self)).costing(.export),
            Route(
                .post, "/api/v1/reruns", .role(.operator),
                "Runs again what ended as internal-error or checkout-error since a time: {since, bot, dryRun}."
            ) { call in
                let wish = try await call.json(API.MachineRerunRequest.self)
                guard let since = Timestamp(rfc3339: wish.since) else {
                    throw Problem(400, "`since` is a time such as 2026-12-31T12:00:00Z.")
                }
                var bot: Name?
                if let text = wish.bot {
                    if let name = Name(text) { try call.require(.operator, on: name) }
                    guard let name = Name(text), try await site.store.bot(name) != nil else {
                        throw Problem(404, "There is no such bot.")
                    }
                    bot = name
                } else {
                    try call.require(.operator, on: nil)
                }
                let reruns = try await site.operations.rerunMachineFailures(
                    since: since, bot: bot,
                    isDry: wish.dryRun ?? false, by: call.caller.name)
                for item in reruns.items where item.isQueued {
                    try await site.record(
                        .rerun, by: call, bot: item.id.bot, item.id,
                        "failed by the machine's fault: \(item.verdict.rawValue)")
                }
                return try .json(API.MachineReruns(reruns))
            }.described(
                "rerunMachineFailures", .integrations, body: API.MachineRerunRequest.self,
                example: ["since": "2026-12-31T12:00:00Z", "dryRun": true], .json(API.MachineReruns.self)
            ).reaching(.found),
        ]
    }
}

extension API.BotDeletion {
    init(_ deletion: BotCare.Deletion) {
        self.init(
            bot: deletion.contents.name.description, done: deletion.isDone, refusal: deletion.refusal,
            integrations: deletion.contents.integrations, bytes: deletion.integrations.bytes,
            files: deletion.integrations.files, workspaceBytes: deletion.workspaces.bytes,
            silences: deletion.contents.silences,
            keeps: deletion.contents.published.map { Kept(product: $0.product.description, versions: $0.versions) })
    }
}

extension API.DiskReport {
    /// - Parameter state: The path of the state directory, whose disk has the free space.
    init(_ parts: [DiskSurvey.Part], in state: String) {
        let total = parts.reduce(DiskUse()) { $0 + $1.use }
        self.init(
            items: parts.map {
                Part(kind: $0.kind.rawValue, name: $0.name, bytes: $0.use.bytes, files: $0.use.files)
            }, bytes: total.bytes, files: total.files, free: FreeSpace(at: state).map { Int64(clamping: $0.bytes) })
    }
}

extension API.MachineReruns {
    init(_ reruns: Integrations.MachineReruns) {
        self.init(
            items: reruns.items.map {
                Item(
                    integration: $0.id.description, verdict: $0.verdict.rawValue, queued: $0.isQueued,
                    refusal: $0.refusal)
            }, omitted: reruns.omitted)
    }
}
