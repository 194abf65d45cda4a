package import Model

/// A reader of a bot file.
package enum BotFileReader {
    /// The shortest and longest time between two scans of a repository.
    static let pollRange = Duration.seconds(1)...Duration.seconds(7 * 86_400)
    /// The shortest and longest limit of a step or trigger.
    package static let timeoutRange = Duration.seconds(1)...Duration.seconds(86_400)

    /// The smallest and largest size of an attempt's log. Reading a log of 1 GiB takes 10 s, and it takes 50 MiB compressed.
    static let logRange = ByteCount.kibibytes(64)...ByteCount.gibibytes(1)

    /// Reads a bot file.
    /// - Parameters:
    ///   - file: The path, for messages.
    ///   - name: The bot's name, which is the file's name.
    /// - Returns: The bot with every default filled in, or the problems. A schedule's time zone is looked up; the repository, the secrets and the
    ///   scripts are not.
    package static func read(yaml: String, file: String, name: Name) -> Reading<BotSpecification> {
        var diagnostics = Diagnostics(file: file)
        let root = YAMLParser.parse(yaml, &diagnostics)
        guard !diagnostics.hasErrors else { return diagnostics.reading(of: nil) }
        guard let root else {
            diagnostics.error("the file is empty; a bot file needs `repository:`", at: .start)
            return diagnostics.reading(of: nil)
        }
        let bot = bot(root, text: yaml, name: name, &diagnostics)
        return diagnostics.reading(of: bot)
    }

    private static func bot(
        _ root: YAMLNode, text: String, name: Name, _ diagnostics: inout Diagnostics
    ) -> BotSpecification? {
        guard let fields = Fields(root, Keys.bot, of: "a bot file", &diagnostics) else { return nil }
        let isInsecure = diagnostics.truth(fields["insecure"], "insecure") ?? false
        let repository = diagnostics.line(fields["repository"], "repository")
        if let repository {
            if let problem = AddressText.problem(withRepository: repository, isInsecure: isInsecure) {
                diagnostics.error(problem, at: fields["repository"]?.position ?? fields.position)
            }
        } else if fields["repository"] == nil {
            diagnostics.error(
                "`repository` is missing; write `repository: https://host/path.git`",
                at: fields.position(of: "repository"))
        }

        var bot = BotSpecification(name: name, repository: repository ?? "", isInsecure: isInsecure)
        bot.hasSubmodules = diagnostics.truth(fields["submodules"], "submodules") ?? true
        if let isFetched = diagnostics.truth(fields["lfs"], "lfs") {
            bot.acceptsPointers = !isFetched
            if isFetched {
                diagnostics.error(
                    "files of Git LFS are not fetched; write `lfs: false` to build with the pointers in their place",
                    at: fields["lfs"]?.position ?? fields.position)
            }
        }
        bot.branches = diagnostics.patterns(fields["branches"], "branches")
        bot.tags = diagnostics.patterns(fields["tags"], "tags") ?? []
        if bot.branches == [], bot.tags.isEmpty, !diagnostics.hasErrors {
            diagnostics.warning(
                "the bot watches no branch and no tag, so it integrates only what a user asks for",
                at: fields.position(of: "branches"))
        }
        bot.paths = PathsReader.paths(fields["paths"], &diagnostics)
        bot.pullRequests = diagnostics.word(fields["pull-requests"], "pull-requests") ?? bot.pullRequests
        bot.poll = poll(fields["poll"], &diagnostics) ?? bot.poll
        bot.webhookSecret = webhookSecret(fields["webhook"], &diagnostics)
        bot.forge = diagnostics.word(fields["forge"], "forge")
        bot.status = StatusReader.target(
            fields["status"], repository: bot.repository, isInsecure: isInsecure, &diagnostics)
        bot.schedule = ScheduleReader.schedule(fields["schedule"], &diagnostics)
        bot.isIntegratedOnUpgrade = diagnostics.truth(fields["upgrades"], "upgrades") ?? true
        bot.clean = diagnostics.word(fields["clean"], "clean") ?? bot.clean
        bot.supersede = diagnostics.word(fields["supersede"], "supersede")
        bot.timeout = diagnostics.duration(fields["timeout"], "timeout", within: timeoutRange) ?? bot.timeout
        bot.logLimit = diagnostics.size(fields["log"], "log", within: logRange) ?? bot.logLimit
        bot.retention = RetentionReader.retention(fields["retention"], &diagnostics)
        bot.product = diagnostics.name(fields["product"], "product") ?? name
        bot.isPublic = diagnostics.truth(fields["public"], "public")
        let context = TriggerReader.Context(
            isInsecure: isInsecure, watchesTags: !bot.tags.isEmpty, timeout: bot.timeout)
        bot.triggers = TriggerReader.triggers(fields["triggers"], context, &diagnostics)
        bot.jobSecrets = JobSecretReader.secrets(
            fields["secrets"], watchesTags: !bot.tags.isEmpty, &diagnostics)
        bot.notices = NoticeReader.notices(
            fields["notify"], isInsecure: isInsecure, watchesTags: !bot.tags.isEmpty, &diagnostics)
        if let recipe = fields["recipe"] {
            if let read = RecipeReader.recipe(recipe, project: .unknown, &diagnostics) {
                check(read, at: fields.position(of: "recipe"), has: bot.jobSecrets ?? [], &diagnostics)
            }
            bot.recipe = RecipeText.cut(recipe, from: root, text: text, &diagnostics)
        }
        return bot
    }

    /// Checks that a recipe in the bot file requests only secrets that the same file grants.
    private static func check(
        _ recipe: Recipe, at position: Position, has secrets: [JobSecret], _ diagnostics: inout Diagnostics
    ) {
        let known = secrets.map(\.name)
        for (step, asked) in recipe.askedSecrets {
            for name in asked where !known.contains(name) {
                diagnostics.error(
                    "\(step) of the recipe asks for the secret `\(name)`, which `secrets` of this file does not give"
                        + Suggestion.hint(for: name, in: known), at: position)
            }
        }
    }

    private static func poll(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> BotSpecification.Poll? {
        guard let node else { return nil }
        if case .scalar("off", _) = node.content { return .off }
        if case .scalar("automatic", _) = node.content { return .automatic }
        return diagnostics.duration(node, "poll", within: pollRange).map { .every($0) }
    }

    private static func webhookSecret(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> String? {
        guard let node, let fields = Fields(node, Keys.webhook, of: "`webhook`", &diagnostics) else { return nil }
        guard fields["secret"] != nil else {
            // A hook without a secret would be open to everybody.
            diagnostics.error(
                "`webhook` needs the name of a secret: `webhook: { secret: NAME }`", at: fields.position(of: "secret"))
            return nil
        }
        return diagnostics.secretName(fields["secret"], "secret")
    }
}

/// Extraction of a recipe's text from a bot file, with its lines and columns kept.
enum RecipeText {
    /// Returns the lines from the recipe's first to the one before the next key's.
    static func cut(
        _ recipe: YAMLNode, from root: YAMLNode, text: String, _ diagnostics: inout Diagnostics
    ) -> BotSpecification.RecipeSource? {
        guard case .mapping(let entries) = root.content,
            let index = entries.firstIndex(where: { $0.key == "recipe" })
        else { return nil }
        guard !root.isFlow else {
            diagnostics.error("write the bot file without outer braces to have a recipe in it", at: recipe.position)
            return nil
        }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let end = index + 1 < entries.count ? entries[index + 1].position.line - 1 : lines.count
        let start = recipe.position.line - 1
        guard start < end, end <= lines.count else {
            diagnostics.error("write the recipe in lines of its own below `recipe:`", at: recipe.position)
            return nil
        }
        lines = Array(lines[start..<end])
        // Text before the recipe in its first line, such as a key, is replaced by blanks, so that columns stay correct.
        let first = lines[0].unicodeScalars.dropFirst(recipe.position.column - 1)
        lines[0] = String(repeating: " ", count: recipe.position.column - 1) + String(String.UnicodeScalarView(first))
        while let last = lines.last, isBlankOrComment(last) { lines.removeLast() }
        return .init(yaml: lines.joined(separator: "\n") + "\n", firstLine: recipe.position.line)
    }

    /// Returns whether a line can be removed from the recipe's end. Comments before the next key belong to that key. A `#` line at the end of a block
    /// scalar is removed, too, since it has no effect in a recipe.
    private static func isBlankOrComment(_ line: String) -> Bool {
        let text = line.drop { $0 == " " || $0 == "\t" }
        return text.isEmpty || text.hasPrefix("#")
    }
}
