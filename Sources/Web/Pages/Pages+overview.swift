import Encodings
import Hummingbird
import Integrations
import Model
import Storage

extension Pages {
    /// The most branches of a bot on the overview, and where it is filtered.
    private static let maximumBranches = (usual: 5, filtered: 200)
    /// The longest text of a filter, in bytes.
    private static let longestFilter = 200

    /// Returns the page `/`.
    func bots(_ call: AuthorizedRequest) async throws -> Response {
        let filter = try Self.filter(call)
        let isFiltered = filter != OverviewFilter()
        let overview = await site.operations.overview()
        let undelivered = try await undelivered(call, of: nil)
        let now = site.clock()
        let limit = isFiltered ? Self.maximumBranches.filtered : Self.maximumBranches.usual
        let all = try await site.store.botOverviews(filter, branches: limit).filter { call.shows($0.name) }
        // Bot files with errors can be anybody's.
        let problems = call.bots == nil ? overview.problems : []
        let bots = all.filter { bot in
            !bot.isRetired && (!isFiltered || !bot.branches.isEmpty || filter.isAbout(bot))
        }
        let gone = all.filter { $0.isRetired && filter.state == nil }
        let pauses = try await site.store.pauses()
        let articles = try site.articles.html(
            bots.map { BotArticles.Content($0, isWhole: isFiltered, pause: pauses.bots[$0.name], at: now) },
            isFiltered: isFiltered
        ) { content in
            try site.templates.render("article", Self.article(content))
        }
        return try await page(
            "bots", title: "Bots", section: "bots", watch: "integration",
            [
                "articles": .html(articles), "hasBots": .flag(!bots.isEmpty), "isFiltered": .flag(isFiltered),
                "isNew": .flag(all.isEmpty), "text": .text(filter.text), "state": .text(filter.state?.rawValue),
                "undelivered": .list(undelivered), "hasUndelivered": .flag(!undelivered.isEmpty),
                "problems": .list(problems.map { ["text": .text($0)] }), "hasProblems": .flag(!problems.isEmpty),
                "counts": .list(try await counts(filter, call)),
                "gone": .list(
                    gone.map { ["name": .text($0.name), "repository": .text(Self.withoutUser($0.repository))] }),
                "hasGone": .flag(!gone.isEmpty), "goneCount": .text(PageText.count(gone.count, "bot")),
                "isGoneOpen": .flag(isFiltered),
            ])
    }

    /// - Throws: 400 for an unknown state, and for a text that is too long.
    private static func filter(_ call: AuthorizedRequest) throws(Problem) -> OverviewFilter {
        var filter = OverviewFilter()
        if let text = call.query("q"), !text.isEmpty {
            guard text.utf8.count <= longestFilter else {
                throw Problem(400, "`q` has at most \(longestFilter) bytes.")
            }
            filter.text = text
        }
        if let word = call.query("state"), !word.isEmpty {
            guard let state = OverviewFilter.State(rawValue: word) else {
                throw Problem(400, "`state` is red, running or waiting.")
            }
            filter.state = state
        }
        return filter
    }

    /// Returns the links that show all, the red, the running and the waiting branches, with their numbers.
    private func counts(_ filter: OverviewFilter, _ call: AuthorizedRequest) async throws -> [ViewObject] {
        let text = filter.text.map { "q=\(PercentEncoding.encode($0))" }
        func link(_ state: OverviewFilter.State?, _ words: String, _ tone: ResultView.Tone) -> ViewObject {
            let query = [state.map { "state=\($0.rawValue)" }, text].compactMap(\.self).joined(separator: "&")
            return [
                "href": .text(query.isEmpty ? "/" : "/?\(query)"), "text": .text(words), "tone": .text(tone.rawValue),
                "isCurrent": .flag(filter.state == state),
            ]
        }
        guard call.bots == nil else {
            // The numbers are those of every bot.
            return [
                link(nil, "all your bots", .none), link(.red, "red", .none), link(.running, "running", .none),
                link(.waiting, "waiting", .none),
            ]
        }
        let open = try await site.store.openCounts()
        let red = try await site.store.redRefs()
        return [
            link(nil, PageText.count(open.bots, "bot"), .none),
            link(.red, "\(PageText.number(red)) red", red > 0 ? .bad : .none),
            link(.running, "\(PageText.number(open.running)) running", open.running > 0 ? .busy : .none),
            link(.waiting, "\(PageText.number(open.queued)) waiting", .none),
        ]
    }

    private static func article(_ content: BotArticles.Content) -> ViewObject {
        let bot = content.bot
        let more = bot.total - bot.branches.count
        let rows = bot.branches.count + (more > 0 ? 1 : 0) + (bot.lookError == nil ? 0 : 1)
        var branches: [ViewObject] = zip(bot.branches, content.ages).map { row($0, age: $1, of: bot.name) }
        if !branches.isEmpty { branches[0]["isFirst"] = .flag(true) }
        return [
            "name": .text(bot.name), "botHref": .text("/bots/\(bot.name)"), "rows": .text(max(1, rows)),
            "repository": .text(withoutUser(bot.repository)), "lookError": .text(bot.lookError),
            "pause": .text(content.pause),
            "isEmpty": .flag(bot.isEmpty), "branches": .list(branches), "hasBranches": .flag(!branches.isEmpty),
            "isFiltered": .flag(content.isWhole),
            "more": .text(more > 0 ? PageText.number(more) : nil),
            "moreHref": .text("/?q=\(PercentEncoding.encode(bot.name.description))"),
        ]
    }

    private static func row(_ branch: BotOverview.Branch, age: String, of bot: Name) -> ViewObject {
        let (current, last) = (branch.current, branch.last)
        let shown = last ?? current
        let isOther = last.map { $0.number != current.number } ?? false
        let now = ResultView(current.state, isSkipped: current.isSkipped)
        return [
            "ref": .text(branch.ref.shortName), "isDefault": .flag(branch.isDefault), "isFirst": .flag(false),
            "result": .list([ResultView(shown.state, isSkipped: shown.isSkipped).view]),
            "number": .text(shown.number), "href": .text("/bots/\(bot)/\(shown.number)"),
            "subject": .text(subject(shown.subject)), "tests": .text(testCount(shown.summary)),
            "strip": StripDrawing(items: branch.strip.items).html.map { .html($0) } ?? .flag(false),
            "branchHref": .text(
                "/bots/\(bot)?branch=\(PercentEncoding.encode(branch.ref.branch ?? branch.ref.description))"),
            "queued": .text(shown.queuedAt), "when": .text(age),
            "now": .list(
                isOther
                    ? [
                        [
                            "tone": .text(now.tone.rawValue), "icon": .html(now.icon),
                            "text": .text("#\(current.number) \(now.word)"),
                            "href": .text("/bots/\(bot)/\(current.number)"),
                        ]
                    ] : []),
        ]
    }
}

extension OverviewFilter {
    /// Whether it names the bot itself, so that the bot is shown without any branch, too.
    fileprivate func isAbout(_ bot: BotOverview) -> Bool {
        guard state == nil, let text else { return false }
        return bot.name.description.lowercased().contains(text.lowercased())
    }
}
