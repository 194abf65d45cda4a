import Hummingbird
import Integrations
import Model
import Storage

/// What people do by buttons on pages: the forms of the operations that the HTTP interface has too, with the same roles.
///
/// Each answers with a redirect to a page that shows what was done, or why nothing was.
struct Actions: Sendable {
    let site: Site

    /// The result of an action: a sentence, and the page that shows it.
    struct Outcome {
        let text: String
        let page: String
    }

    var routes: [Route] {
        [
            form("/bots/{bot}/integrate", .operator, "Queues an integration: branch or commit.", integrate),
            form("/bots/{bot}/integrations/{number}/rerun", .operator, "Runs it again: what, test, tests.", rerun),
            form("/bots/{bot}/integrations/{number}/cancel", .operator, "Cancels it.", cancel),
            form(
                "/bots/{bot}/integrations/{number}/issues/{fingerprint}/mute", .operator,
                "Mutes an issue: reason, until.", mute),
            form(
                "/bots/{bot}/integrations/{number}/issues/{fingerprint}/unmute", .operator, "Unmutes an issue.", unmute),
            form("/bots/{bot}/pull-requests/{number}/approve", .operator, "Lets a fork's head run: commit.", approve),
            form("/outbox/{number}/retry", .operator, "Sends a message again that was given up.", retry)
                .reaching(.found),
            form("/products/{product}/{version}/yank", .operator, "Takes a version out of ranges.", yank),
            form("/pause", .operator, "Pauses the service: reason.", pauseService),
            form("/resume", .operator, "Ends the pause and the drain of the service.", resumeService),
            form("/bots/{bot}/pause", .operator, "Pauses a bot: reason.", pauseBot),
            form("/bots/{bot}/resume", .operator, "Ends the pause of a bot.", resumeBot),
            form("/sessions/{number}/end", .viewer, "Ends a session.", endSession).reaching(.nothing),
        ]
    }

    private func form(
        _ pattern: String, _ role: Role, _ summary: String,
        _ act: @escaping @Sendable (AuthorizedRequest, SentForm) async throws -> Outcome
    ) -> Route {
        .form(pattern, role, summary) { call, form in
            // Back to the page with the form, if the action itself leads nowhere else.
            let back = OwnPath.checked(form["next"]) ?? PageReader.ofRequest.path
            do {
                let outcome = try await act(call, form)
                return said(outcome.text, at: OwnPath.checked(form["next"]) ?? outcome.page, to: call)
            } catch let error as OperationError where error.code != .internal {
                return said("Nothing was changed: \(error.message).", at: back, to: call, isBad: true)
            } catch let problem as Problem where problem.status < 500 {
                return said("Nothing was changed: \(problem.detail)", at: back, to: call, isBad: true)
            }
        }
    }

    /// Redirects to a page that shows a message.
    private func said(_ text: String, at page: String, to call: AuthorizedRequest, isBad: Bool = false) -> Response {
        guard let csrf = call.caller.csrf else { return .seeOther(page) }
        let number = site.messages.add(text, isBad: isBad, for: csrf, at: site.clock())
        let parts = page.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts[0].split(separator: "?", maxSplits: 1)
        // Without the number of an earlier message.
        let query = (path.count > 1 ? path[1].split(separator: "&") : []).filter {
            !$0.hasPrefix(PageMessages.parameter + "=")
        }
        let all = query.map(String.init) + ["\(PageMessages.parameter)=\(number)"]
        let fragment = parts.count > 1 ? "#\(parts[1])" : ""
        return .seeOther("\(path.first ?? "/")?\(all.joined(separator: "&"))\(fragment)")
    }

    private static func page(of id: IntegrationID) -> String { "/bots/\(id.bot)/\(id.number)" }

    // MARK: Integrations

    private func integrate(_ call: AuthorizedRequest, _ form: SentForm) async throws -> Outcome {
        let (branch, commit) = (form["branch"], form["commit"])
        guard branch == nil || commit == nil else {
            throw Problem(400, "Name a branch or a commit, not both.")
        }
        let revision = branch.map { $0.hasPrefix("refs/") ? $0 : "refs/heads/\($0)" } ?? commit
        let record = try await site.operations.integrate(
            bot: call.name("bot"), revision: revision, isClean: form["clean"] != nil, by: call.caller.name)
        try await site.record(.integrated, by: call, bot: record.id.bot, record.id, revision)
        return Outcome(
            text: "\(record.id) is queued: \(record.ref.shortName) at \(record.commit.abbreviated).",
            page: Self.page(of: record.id))
    }

    /// Runs an integration again. Each `test` field is the full name of a test; `tests` is a pattern, as for `martlet rerun --tests`.
    private func rerun(_ call: AuthorizedRequest, _ form: SentForm) async throws -> Outcome {
        let old = try await site.integration(of: call)
        let what = form["what"] ?? "all"
        var rerun = Rerun()
        switch what {
        case "all": break
        case "failed": rerun.isFailedOnly = true
        case "triggers": rerun.isTriggersOnly = true
        case "tests":
            (rerun.testFilter, rerun.tests) = (form["tests"], form[all: "test"])
            guard rerun.testFilter != nil || !rerun.tests.isEmpty else { throw Problem(400, "No test was chosen.") }
        default: throw Problem(400, "`what` is all, failed, tests or triggers.")
        }
        let accepted = try await site.operations.rerun(old.id, rerun, by: call.caller.name)
        try await site.record(.rerun, by: call, bot: old.id.bot, old.id, what)
        let jobs = accepted.jobs.map(\.description).joined(separator: ", ")
        let subject = rerun.isTriggersOnly ? ", its triggers alone" : jobs.isEmpty ? "" : ": \(jobs)"
        return Outcome(
            text: (["\(old.id) is queued again\(subject)."] + accepted.notes.map { "\($0)." }).joined(separator: " "),
            page: Self.page(of: old.id))
    }

    private func cancel(_ call: AuthorizedRequest, _ form: SentForm) async throws -> Outcome {
        let record = try await site.integration(of: call)
        try await site.operations.cancel(record.id, by: call.caller.name)
        try await site.record(.canceled, by: call, bot: record.id.bot, record.id)
        return Outcome(text: "\(record.id) is being canceled.", page: Self.page(of: record.id))
    }

    // MARK: Issues

    private func mute(_ call: AuthorizedRequest, _ form: SentForm) async throws -> Outcome {
        let record = try await site.integration(of: call)
        guard let reason = form["reason"] else { throw Problem(400, "Say why the issue is muted.") }
        let until = try Self.until(form["until"])
        let issue = try await site.operations.silence(
            call.text("fingerprint"), of: record.id, reason: reason, expires: until, by: call.caller.name)
        try await site.record(
            .muted, by: call, bot: record.id.bot, "\(record.id) \(call.text("fingerprint").prefix(12))", reason)
        let end = until.map { " until \(PageText.time($0)) UTC" } ?? ""
        return Outcome(
            text: "Muted in all branches\(end): \(issue.finding.message.prefix(160))",
            page: Self.page(of: record.id) + "#issues")
    }

    /// Returns the time that a date field states: the beginning of that day in UTC.
    private static func until(_ text: String?) throws(Problem) -> Timestamp? {
        guard let text else { return nil }
        guard let time = Timestamp(rfc3339: text.count == 10 ? text + "T00:00:00Z" : text) else {
            throw Problem(400, "`until` is a day such as 2026-12-31.")
        }
        return time
    }

    private func unmute(_ call: AuthorizedRequest, _ form: SentForm) async throws -> Outcome {
        let record = try await site.integration(of: call)
        let fingerprint = try await site.operations.unsilence(
            call.text("fingerprint"), of: record.id, by: call.caller.name)
        try await site.record(.unmuted, by: call, bot: record.id.bot, "\(record.id) \(fingerprint.prefix(12))")
        return Outcome(
            text: "The issue \(fingerprint.prefix(12)) is muted no more.", page: Self.page(of: record.id) + "#issues")
    }

    // MARK: Pull requests, messages, versions, sessions

    private func approve(_ call: AuthorizedRequest, _ form: SentForm) async throws -> Outcome {
        let bot = try await site.bot(of: call).name
        guard let number = Int(call.text("number")), number > 0 else { throw Problem.notFound }
        guard let commit = form["commit"] else { throw Problem(400, "The form names no commit to approve.") }
        let record = try await site.operations.approve(
            pullRequest: number, of: bot, commit: commit, by: call.caller.name)
        try await site.record(.approved, by: call, bot: bot, "\(bot)!\(number)", commit)
        return Outcome(
            text: "\(bot)!\(number) is approved at \(commit.prefix(8)) and runs as \(record.id).",
            page: Self.page(of: record.id))
    }

    private func retry(_ call: AuthorizedRequest, _ form: SentForm) async throws -> Outcome {
        let message = try await site.retryMessage(call)
        return Outcome(text: "Message \(message.id) is sent again.", page: "/outbox")
    }

    private func yank(_ call: AuthorizedRequest, _ form: SentForm) async throws -> Outcome {
        let product = try call.name("product")
        guard let version = SemanticVersion(call.text("version")) else {
            throw Problem(400, "One version is yanked, such as 1.4.2, and no range.")
        }
        try await site.operations.yank(product: product, version: version, by: call.caller.name)
        try await site.record(.yanked, by: call, "\(product) \(version)")
        guard let record = try await site.store.version(version, of: product) else { throw Problem.notFound }
        return Outcome(
            text: "\(product) \(version) is yanked: `latest` and ranges leave it out. By its name it stays fetchable.",
            page: Pages.place(of: record))
    }

    private func endSession(_ call: AuthorizedRequest, _ form: SentForm) async throws -> Outcome {
        let isAdmin = call.caller.role == .admin
        guard let id = Int64(call.text("number")),
            try await site.store.endSession(id, of: isAdmin ? nil : call.caller.name)
        else { throw Problem(404, "There is no such session; it may have ended already.") }
        try await site.record(.sessionEnded, by: call, "session \(id)")
        return Outcome(text: "Session \(id) has ended.", page: "/sessions")
    }
}
