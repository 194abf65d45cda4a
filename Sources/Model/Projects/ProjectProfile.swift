/// What is usual for the projects of one type: how they are recognized, and what resolves, analyzes, builds, tests and
/// archives them. Data alone; `JobPlanner` makes a job's steps of it.
package struct ProjectProfile: Sendable {
    /// As messages have it: `Cargo project`.
    package var title: String
    /// Files of the root, any of which tells the type: names, or `*` and how a name ends.
    package var markers: [String]
    /// Fetches what the project depends on, the only step with a network. It comes first.
    package var resolve: Command?
    package var analyses: [Analysis] = []
    package var build: Command?
    package var test: Command?
    /// Puts the products into `.martlet/products`.
    package var archive: Command?
    /// Variables of every step inside the fence, whose home is empty; `{cache}` is a directory that stays, the bot's and
    /// configuration's own.
    package var caches: [String: String] = [:]
    /// Directories of the root that checkouts leave alone, whatever the repository ignores.
    package var kept: [String] = []
    /// The Debian package of each program that the commands need.
    package var packages: [String: String] = [:]
    /// The flags of an optimized build, which a branch that publishes has by default.
    package var releaseFlags: [String] = []

    /// The first marker that one of the names is; `nil` where none is.
    package func marker(in names: some Collection<String>) -> String? {
        markers.lazy.compactMap { marker in
            guard marker.hasPrefix("*") else { return names.contains(marker) ? marker : nil }
            return names.filter { $0.hasSuffix(marker.dropFirst()) && $0.utf8.count >= marker.utf8.count }.min()
        }.first
    }

    /// A script for `sh -c`, run in the repository's root.
    package struct Command: Sendable {
        package var script: String
        /// Programs without which it is not begun; `packages` says what brings them.
        package var needs: [String]
        /// Whether the configuration's `flags` are its arguments.
        package var takesFlags: Bool
        /// What comes before a regular expression that chooses tests; `nil` if the command takes none.
        package var filter: String?
        /// Report files that it writes, as patterns relative to the repository's root.
        package var report: [String]

        package init(
            script: String, needs: [String] = [], takesFlags: Bool = false, filter: String? = nil, report: [String] = []
        ) {
            self.script = script
            self.needs = needs
            self.takesFlags = takesFlags
            self.filter = filter
            self.report = report
        }

        /// What `sh -c` runs in the repository's root. The words that begin with `martlet: ` are read by `UsualStepWords`.
        package var text: String { text(in: nil) }

        /// - Parameter directory: A directory of the root in which the script runs, of plain letters. What it writes to `.martlet` is the
        ///   root's, through a link.
        package func text(in directory: String?) -> String {
            let enters = directory.map { "cd '\($0)' || exit\nln -sfn ../.martlet .martlet || exit\n" } ?? ""
            return Self.prelude + needs.map { "need '\($0)'\n" }.joined() + enters + script
        }

        /// Begins every usual script, and no command of a recipe's.
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

    /// An analysis that runs where the project is set up for it.
    package struct Analysis: Sendable {
        /// The step's name.
        package var name: String
        /// Files of the root, any of which asks for it; empty: it always runs.
        package var markers: [String] = []
        /// A line of the type's manifest that asks for it as well begins so.
        package var line: String?
        package var command: Command
    }
}
