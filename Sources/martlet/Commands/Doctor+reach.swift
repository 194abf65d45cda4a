import API
import Basics
import Foundation
import Glibc
import Jobs
import Model
import Releases
import Settings
import SourceControl
import Transfer

extension Doctor {
    /// How many servers are asked at one time.
    private static let width = 8
    /// How long a git server may take to list its refs.
    private static let patience = Duration.seconds(30)

    /// Examines whether each repository can be listed with the bot's credentials, and has a ref that the bot watches.
    ///
    /// It lists with a mirror of its own, so that it waits for no scan of the service.
    static func examineRepositories(
        _ bots: [BotSpecification], _ secrets: SecretStore, _ daemon: Daemon, _ report: inout DoctorReport
    ) async {
        guard !bots.isEmpty else { return }
        let scratch = FileManager.default.temporaryDirectory.path + "/martlet-doctor-\(RandomIdentifiers().next())"
        var limits = NetworkLimits()
        limits.scan = patience
        let remotes = Remotes(mirrors: Mirrors(directory: scratch, limits: limits), secrets: secrets)
        // An unreadable answer is no finding about repositories.
        let seen = try? await daemon.get("/api/v1/bots", as: API.BotList.self)
        let errors = Dictionary(
            (seen?.items ?? []).compactMap { bot in bot.lookError.map { (bot.name, $0) } }, uniquingKeysWith: { $1 })
        let results = await eachOf(bots) { bot in
            do {
                return (bot, Result<Listing, any Error>.success(try await remotes.mirror(for: bot).scan()))
            } catch {
                return (bot, .failure(error))
            }
        }
        for (bot, result) in results {
            switch result {
            case .failure(let error):
                report.problem(
                    "repository", "\(bot.name): \(error)",
                    remedy: "correct `repository`, or the secrets git-HOST; see docs/operating/git-servers.md")
            case .success(let listing):
                if let reason = bot.whyUnwatched(heads: listing.heads.keys, defaultBranch: listing.defaultBranch) {
                    report.problem("repository", "\(bot.name): \(reason.text)", remedy: reason.remedy)
                } else if let error = errors[bot.name.description] {
                    report.problem(
                        "repository", "\(bot.name): it can be listed now, and the service's newest scan said: \(error)",
                        remedy: "see the page of the bot after its next scan")
                } else {
                    report.fine("repository", "\(bot.name): \(listing.heads.count.counting("ref"))")
                }
            }
        }
        try? FileManager.default.removeItem(atPath: scratch)
    }

    /// A server or a directory that the service sends to.
    private struct Target {
        var name: String
        var users: [String]
        var remedy: String
        var check: @Sendable () async throws -> Void
    }

    /// Examines whether each target of notices, commit statuses, uploads, the operator, traces and sign-in can be reached.
    /// No notice, status or file is sent.
    static func examineTargets(
        _ settings: ServiceSettings, _ bots: [BotSpecification], _ secrets: SecretStore, _ report: inout DoctorReport
    ) async {
        let targets: [Target]
        do throws(TransferError) {
            targets = Self.targets(settings, bots, secrets, try CurlTransport())
        } catch {
            return report.problem("target", "\(error)", remedy: "free memory, then try again")
        }
        let results = await eachOf(targets) { target -> (Target, String?) in
            do {
                try await target.check()
                return (target, nil)
            } catch {
                return (target, "\(error)")
            }
        }
        for (target, trouble) in results {
            let users = target.users.prefix(3).joined(separator: ", ") + (target.users.count > 3 ? ", …" : "")
            if let trouble {
                report.problem("target", "\(target.name) (\(users)): \(trouble)", remedy: target.remedy)
            } else {
                report.fine("target", "\(target.name) (\(users)) can be reached")
            }
        }
    }

    private static func targets(
        _ settings: ServiceSettings, _ bots: [BotSpecification], _ secrets: SecretStore, _ transport: CurlTransport
    ) -> [Target] {
        var targets: [Target] = []
        func add(_ name: String, _ user: String, _ remedy: String, _ check: @escaping @Sendable () async throws -> Void)
        {
            if let index = targets.firstIndex(where: { $0.name == name }) {
                targets[index].users.append(user)
            } else {
                targets.append(Target(name: name, users: [user], remedy: remedy, check: check))
            }
        }
        func addServer(of url: String, _ user: String, _ key: String) {
            guard let origin = origin(of: url) else { return }
            add(origin, user, "check `\(key)`, DNS, the firewall and the server's certificate") {
                var request = TransferRequest(.head, origin + "/")
                request.destination = .head
                request.limits = Uploads.probeLimits
                // Nothing is sent but the request for the headers.
                request.isPlainHTTPAllowed = true
                _ = try await transport.perform(request)
            }
        }
        let uploads = Uploads(uploader: Uploader(transport: transport), secrets: secrets)
        for bot in bots {
            for notice in bot.notices ?? [] {
                guard case .webhook(let url, _) = notice.target else { continue }
                addServer(of: url, "the notice \(notice.name) of the bot \(bot.name)", "webhook")
            }
            if let status = bot.status {
                addServer(of: status.api, "statuses of the bot \(bot.name)", "status: { api: … }")
            }
            for trigger in bot.triggers {
                guard case .upload(let url, let credentials) = trigger.action else { continue }
                add(
                    Uploads.place(of: url), "the trigger \(trigger.name) of the bot \(bot.name)",
                    "check `upload` and its secret"
                ) {
                    try await uploads.probe(url, credentials: credentials)
                }
            }
        }
        if let mail = settings.mail {
            add(mail.server, "`mail` of the settings", "check `mail`, its secret and the server") {
                var request = TransferRequest(.head, mail.server)
                if let name = mail.credentials, let secret = try secrets.value(name) {
                    request.credentials = TransferCredentials(secret: secret, file: nil)
                }
                request.isPlainMailAllowed = mail.isInsecure
                request.certificateAuthorities = mail.certificates
                request.limits = Uploads.probeLimits
                _ = try await transport.perform(request)
            }
        }
        if let webhook = settings.operators?.webhook { addServer(of: webhook, "`operator` of the settings", "webhook") }
        if let traces = settings.traces { addServer(of: traces.endpoint, "`traces` of the settings", "traces") }
        if let provider = settings.signIn.openID {
            addServer(of: provider.issuer, "`sign-in` of the settings", "issuer")
        }
        return targets
    }

    /// Returns the scheme, host and port of a URL; `nil` for other text. A path can be a secret.
    private static func origin(of url: String) -> String? {
        guard let mark = url.firstRange(of: "://") else { return nil }
        let host = url[mark.upperBound...].prefix { !"/?#".contains($0) }
        return "\(url[..<mark.lowerBound])://\(host)"
    }

    /// Runs a check of each item, some at one time.
    /// - Returns: The results in the items' order.
    private static func eachOf<Item: Sendable, Value: Sendable>(
        _ items: [Item], _ check: @escaping @Sendable (Item) async -> Value
    ) async -> [Value] {
        await withTaskGroup(of: (Int, Value).self) { group in
            var results: [Int: Value] = [:]
            for (index, item) in items.enumerated() {
                if index >= width, let (done, value) = await group.next() { results[done] = value }
                group.addTask { (index, await check(item)) }
            }
            for await (index, value) in group { results[index] = value }
            return items.indices.compactMap { results[$0] }
        }
    }
}
