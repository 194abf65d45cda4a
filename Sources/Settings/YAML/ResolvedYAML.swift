package import Model

/// A printer of bots with every default written out, as a bot file that is read back as the same bot.
package enum ResolvedYAML {
    /// Returns the file's text. It contains names of secrets, never their values.
    package static func print(_ bot: BotSpecification) -> String {
        var lines = ["# \(bot.name).yml with every default"]
        func add(_ key: String, _ value: String, _ comment: String? = nil) {
            let line = "\(key): \(value)"
            let padding = String(repeating: " ", count: max(1, 38 - line.count))
            lines.append(comment.map { line + padding + "# " + $0 } ?? line)
        }
        add("repository", YAMLText.scalar(bot.repository))
        add("submodules", "\(bot.hasSubmodules)", bot.hasSubmodules ? nil : "their directories stay empty")
        if bot.acceptsPointers == true {
            add("lfs", "false", "pointers of Git LFS stand in place of its files")
        } else {
            lines.append("# lfs: a pointer of Git LFS is a checkout error")
        }
        add("insecure", "\(bot.isInsecure)", bot.isInsecure ? "http and git addresses are allowed" : nil)
        if let branches = bot.branches {
            add("branches", YAMLText.list(branches.map(\.description)))
        } else {
            lines.append("# branches: the remote's default branch and release/*")
        }
        add("tags", YAMLText.list(bot.tags.map(\.description)))
        if let paths = bot.paths {
            add("paths", YAMLText.list(paths.patterns))
        } else {
            lines.append("# paths: every file matters")
        }
        add("pull-requests", bot.pullRequests.rawValue, comment(on: bot.pullRequests))
        switch bot.poll {
        case .automatic: add("poll", "automatic", "60s; 10m once an authentic webhook has arrived")
        case .every(let duration): add("poll", DurationText.print(duration))
        case .off: add("poll", "off")
        }
        if let secret = bot.webhookSecret {
            add("webhook", "{ secret: \(YAMLText.scalar(secret)) }")
        } else {
            lines.append("# webhook: none, so none is taken")
        }
        if let forge = bot.forge { add("forge", forge.rawValue) }
        if let status = bot.status {
            lines.append("status:")
            lines += StatusReader.lines(status).map { "  " + $0 }
        } else {
            lines.append("# status: none, so no forge is told")
        }
        if let schedule = bot.schedule {
            let (value, comment) = ScheduleText.print(schedule)
            add("schedule", value, comment)
        } else {
            lines.append("# schedule: none")
        }
        add("upgrades", "\(bot.isIntegratedOnUpgrade)", "integrate tips anew for another version of swift")
        add("clean", bot.clean.rawValue)
        if let supersede = bot.supersede {
            add("supersede", supersede.rawValue)
        } else {
            lines.append("# supersede: queued; never on refs with a publish or upload trigger")
        }
        add("timeout", DurationText.print(bot.timeout), "a step's")
        add("log", ByteCountText.print(bot.logLimit), "an attempt's, at most 1GiB")
        if let retention = bot.retention {
            add("retention", RetentionReader.text(retention), "over the settings', key by key")
        } else {
            lines.append("# retention: as the settings say")
        }
        add("product", bot.product.description)
        if let isPublic = bot.isPublic {
            add("public", "\(isPublic)", isPublic ? "anybody may read its versions" : "its versions need a token")
        } else {
            lines.append("# public: as `anonymous` of the settings says")
        }
        if bot.triggers.isEmpty { add("triggers", "[]") } else { lines.append("triggers:") }
        lines += bot.triggers.flatMap(self.lines)
        if let notices = bot.notices, !notices.isEmpty {
            lines.append("notify:")
            lines += notices.flatMap(self.lines)
        } else {
            lines.append("# notify: nobody")
        }
        if let secrets = bot.jobSecrets, !secrets.isEmpty {
            lines.append("secrets:")
            lines += secrets.map { "  - " + line($0) }
        } else {
            lines.append("# secrets: none, so jobs have none")
        }
        if let recipe = bot.recipe {
            lines.append("recipe:")
            lines += recipe.yaml.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            while lines.last?.isEmpty == true { lines.removeLast() }
        } else {
            lines.append("# recipe: the repository's \(RecipeReader.fileName), else its project's usual commands")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func comment(on pullRequests: BotSpecification.PullRequests) -> String {
        switch pullRequests {
        case .off: "none is integrated"
        case .trusted: "those of the repository's own branches"
        case .approved: "a fork's once an operator approved its head"
        case .all: "a fork's too, without a network"
        }
    }

    private static func line(_ secret: JobSecret) -> String {
        var parts = ["name: " + YAMLText.scalar(secret.name)]
        parts.append("branches: " + YAMLText.list(secret.branches.map(\.description)))
        parts.append("tags: " + YAMLText.list(secret.tags.map(\.description)))
        for (key, names) in [("configurations", secret.configurations), ("steps", secret.steps)] {
            if let names { parts.append("\(key): " + YAMLText.list(names.map(\.description))) }
        }
        return "{ \(parts.joined(separator: ", ")) }"
    }

    private static func lines(_ notice: Notice) -> [String] {
        var lines = ["  - name: \(notice.name)"]
        if let branches = notice.branches {
            lines.append("    branches: " + YAMLText.list(branches.map(\.description)))
        }
        if let tags = notice.tags { lines.append("    tags: " + YAMLText.list(tags.map(\.description))) }
        if notice.branches == nil, notice.tags == nil { lines.append("    # every ref that the bot watches") }
        lines.append("    when: " + YAMLText.list(notice.when.map(\.rawValue)))
        switch notice.target {
        case .mail(let to, let domains):
            lines.append("    mail: " + YAMLText.list(to.map(\.description)))
            lines.append("    authors: " + YAMLText.list(domains))
        case .webhook(let url, let secret):
            lines.append("    webhook: " + YAMLText.scalar(url))
            lines.append("    secret: " + YAMLText.scalar(secret))
        }
        return lines
    }

    private static func text(of source: Trigger.VersionSource) -> String {
        switch source {
        case .branch: "branch"
        case .tag: "tag"
        // Within braces, a comma or a brace would end an unquoted text; texts with these characters are quoted.
        case .file(let path): "{ file: \(YAMLText.scalar(path)) }"
        case .command(let command): "{ command: \(YAMLText.scalar(command)) }"
        }
    }

    private static func lines(_ trigger: Trigger) -> [String] {
        var lines = ["  - name: \(trigger.name)", "    phase: \(trigger.phase.rawValue)"]
        if let branches = trigger.branches {
            lines.append("    branches: " + YAMLText.list(branches.map(\.description)))
        }
        if let tags = trigger.tags { lines.append("    tags: " + YAMLText.list(tags.map(\.description))) }
        if trigger.branches == nil, trigger.tags == nil { lines.append("    # every ref that the bot watches") }
        if trigger.phase == .after { lines.append("    when: " + YAMLText.list(trigger.when.map(\.rawValue))) }
        switch trigger.action {
        case .run(let script):
            lines.append("    run: " + YAMLText.scalar(script))
            lines.append("    secrets: " + YAMLText.list(trigger.secrets))
            lines.append(
                trigger.isSandboxed.map { "    sandbox: \($0)" }
                    ?? "    # sandbox: false, since the bot file does not say it")
        case .publish(let source):
            let registry = trigger.registry.map { ", registry: \($0)" } ?? ""
            lines.append("    publish: { version: \(text(of: source))\(registry) }")
        case .upload(let url, let credentials):
            lines.append("    upload: " + YAMLText.scalar(url))
            if let credentials { lines.append("    credentials: " + YAMLText.scalar(credentials)) }
        }
        lines.append("    timeout: " + DurationText.print(trigger.timeout))
        return lines
    }
}
