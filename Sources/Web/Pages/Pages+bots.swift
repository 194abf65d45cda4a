import Encodings
import Forges
import Hummingbird
import Integrations
import Model
import Storage

extension Pages {
    /// The most branches of a bot on the overview.
    private static let maximumBranches = 8

    func bots() async throws -> Response {
        let overview = await site.operations.overview()
        let now = site.clock()
        let bots = try await site.store.botOverviews(branches: Self.maximumBranches)
        let articles = try site.articles.html(bots.map { BotArticles.Content($0, at: now) }) { content in
            try site.templates.render("article", Self.article(content))
        }
        return try await page(
            "bots", title: "Bots", section: "bots", watch: "integration",
            [
                "articles": .html(articles), "hasBots": .flag(!bots.isEmpty),
                "problems": .list(overview.problems.map { ["text": .text($0)] }),
                "hasProblems": .flag(!overview.problems.isEmpty),
            ])
    }

    private static func article(_ content: BotArticles.Content) -> ViewObject {
        let bot = content.bot
        let branches: [ViewObject] = zip(bot.branches, content.ages).map { branch, age in
            [
                "ref": .text(branch.ref.shortName),
                "result": .list([ResultView(branch.state, isSkipped: branch.isSkipped).view]),
                "number": .text(branch.number), "href": .text("/bots/\(bot.name)/\(branch.number)"),
                "subject": .text(subject(branch.subject)), "tests": .text(testCount(branch.summary)),
                "queued": .text(branch.queuedAt), "when": .text(age),
            ]
        }
        return [
            "name": .text(bot.name), "href": .text("/bots/\(bot.name)"),
            "repository": .text(withoutUser(bot.repository)), "isRetired": .flag(bot.isRetired),
            "lookError": .text(bot.lookError), "isEmpty": .flag(bot.isEmpty),
            "branches": .list(branches), "hasBranches": .flag(!branches.isEmpty),
        ]
    }

    func bot(_ call: AuthorizedRequest) async throws -> Response {
        let bot = try await site.bot(of: call)
        let name = bot.name
        let specification = await site.operations.overview().bot(name)
        let branch = call.query("branch")
        var filter = IntegrationFilter(bot: name)
        filter.ref = branch.map { $0.hasPrefix("refs/") ? RefName($0) : RefName(branch: $0) }
        let (limit, before) = try call.page()
        let page = try await site.store.integrations(filter, limit: limit, before: before)
        let refs = try await site.store.recentRefs(of: name)
        let pulls = try await PullRequestState.all(of: bot, site: site)
        let links = await site.links(of: bot.repository, bot: name)
        let query = branch.map { "branch=\(PercentEncoding.encode($0))&" } ?? ""
        return try await self.page(
            "bot", title: name.description, section: "bots", watch: "integration \(name)",
            [
                "name": .text(name), "repository": .text(Self.withoutUser(bot.repository)),
                "repositoryHref": .text(links?.repository),
                "isRetired": .flag(bot.isRetired),
                "lookError": .text(bot.repositoryState?.lastError),
                "isEmpty": .flag(bot.repositoryState?.isEmpty ?? false),
                "branches": .text(specification?.branches.map { $0.map(\.description).joined(separator: ", ") }),
                "schedule": .text(specification?.schedule?.sentence),
                "nextScheduled": .text(
                    await site.operations.nextScheduled(bot: name, after: site.clock()).map(PageText.time)),
                "product": .text(try await product(of: specification)),
                "refs": .list(refFilters(refs, of: name, current: filter.ref)),
                "pulls": .list(pulls.prefix(Self.maximumPulls).map { Self.row($0, of: name, links) }),
                "hasPulls": .flag(!pulls.isEmpty),
                "morePulls": .text(pulls.count > Self.maximumPulls ? "\(pulls.count - Self.maximumPulls)" : nil),
                "hasRefs": .flag(refs.count > 1),
                "integrations": .list(page.items.map(row)), "hasIntegrations": .flag(!page.items.isEmpty),
                "older": .text(page.next.map { "/bots/\(name)?\(query)before=\($0)" }),
            ])
    }

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
            "approveCommit": .text(state.pull.head),
            "number": .text(integration.map { "#\($0.id.number)" }),
            "href": .text(integration.map { "/bots/\(bot)/\($0.id.number)" }),
            "result": .list(integration.map { [ResultView($0.state).view] } ?? []),
        ]
    }

    private func refFilters(_ refs: [RefName], of bot: Name, current: RefName?) -> [ViewObject] {
        let all: ViewObject = ["text": "All", "href": .text("/bots/\(bot)"), "isCurrent": .flag(current == nil)]
        return [all]
            + refs.prefix(24).map { ref in
                [
                    "text": .text(ref.shortName), "isCurrent": .flag(ref == current),
                    "href": .text("/bots/\(bot)?branch=\(PercentEncoding.encode(ref.branch ?? ref.description))"),
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
