import Basics
import Model
import SourceControl
import TestSupport

/// Measures the questions about the history that an integration's new issues cause: 10,000 commits that each change a line of one of 200 files.
struct HistoryFigures {
    private static let commits = 10_000
    private static let files = 200
    private static let lines = 400
    /// The number of commits of an integration.
    private static let interval = 50

    let root: String

    init(in directory: String) { root = directory + "/history" }

    func run() async throws {
        let origin = try await GitRepository.make(at: root + "/origin", isBare: true)
        _ = try await origin.git(["fast-import", "--quiet"], input: Self.history)
        let tip = try await origin.head("refs/heads/main")
        let base = try await origin.head("\(tip)~\(Self.interval)")
        let mirror = Mirrors(directory: root + "/mirrors", configuration: GitConfiguration(files: []))
            .mirror(of: try RemoteURL(root + "/origin", isInsecureAllowed: false))
        try await mirror.fetch(try await mirror.scan().heads)
        let interval = try await mirror.commits(from: base, to: tip, limit: 500).map(\.id)
        let places = (0..<200).map { LinePlace(path: "f\($0 % Self.files)", line: 1 + $0 * 7 % Self.lines) }
        let limit = Mirror.HistoryLimit()

        try await compare("200 lines in an interval of \(Self.interval) commits", places, "\(base)..\(tip)") {
            try await mirror.origins(of: places, at: tip, among: Set(interval), limit: limit).count
        }
        try await compare("200 lines in all of \(Self.commits) commits", places, "\(tip)") {
            try await mirror.origins(of: places, at: tip, among: nil, limit: limit).count
        }
        let names = Dictionary(uniqueKeysWithValues: Set(places.map(\.path)).map { ($0, Set([$0])) })
        let ours = try await Figures.time {
            _ = try await mirror.modifications(of: names, among: interval, limit: limit)
        }
        let theirs = try await Figures.time {
            try await Figures.git(["log", "--name-only", "--format=%H", "\(base)..\(tip)"], in: origin.path)
        }
        Figures.say("history", "who changed 200 files in \(Self.interval) commits", ours: [ours], git: [theirs])
        let changed = try await Figures.time {
            _ = try await mirror.changes(from: base, to: tip, paths: Set(names.keys))
        }
        let diffed = try await Figures.time {
            try await Figures.git(["diff", "-M", "-w", "-U0", "\(base)", "\(tip)"], in: origin.path)
        }
        Figures.say("history", "what became of 200 files", ours: [changed], git: [diffed])
    }

    private func compare(
        _ what: String, _ places: [LinePlace], _ range: String, _ ours: () async throws -> Int
    ) async throws {
        var found = 0
        let took = try await Figures.time { found = try await ours() }
        let theirs = try await Figures.time {
            for place in places {
                try await Figures.git(
                    ["blame", "-w", "-L", "\(place.line),\(place.line)", range, "--", place.path], in: root + "/origin")
            }
        }
        Figures.say("history", "\(what) (\(found) found)", ours: [took], git: [theirs])
    }

    /// The input of `git fast-import`.
    private static var history: String {
        var texts = [[String]](repeating: (0..<lines).map { "first \($0)" }, count: files)
        var stream = ""
        for number in 0..<commits {
            let file = number * 7919 % files
            texts[file][number * 104_729 % lines] = "changed by \(number)"
            let message = "Change \(number)"
            stream += "commit refs/heads/main\n"
            stream += "committer Ada Author <ada@acme.example> \(1_767_225_600 + number) +0000\n"
            stream += "data \(message.utf8.count)\n\(message)\n"
            // The first commit has all files.
            for file in number == 0 ? Array(0..<files) : [file] {
                let text = texts[file].joined(separator: "\n") + "\n"
                stream += "M 100644 inline f\(file)\ndata \(text.utf8.count)\n\(text)\n"
            }
        }
        return stream
    }
}
