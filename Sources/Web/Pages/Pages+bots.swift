import Encodings
import Forges
import Hummingbird
import Integrations
import Model
import Storage

extension Pages {
    /// Returns the page `/bots/{bot}`.
    func bot(_ call: AuthorizedRequest) async throws -> Response {
        let bot = try await site.bot(of: call)
        let name = bot.name
        let specification = await site.operations.overview().bot(name)
        let named = call.ref("branch")
        var filter = IntegrationFilter(bot: name)
        filter.ref = named
        let (limit, before) = try call.page()
        let page = try await site.store.integrations(filter, limit: limit, before: before)
        let refs = try await site.store.recentRefs(of: name)
        let pulls = try await PullRequestState.all(of: bot, site: site)
        let links = await site.links(of: bot.repository, bot: name)
        let pause = try await site.store.pauses().bots[name]
        let overlap = await overlap(of: specification, call)
        let query = named.map { "branch=\(Self.query($0))&" } ?? ""
        var view: ViewObject = [
            "name": .text(name), "repository": .text(Self.withoutUser(bot.repository)),
            "feed": .text("/bots/\(name)/feed"), "feedTitle": .text("Integrations of \(name)"),
            "repositoryHref": .text(links?.repository),
            "isRetired": .flag(bot.isRetired), "lookError": .text(bot.repositoryState?.lastError),
            "isEmpty": .flag(bot.repositoryState?.isEmpty ?? false),
            "undelivered": .list(try await undelivered(call, of: name)),
            "branches": .text(specification?.branches.map { $0.map(\.description).joined(separator: ", ") }),
            "isPaused": .flag(pause != nil), "pauseWords": .text(pause?.sentence),
            "pausedFor": .text(pause.map { PageText.duration(site.clock() - $0.at) }),
            "webhookOverlap": .text(overlap),
            "schedule": .text(specification?.schedule?.sentence), "nextScheduled": .text(await nextScheduled(of: name)),
            "product": .text(try await product(of: specification)),
            "refs": .list(refFilters(refs, of: bot, current: named)), "hasRefs": .flag(refs.count > 1),
            "pulls": .list(pulls.prefix(Self.maximumPulls).map { Self.row($0, of: name, links) }),
            "hasPulls": .flag(!pulls.isEmpty),
            "morePulls": .text(
                pulls.count > Self.maximumPulls ? PageText.number(pulls.count - Self.maximumPulls) : nil),
            "integrations": .list(page.items.map(row)), "hasIntegrations": .flag(!page.items.isEmpty),
            "older": .text(page.next.map { "/bots/\(name)?\(query)before=\($0)" }),
        ]
        // Later pages of the list have only the list.
        if before == nil {
            view.merge(try await health(of: bot, ref: try await site.branch(call, of: name), named: named))
        }
        return try await self.page(
            "bot", title: name.description, section: "bots", watch: "integration \(name)", view)
    }

    /// Returns the destinations that do not get their messages, for callers with a role: addresses can be secrets.
    /// - Parameter bot: Only those that miss messages of this bot; `nil` for all.
    func undelivered(_ call: AuthorizedRequest, of bot: Name?) async throws -> [ViewObject] {
        guard !call.isAnonymous else { return [] }
        let now = site.clock()
        return try await site.store.undelivered().filter { messages in
            bot.map(messages.bots.contains) ?? messages.bots.contains { call.caller.rights.role(on: $0) != nil }
        }.map { messages in
            [
                "kind": .text(messages.kind.rawValue), "destination": .text(messages.destination),
                "since": .text(PageText.age(messages.since, now: now)), "isGivenUp": .flag(messages.isGivenUp),
                "note": .text(messages.note),
            ]
        }
    }

    /// Returns when a bot's schedule queues next, such as `in about 5 h, at 2026-03-02 02:00 UTC`; `nil` without a schedule.
    private func nextScheduled(of bot: Name) async -> String? {
        let now = site.clock()
        return await site.operations.nextScheduled(bot: bot, after: now).map { time in
            "in about \(PageText.rough(time - now)), at \(PageText.time(time).prefix(16)) UTC"
        }
    }

    /// Returns until when deliveries may be signed with the webhook secret before a rotation; `nil` if none may be, and for readers.
    private func overlap(of bot: BotSpecification?, _ call: AuthorizedRequest) async -> String? {
        guard let bot, let role = call.role, role >= .operator else { return nil }
        return await site.operations.secrets.webhookOverlap(of: bot).map { PageText.time($0) }
    }

    private static func query(_ ref: RefName) -> String { PercentEncoding.encode(ref.branch ?? ref.description) }

    /// The most open pull requests on a bot's page; the HTTP interface has all of them.
    private static let maximumPulls = 50

    private static func row(_ state: PullRequestState, of bot: Name, _ links: ForgeLinks?) -> ViewObject {
        let integration = state.integration
        return [
            "name": .text("\(bot)!\(state.pull.number)"),
            "pullHref": .text(links?.pullRequest(state.pull.number)), "base": .text(state.pull.base.shortName),
            "head": .text(state.pull.head?.abbreviated),
            "whose": .text(state.pull.head == nil ? "" : state.pull.source?.shortName ?? "a fork"),
            "state": .text(state.word.title), "reason": .text(state.reason),
            "approve": .text(
                state.word == .waiting ? "/bots/\(bot)/pull-requests/\(state.pull.number)/approve" : nil),
            "approveCommit": .text(state.pull.head?.description),
            "number": .text(integration.map { "#\($0.id.number)" }),
            "href": .text(integration.map { "/bots/\(bot)/\($0.id.number)" }),
            "result": .list(integration.map { [ResultView($0.state).view] } ?? []),
        ]
    }

    /// Returns the links that filter the list: all, the default branch, and the other recent ones.
    private func refFilters(_ refs: [RefName], of bot: BotRecord, current: RefName?) -> [ViewObject] {
        let all: ViewObject = ["text": "All", "href": .text("/bots/\(bot.name)"), "isCurrent": .flag(current == nil)]
        let main = bot.repositoryState?.defaultBranch
        var shown = Array(refs.filter { $0 == main } + refs.filter { $0 != main }.prefix(24))
        if let current, !shown.contains(current) { shown.append(current) }
        return [all]
            + shown.map { ref in
                [
                    "text": .text(ref.shortName), "isCurrent": .flag(ref == current),
                    "href": .text("/bots/\(bot.name)?branch=\(Self.query(ref))"),
                ]
            }
    }

    private func product(of specification: BotSpecification?) async throws -> String? {
        guard let product = specification?.product, try await site.store.products().contains(product) else {
            return nil
        }
        return product.description
    }

    /// Returns a repository's URL without the user and password in it.
    static func withoutUser(_ repository: String) -> String {
        guard let scheme = repository.firstRange(of: "://") else { return repository }
        let rest = repository[scheme.upperBound...]
        let authority = rest.prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return repository }
        return String(repository[..<scheme.upperBound] + rest[rest.index(after: at)...])
    }
}
