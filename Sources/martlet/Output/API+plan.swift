import API

extension API.Plan {
    /// The text for a terminal. A long command is shortened; `--json` has all of it.
    var text: String {
        var text = notes.map { line($0) }.joined()
        text += items.map(\.text).joined(separator: "\n")
        if omitted > 0 { text += "\n" + line("and \(omitted) more branches, which are not planned") }
        return text
    }
}

/// Returns a line of text from outside, without control characters.
private func line(_ text: String, indent: Int = 0) -> String {
    String(repeating: " ", count: indent) + Output.visible(text) + "\n"
}

extension API.Plan.Branch {
    var text: String {
        let release = release ? ", a release branch" : ""
        var text = line("\(branch ?? ref)\(release), as of \(commit.prefix(8)): the next push runs")
        if let unread { return text + line("not known: \(unread)", indent: 2) }
        for message in diagnostics {
            text += line(
                "\(message.file):\(message.line):\(message.column): \(message.severity): \(message.message)", indent: 2)
        }
        if let project { text += line("project: \(project)", indent: 2) }
        if configurations.isEmpty {
            text += line("nothing: the recipe is wrong, so it would be build-errors", indent: 2)
        }
        text += configurations.map(\.text).joined()
        guard !configurations.isEmpty else { return text }
        text += line(notArchived ?? "archives: \(archive?.sentence ?? "nothing")", indent: 2)
        if !triggers.contains(where: { $0.kind == "publish" }) {
            text += line("publishes: nothing, since no trigger publishes this branch", indent: 2)
        }
        text += triggers.map { line($0.sentence, indent: 2) }.joined()
        return text
    }
}

extension API.Plan.Job {
    var text: String {
        let place = [image.map { "image \($0)" }, toolchain.map { "toolchain \($0)" }].compactMap(\.self)
        var text = line(([name] + place).joined(separator: ", "), indent: 2)
        if let problem { text += line("cannot begin: \(problem)", indent: 4) }
        text += steps.map(\.text).joined()
        if let analysis { text += line(analysis, indent: 4) }
        if let tested { text += line(tested, indent: 4) }
        return text
    }
}

extension API.Plan.Step {
    /// The most lines of a command that are printed.
    private static let maximumLines = 8

    var text: String {
        var words = [name]
        if directory != "." { words.append("in \(directory)") }
        if network == "full" { words.append("with the network") }
        if !report.isEmpty { words.append("report: \(report.joined(separator: ", "))") }
        let title = "\(step) \(words.joined(separator: ", "))"
        let lines = command.split(whereSeparator: \.isNewline)
        if lines.count == 1 { return line("\(title): \(lines[0])", indent: 4) }
        let shown = lines.prefix(Self.maximumLines).map { line(String($0), indent: 6) }.joined()
        let more = lines.count - Self.maximumLines
        return line("\(title):", indent: 4) + shown + (more > 0 ? line("… \(more) more lines", indent: 6) : "")
    }
}

extension API.Plan.Archive {
    var sentence: String {
        let products =
            include.map { "\($0.joined(separator: ", ")) of \(configuration)" } ?? "the products of \(configuration)"
        switch (products: self.products, source: source) {
        case (true, _): return "\(products), and the source"
        case (false, true): return "the source"
        case (false, false): return "nothing, since \(configuration) has no products"
        }
    }
}

extension API.Plan.Trigger {
    var sentence: String {
        let word = ["run": "runs the script of", "publish": "publishes by", "upload": "uploads by"][kind] ?? kind
        let time = phase == "before" ? ", before the jobs" : ", when \(when.joined(separator: " or "))"
        let what = version.map { ": version \($0)" } ?? reason.map { ": \($0)" } ?? ""
        return "\(word) the trigger \(name)\(time)\(what)"
    }
}
