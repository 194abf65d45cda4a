import Foundation
import Glibc

extension Service {
    /// Git's environment, with the configuration of no user.
    private var identity: [String: String] {
        var environment = ["HOME": root, "GIT_CONFIG_NOSYSTEM": "1"]
        environment["PATH"] = ProcessInfo.processInfo.environment["PATH"]
        for role in ["AUTHOR", "COMMITTER"] {
            environment["GIT_\(role)_NAME"] = "Somebody"
            environment["GIT_\(role)_EMAIL"] = "somebody@example.org"
        }
        return environment
    }

    /// Runs git in the clone of a bot.
    /// - Throws: `ServiceFailure` if it fails.
    @discardableResult package func git(_ bot: String, _ arguments: String...) throws -> String {
        try Self.git(["-C", "\(root)/clones/\(bot)"] + arguments, identity)
    }

    private static func git(_ arguments: [String], _ environment: [String: String]) throws -> String {
        try Shell.run("git", arguments, environment: environment)
    }

    /// Makes a bot with a bare repository of its own, a clone of it, and its first commit, which is pushed to a branch.
    /// - Parameters:
    ///   - files: The files of the first commit.
    ///   - lines: Lines of the bot's file beside `repository`, `webhook` and `poll: off`.
    ///   - source: Another repository to begin with, instead of an empty one.
    /// - Returns: The commit.
    /// - Throws: `ServiceFailure`.
    package func makeBot(
        _ name: String, branch: String = "main", files: [String: String], lines: String = "", source: String? = nil
    ) throws -> String {
        let (bare, work) = ("\(root)/repositories/\(name).git", "\(root)/clones/\(name)")
        if let source {
            // The machine may configure from where it takes other users' repositories.
            var theirs = identity
            theirs["GIT_CONFIG_NOSYSTEM"] = nil
            _ = try Self.git(["clone", "-q", "--no-hardlinks", source, work], theirs)
            _ = try Self.git(["-C", work, "checkout", "-q", "-B", branch], identity)
        } else {
            _ = try Self.git(["init", "-q", "-b", branch, work], identity)
        }
        _ = try Self.git(["init", "-q", "--bare", "-b", branch, bare], identity)
        try write("etc/secrets/\(name)-webhook", "a secret", mode: 0o600)
        let commit = try self.commit(name, files: files, branch: branch)
        try write(
            "etc/bots/\(name).yml",
            "repository: \(bare)\nbranches: [\"\(branch)\"]\nwebhook: { secret: \(name)-webhook }\npoll: off\n" + lines)
        return commit
    }

    /// Commits files in a bot's clone and pushes them, without an event.
    /// - Returns: The commit.
    /// - Throws: `ServiceFailure`.
    package func commit(_ bot: String, files: [String: String], branch: String = "main") throws -> String {
        for (path, text) in files { try write("clones/\(bot)/\(path)", text) }
        try git(bot, "add", "-A")
        try git(bot, "commit", "-q", "--allow-empty", "-m", "A change")
        try git(bot, "push", "-q", "\(root)/repositories/\(bot).git", "HEAD:refs/heads/\(branch)")
        return try git(bot, "rev-parse", "HEAD")
    }

    /// Announces a push to the service as a git server's hook does.
    /// - Parameter delivery: The delivery's id, the same one when it is sent again.
    /// - Returns: The answer's status.
    /// - Throws: `ServiceFailure` if there is no answer.
    package func tell(_ bot: String, delivery: String, of commit: String, branch: String = "main") throws -> Int {
        try push(to: bot, delivery: delivery, of: commit, branch: branch).send(by: client)
    }

    /// Returns the signed request of a push.
    package func push(to bot: String, delivery: String, of commit: String, branch: String) -> SignedPush {
        SignedPush(bot: bot, delivery: delivery, commit: commit, branch: branch)
    }

    /// Requests an integration.
    /// - Returns: Its number.
    /// - Throws: `ServiceFailure` if it is refused.
    package func integrate(_ bot: String, commit: String, by client: ServiceClient? = nil) throws -> Int {
        let answer = try (client ?? self.client).send(
            "POST", "/api/v1/bots/\(bot)/integrations", body: #"{"commit":"\#(commit)"}"#)
        guard answer.status == 201,
            let object = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any],
            let number = object["number"] as? Int
        else { throw ServiceFailure("integrate \(bot): \(answer.status) \(answer.text)") }
        return number
    }

    /// Waits until an integration is completed.
    /// - Parameters:
    ///   - limit: In seconds.
    ///   - pause: The time between two checks, in milliseconds.
    ///   - first: The time of the first check, in milliseconds. Checks take of the time that is measured.
    /// - Returns: The API's answer about it.
    /// - Throws: `ServiceFailure` if it is not completed within `limit` seconds.
    @discardableResult package func completed(
        _ bot: String, _ number: Int, limit: Double = 120, pause: Double = 2, after first: Double = 0
    ) throws -> [String: Any] {
        var object: [String: Any] = [:]
        usleep(useconds_t(first * 1000))
        let isDone = try Moment.until(limit: limit, pause: pause) {
            object = try client.get("bots/\(bot)/integrations/\(number)")
            return object["state"] as? String == "completed"
        }
        guard isDone else { throw ServiceFailure("\(bot)#\(number) is not completed after \(limit) s: \(object)") }
        return object
    }

    /// Waits for the integration that a bot's first scan causes.
    /// - Throws: `ServiceFailure`.
    package func begun(_ bot: String, limit: Double = 120) throws -> [String: Any] {
        let isThere = Moment.until(limit: limit, pause: 20) {
            // The bot's file is not read yet, or its repository is not scanned yet.
            ((try? client.get("bots/\(bot)/integrations"))?["items"] as? [Any])?.isEmpty == false
        }
        guard isThere else {
            throw ServiceFailure("\(bot) has no integration after \(limit) s: \(text("daemon.log").suffix(1000))")
        }
        return try completed(bot, 1, limit: limit)
    }

    /// Returns a log's text.
    /// - Throws: `ServiceFailure`.
    package func log(_ bot: String, _ number: Int, configuration: String = "debug") throws -> String {
        try client.send("GET", "/api/v1/bots/\(bot)/integrations/\(number)/log/\(configuration)").text
    }
}
