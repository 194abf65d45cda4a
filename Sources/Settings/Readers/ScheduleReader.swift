import Model

/// A reader of `schedule:` of a bot file: a line, or a mapping with a time zone and branches.
enum ScheduleReader {
    static func schedule(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> BotSpecification.Schedule? {
        guard let node else { return nil }
        guard case .mapping = node.content else {
            guard let text = diagnostics.line(node, "schedule") else { return nil }
            return checked(parse(text, at: node.position, &diagnostics), at: node.position, &diagnostics)
        }
        guard let fields = Fields(node, Keys.schedule, of: "`schedule`", &diagnostics) else { return nil }
        guard let cron = fields["cron"] else {
            diagnostics.error(
                "`schedule` needs its times: `schedule: { cron: \"30 2 * * 1-5\", time-zone: Europe/Berlin }`",
                at: fields.position(of: "cron"))
            return nil
        }
        guard let text = diagnostics.line(cron, "cron"),
            var schedule = parse(text, at: cron.position, &diagnostics)
        else { return nil }
        let zone = diagnostics.line(fields["time-zone"], "time-zone")
        if let zone, let other = schedule.zone, zone != other {
            diagnostics.error(
                "there are two time zones: \(Printable.quoted(other)) in `cron` and \(Printable.quoted(zone)); write one",
                at: fields.position(of: "time-zone"))
            return nil
        }
        schedule.zone = zone ?? schedule.zone
        schedule.branches = diagnostics.patterns(fields["branches"], "branches")
        return checked(schedule, at: zone == nil ? cron.position : fields.position(of: "time-zone"), &diagnostics)
    }

    private static func parse(
        _ text: String, at position: Position, _ diagnostics: inout Diagnostics
    ) -> BotSpecification.Schedule? {
        do {
            return try ScheduleText.parse(text)
        } catch {
            diagnostics.error(
                "\(Printable.quoted(text)) is not a schedule: \(Printable.oneLine(error.message)); write `daily 02:00`, "
                    + "`weekly sunday 02:00` or `30 2 * * 1-5`, with a time zone after it or in UTC",
                at: position)
            return nil
        }
    }

    private static func checked(
        _ schedule: BotSpecification.Schedule?, at position: Position, _ diagnostics: inout Diagnostics
    ) -> BotSpecification.Schedule? {
        guard let zone = schedule?.zone, TimeZones.rules(of: zone) == nil else { return schedule }
        diagnostics.error(
            "there is no time zone \(Printable.quoted(zone)); write a name such as `Europe/Berlin`, or `UTC`"
                + Suggestion.hint(for: zone, in: TimeZones.names.sorted()),
            at: position)
        return nil
    }
}
