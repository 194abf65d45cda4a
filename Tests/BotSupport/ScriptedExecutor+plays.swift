import Basics
package import ExecutionSupport
package import JobProtocol

extension ScriptedExecutor {
    /// Returns an executor that plays what the checked-out commit states; see `Commit`.
    /// - Parameter isHeld: Whether a job only begins, so that the test decides how it continues.
    package static func playing(isHeld: @escaping @Sendable (JobDescription) -> Bool = { _ in false })
        -> ScriptedExecutor
    {
        ScriptedExecutor { job in
            // A trigger's script is not in the plays, and succeeds.
            guard !isHeld(job) else { return nil }
            let tree = Tree(workspace: job.workspace, configuration: job.environment["MARTLET_CONFIGURATION"] ?? "")
            return Plan(artifacts: job.collect.isEmpty ? [:] : tree.products) { _, step in tree.play(step) }
        }
    }

    /// Returns an executor that plays what the checked-out commit states. A job whose first step has this name, such as a script's, only begins.
    package static func holding(_ step: String) -> ScriptedExecutor { .playing { $0.steps.first?.name == step } }

    /// The workspace of a job, which the service has checked out.
    private struct Tree: Sendable {
        let workspace: String
        let configuration: String

        func play(_ step: JobDescription.Step) -> Play {
            let path = "plays/\(configuration)/\(step.step)"
            var play = Play(output: text(path + ".out") ?? "")
            play.exit = text(path + ".exit").flatMap { Int32($0.filter(\.isNumber)) } ?? 0
            if step.report == ["build/junit.xml"], let report = text(path + ".xml") ?? text("passing.xml") {
                play.reports = ["build/junit.xml": report]
            }
            return play
        }

        var products: [String: [UInt8]] {
            guard let bytes = bytes("products/tool") else { return [:] }
            return ["products/tool": bytes]
        }

        private func text(_ path: String) -> String? { bytes(path).map { String(decoding: $0, as: UTF8.self) } }

        private func bytes(_ path: String) -> [UInt8]? {
            // If the file is absent, the commit states nothing for it.
            try? WholeFile.read("\(workspace)/\(path)", limit: 1 << 20)
        }
    }
}
