import Hummingbird
import Model
import Storage

extension Pages {
    /// The number of silences on one page.
    private static let silenceRows = 200

    /// Returns the page `/bots/{bot}/silences`.
    func silences(_ call: AuthorizedRequest) async throws -> Response {
        let bot = try await site.bot(of: call).name
        let after = try call.number("after", 0...Store.maximumSilences) ?? 0
        let all = try await site.store.silencedIssues(of: bot)
        let shown = all.dropFirst(after).prefix(Self.silenceRows)
        let now = site.clock()
        return try await page(
            "silences", title: "Muted issues of \(bot)", section: "bots",
            [
                "bot": .text(bot), "api": .text("/api/v1/bots/\(bot)/silences"),
                "says": .text("\(all.count { $0.silence.holds(at: now) }) in force"),
                "hasSilences": .flag(!shown.isEmpty), "silences": .list(shown.map { silence($0, at: now) }),
                "previous": .text(
                    after > 0 ? "/bots/\(bot)/silences?after=\(max(0, after - Self.silenceRows))" : nil),
                "next": .text(
                    after + shown.count < all.count ? "/bots/\(bot)/silences?after=\(after + shown.count)" : nil),
            ])
    }

    private func silence(_ silenced: SilencedIssue, at now: Timestamp) -> ViewObject {
        let silence = silenced.silence
        let isInForce = silence.holds(at: now)
        let issue = silenced.issue
        let state =
            !isInForce
            ? "expired" : issue == nil ? "no branch has it" : issue?.isResolved == true ? "resolved" : "in force"
        return [
            "message": .text(issue?.finding.message), "place": .text(issue.flatMap { Self.place($0.finding) }),
            "category": .text(issue.map { ResultView($0.finding.category).word }),
            "href": .text(issue.map { "/bots/\($0.integration.bot)/\($0.integration.number)#issues" }),
            "integration": .text(issue.map { "#\($0.integration.number)" }), "ref": .text(issue?.ref.shortName),
            "unmute": .text(
                issue.map {
                    "/bots/\($0.integration.bot)/integrations/\($0.integration.number)/issues/\(silenced.fingerprint)/unmute"
                }),
            "fingerprint": .text(silenced.fingerprint.prefix(12)), "reason": .text(silence.reason),
            "person": .text(silence.person), "at": .text(silence.at), "atText": .text(PageText.time(silence.at)),
            "expires": .text(silence.expires.map(\.description)),
            "expiresText": .text(silence.expires.map(PageText.time)), "state": .text(state),
            "tone": .text(isInForce ? "none" : "quiet"),
        ]
    }
}
