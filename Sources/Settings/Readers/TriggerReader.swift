import Model

/// A reader of a bot file's triggers.
enum TriggerReader {
    /// The most triggers of one bot.
    static let maximumTriggers = 64

    /// The bot file's values on which the triggers' meaning depends.
    struct Context {
        var isInsecure: Bool
        var watchesTags: Bool
        /// The bot's time limit, which applies to triggers without their own.
        var timeout: Duration
    }

    static func triggers(_ node: YAMLNode?, _ context: Context, _ diagnostics: inout Diagnostics) -> [Trigger] {
        guard let items = diagnostics.items(node, "triggers", allowsOne: false) else { return [] }
        if items.count > maximumTriggers {
            diagnostics.error(
                "`triggers` has more than \(maximumTriggers) items; make one script of several",
                at: items[maximumTriggers].position)
            return []
        }
        var triggers: [Trigger] = []
        var places: [Name: Position] = [:]
        for item in items {
            let isPublished = triggers.contains {
                if case .publish = $0.action { true } else { false }
            }
            guard let trigger = trigger(item, context, isPublished: isPublished, &diagnostics) else { continue }
            if let first = places[trigger.name] {
                diagnostics.error(
                    "a trigger named `\(trigger.name)` is there already, in line \(first.line)", at: item.position)
            }
            if let other = triggers.first(where: { isBeaten(trigger, by: $0) }) {
                diagnostics.warning(
                    "`\(other.name)` publishes commits of the same refs "
                        + (other.registry.map { "as `\($0)`" } ?? "without `registry`")
                        + ", and a commit gets one version: those are not in the registry as "
                        + "`\(trigger.registry.map(\.description) ?? "")`; write one trigger", at: item.position)
            }
            places[trigger.name] = item.position
            triggers.append(trigger)
        }
        return triggers
    }

    /// Returns whether another trigger publishes the same commits under another package name. A commit gets only one version, so this trigger's would
    /// be lost.
    private static func isBeaten(_ trigger: Trigger, by other: Trigger) -> Bool {
        guard case .publish = trigger.action, trigger.action == other.action, let package = trigger.registry,
            package != other.registry
        else { return false }
        // If two patterns match a common ref, nearly always one of them matches the other's text.
        func overlap(_ some: [RefPattern]?, _ others: [RefPattern]?) -> Bool {
            (some ?? []).contains { one in
                (others ?? []).contains { $0.matches(one.description) || one.matches($0.description) }
            }
        }
        return overlap(trigger.branches, other.branches) || overlap(trigger.tags, other.tags)
    }

    private static func trigger(
        _ node: YAMLNode, _ context: Context, isPublished: Bool, _ diagnostics: inout Diagnostics
    ) -> Trigger? {
        guard let fields = Fields(node, Keys.trigger, of: "a trigger", &diagnostics) else { return nil }
        let name = diagnostics.name(fields["name"], "name")
        if fields["name"] == nil { diagnostics.error("the trigger has no `name`", at: fields.position) }
        guard let action = ActionReader.action(fields, context, isPublished: isPublished, &diagnostics) else {
            return nil
        }
        guard let name else { return nil }
        var trigger = Trigger(name: name, action: action, timeout: context.timeout)
        trigger.phase = diagnostics.word(fields["phase"], "phase") ?? .after
        trigger.branches = diagnostics.patterns(fields["branches"], "branches")
        trigger.tags = diagnostics.patterns(fields["tags"], "tags")
        trigger.when = conditions(fields["when"], &diagnostics) ?? trigger.when
        trigger.secrets = SecretNames.read(fields["secrets"], &diagnostics)
        trigger.timeout =
            diagnostics.duration(fields["timeout"], "timeout", within: BotFileReader.timeoutRange) ?? trigger.timeout
        trigger.isSandboxed = diagnostics.truth(fields["sandbox"], "sandbox")
        trigger.registry = ActionReader.registry(fields["publish"], &diagnostics)
        check(trigger, fields, context, &diagnostics)
        return trigger
    }

    private static func conditions(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> [Trigger.Condition]? {
        guard let node, let items = diagnostics.items(node, "when") else { return nil }
        if items.isEmpty {
            diagnostics.error(
                "`when` is empty, so the trigger would never run; remove it or write one", at: node.position)
        }
        var conditions: [Trigger.Condition] = []
        for item in items {
            if let condition: Trigger.Condition = diagnostics.word(item, "when") { conditions.append(condition) }
        }
        return conditions
    }

    /// Checks rules that involve several keys.
    private static func check(
        _ trigger: Trigger, _ fields: Fields, _ context: Context, _ diagnostics: inout Diagnostics
    ) {
        if trigger.phase == .before {
            if fields["when"] != nil {
                diagnostics.error(
                    "there is no result before an integration; remove `when` or `phase: before`",
                    at: fields.position(of: "when"))
            }
            if trigger.action.isRelease {
                diagnostics.error(
                    "`publish` and `upload` need products, which exist only after the jobs; remove `phase: before`",
                    at: fields.position(of: "phase"))
            }
        }
        if !context.watchesTags, let tags = trigger.tags, !tags.isEmpty {
            diagnostics.warning(
                "the bot watches no tags, so `tags` here matches none; add `tags` at the top of the file too",
                at: fields.position(of: "tags"))
        }
        guard trigger.action.isRelease else { return }
        let hasBranches = !(trigger.branches ?? []).isEmpty
        let hasTags = !(trigger.tags ?? []).isEmpty
        switch trigger.action {
        case .publish(.branch) where !hasBranches:
            diagnostics.error(
                "`branches` is required for publish, so that not every branch is published; write "
                    + "`branches: [\"release/*\"]`", at: fields.position)
        case .publish(.branch) where hasTags:
            diagnostics.error(
                "a tag has no branch to take the version from; use `publish: { version: tag }` in a trigger of its own",
                at: fields.position(of: "tags"))
        case .publish(.tag) where !hasTags:
            diagnostics.error("`tags` is required for `version: tag`; write `tags: [\"*\"]`", at: fields.position)
        case .publish(.tag) where hasBranches:
            diagnostics.error(
                "a branch has no tag to take the version from; use `publish: { version: branch }` in a trigger of its own",
                at: fields.position(of: "branches"))
        case .publish(.file) where !hasBranches && !hasTags, .publish(.command) where !hasBranches && !hasTags:
            diagnostics.error(
                "`branches` or `tags` is required for publish, so that not every branch is published; write "
                    + "`branches: [\"release/*\"]`", at: fields.position)
        case .upload where !hasBranches && !hasTags:
            diagnostics.error(
                "`branches` is required for upload, so that not every branch is uploaded; write "
                    + "`branches: [\"release/*\"]`", at: fields.position)
        case .publish(.branch):
            for pattern in trigger.branches ?? [] where !VersionedBranch.canMatch(pattern.description) {
                diagnostics.error(
                    "no version can be made from the branch `\(pattern)`; its name ends in MAJOR.MINOR, as in "
                        + "`release/1.4`", at: fields.position(of: "branches"))
            }
        default: break
        }
    }
}

/// The check whether a pattern can match a branch from which a version is made.
enum VersionedBranch {
    /// Returns whether a pattern can match a branch such as `release/1.4` or `release/2`, whose last component is one or two numbers. A wildcard in
    /// that component counts as a match.
    static func canMatch(_ pattern: String) -> Bool {
        let last = pattern.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        if last.contains("*") || last.contains("?") { return true }
        let text = last.hasPrefix("v") ? last.dropFirst() : last
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count <= 2
            && numbers.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    }
}
