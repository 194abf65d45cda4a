/// The properties of a type of project: how it is recognized, and the commands that resolve, analyze, build, test and archive it. It is only data,
/// from which `JobPlanner` makes the steps of a job.
package struct ProjectProfile: Sendable {
    /// The name in messages: `Cargo project`.
    package var title: String
    /// Files in the root, each of which identifies the type: names, or `*` and the end of a name.
    package var markers: [String]
    /// Fetches the dependencies. It is the first step, and the only one with a network.
    package var resolve: Command?
    package var analyses: [Analysis] = []
    package var build: Command?
    package var test: Command?
    /// Puts the products into `.martlet/products`.
    package var archive: Command?
    /// Environment variables of every step in the sandbox, where the home directory is empty. `{cache}` is a persistent directory for each bot and
    /// configuration.
    package var caches: [String: String] = [:]
    /// Directories of the root that a checkout leaves in place, whether or not the repository ignores them.
    package var kept: [String] = []
    /// The Debian package for each program that the commands need.
    package var packages: [String: String] = [:]
    /// The flags of an optimized build, which are the default for a branch that publishes.
    package var releaseFlags: [String] = []

    /// Returns the first marker that is among the names; `nil` if there is none.
    package func marker(in names: some Collection<String>) -> String? {
        markers.lazy.compactMap { marker in
            guard marker.hasPrefix("*") else { return names.contains(marker) ? marker : nil }
            return names.filter { $0.hasSuffix(marker.dropFirst()) && $0.utf8.count >= marker.utf8.count }.min()
        }.first
    }

    /// A script for `sh -c`, run in the repository's root.
    package struct Command: Sendable {
        package var script: String
        /// The programs that must exist; otherwise the script does not start. `packages` states their Debian packages.
        package var needs: [String]
        /// Whether the script gets the configuration's `flags` as arguments.
        package var takesFlags: Bool
        /// How the command is told to run only some tests; `nil` if it cannot be.
        package var filter: TestFilter?
        /// The report files that it writes, as patterns relative to the repository's root.
        package var report: [String]

        package init(
            script: String, needs: [String] = [], takesFlags: Bool = false, filter: TestFilter? = nil,
            report: [String] = []
        ) {
            self.script = script
            self.needs = needs
            self.takesFlags = takesFlags
            self.filter = filter
            self.report = report
        }

        /// The text for `sh -c` in the repository's root. `UsualStepWords` reads its output lines that begin with `martlet: `.
        package var text: String { text(in: nil) }

        /// Returns the text for `sh -c`.
        /// - Parameter directory: The directory of the root in which the script runs, of plain letters. Its `.martlet` is a link to the root's.
        package func text(in directory: String?) -> String {
            let enters = directory.map { "cd '\($0)' || exit\nln -sfn ../.martlet .martlet || exit\n" } ?? ""
            return Self.prelude + needs.map { "need '\($0)'\n" }.joined() + enters + script
        }

        /// The beginning of every usual script. Commands of a recipe do not have it.
        package static let prelude = """
            # The usual command of this type of project.
            missing() { echo "martlet: missing: $1"; echo "PATH is $PATH"; exit 127; }
            need() { command -v "$1" >/dev/null 2>&1 || missing "$1"; }
            none() { echo "martlet: no tests: $1"; exit 0; }
            reported() {
              [ "$1" = 0 ] || exit "$1"
              # A pattern, or a path that may have a blank.
              IFS=
              for file in $2; do [ ! -s "$file" ] || exit 0; done
              # What was printed last may have no end of line.
              echo; echo "martlet: no report: the tests ended with 0 and wrote no $2"; exit 1
            }

            """
    }

    /// An analysis that runs if the project is set up for it.
    package struct Analysis: Sendable {
        /// The step's name.
        package var name: String
        /// Files in the root, each of which enables the analysis. If empty, the analysis always runs.
        package var markers: [String] = []
        /// The beginning of a line in the type's manifest that also enables the analysis.
        package var line: String?
        package var command: Command
    }
}
