import Foundation
import Glibc
import ServiceSupport

extension Bench {
    private struct Package {
        var name: String
        /// The address, as git resolves it with this machine's settings.
        var url: String
        /// The file in which a line is changed.
        var file: String
    }

    /// Real packages: a small one and a medium one.
    private static let packages = [
        Package(name: "small", url: "https://github.com/apple/swift-log", file: "Sources/Logging/Logger.swift"),
        Package(
            name: "middle", url: "https://github.com/apple/swift-argument-parser",
            file: "Sources/ArgumentParser/Usage/HelpCommand.swift"),
    ]
    private static let changes = 5
    /// The time between two checks for the end, in milliseconds. Checks take processor time from the build.
    private static let pause = 50.0

    /// Measures one changed line in a package that was built before. It is pushed and integrated. It is also built by hand with the job's own
    /// commands, in an equally warm directory and in a clean clone.
    func change() throws {
        for package in Self.packages {
            do {
                try change(package)
            } catch {
                say("one-line change, \(package.name)", "skipped: \("\(error)".prefix(300))")
            }
        }
    }

    private func change(_ package: Package) throws {
        try withService("change-\(package.name)") { service in
            let recipe = "configurations: { debug: {} }\nanalyze: []\narchive: { include: [] }\n"
            _ = try service.makeBot(
                "kit", files: [".martlet.yml": recipe], lines: "timeout: 60m\n",
                source: package.url)
            let first = try service.begun("kit", limit: 1800)
            guard ["succeeded", "warnings"].contains(first["result"] as? String ?? "") else {
                throw ServiceFailure("\(package.name) ended with \(first["result"] ?? "")")
            }
            let steps = try Self.commands(service)
            let hand = service.root + "/by-hand"
            _ = try Shell.run("git", ["clone", "-q", service.root + "/repositories/kit.git", hand])
            mkdir(hand + "/.martlet", 0o755)
            mkdir(hand + "/.martlet/test", 0o755)
            try Self.run(steps, in: hand)
            var (integrated, byHand): ([Double], [Double]) = ([], [])
            for index in 0..<Self.changes {
                let text = service.text("clones/kit/\(package.file)")
                guard !text.isEmpty else { throw ServiceFailure("there is no \(package.file)") }
                let commit = try service.commit("kit", files: [package.file: text + "\n// change \(index)\n"])
                let start = Double(Moment.wall) / 1_000_000
                _ = try service.tell("kit", delivery: "\(index)", of: commit)
                _ = Moment.until(limit: 30) {
                    (try? service.client.get("bots/kit/integrations/\(index + 2)")) != nil
                }
                let object = try service.completed("kit", index + 2, limit: 1800, pause: Self.pause)
                integrated.append(try Self.end(object) - start)
                _ = try Shell.run("git", ["-C", hand, "pull", "-q"])
                byHand.append(try Moment.milliseconds { try Self.run(steps, in: hand) })
            }
            let clean = service.root + "/clean"
            let whole = try Moment.milliseconds {
                _ = try Shell.run("git", ["clone", "-q", service.root + "/repositories/kit.git", clean])
                try FileManager.default.createDirectory(
                    atPath: clean + "/.martlet/test", withIntermediateDirectories: true)
                try Self.run(steps, in: clean)
            }
            let (ours, theirs) = (Figures(integrated), Figures(byHand))
            let ratio = ours.median / theirs.median
            say(
                "one-line change, \(package.name) package, warm", "\((ours.median / 1000).text) s",
                ratio: "by hand \((theirs.median / 1000).text) s × \(ratio.text); clean clone \((whole / 1000).text) s",
                goal: Goal("≤ 1.1", isMet: ratio <= 1.1))
        }
    }

    /// Returns when an integration ended, in milliseconds since 1970, by its own record, so that the pause between checks has no effect.
    private static func end(_ object: [String: Any]) throws -> Double {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        guard let text = object["ended"] as? String, let date = try? Date(text, strategy: style) else {
            throw ServiceFailure("no time of its end: \(object["ended"] ?? "")")
        }
        return date.timeIntervalSince1970 * 1000
    }

    /// Returns the commands of the first integration's job.
    private static func commands(_ service: Service) throws -> [[String]] {
        let text = service.text("state/integrations/kit/1/debug/1/job.json")
        guard let job = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
            let steps = job["steps"] as? [[String: Any]]
        else { throw ServiceFailure("the job's description cannot be read") }
        return steps.compactMap { $0["arguments"] as? [String] }
    }

    private static func run(_ steps: [[String]], in directory: String) throws {
        let temporary = directory + "-tmp"
        try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: temporary) }
        var environment = ProcessInfo.processInfo.environment
        environment["TMPDIR"] = temporary
        for step in steps {
            let status = Shell.wait(
                try Shell.start(step, environment: environment, in: directory, output: directory + ".log"))
            guard status == 0 else {
                throw ServiceFailure("by hand, \(step.joined(separator: " ")) ended with \(status)")
            }
        }
    }
}
