package import JobProtocol
package import Model
package import Settings

/// What the next push of each branch that a bot watches would run, archive and publish.
package struct PushPlans: Sendable {
    /// The most branches that are planned.
    package static let maximumBranches = 20

    /// The default branch first, then by name.
    package var branches: [PushPlan]
    /// How many watched branches are not among `branches`, because there are too many.
    package var omitted: Int
    /// What is missing: a repository that was not scanned yet, patterns that match no branch.
    package var notes: [String]
}

/// What the next push of one branch would run, by the files of its newest commit.
package struct PushPlan: Sendable {
    /// The jobs, or why there are none.
    package enum Content: Sendable {
        case planned(Recipe, [Job])
        /// The recipe is wrong: an integration would be build-errors.
        case refused
        /// The mirror does not have the commit, for this reason.
        case unread(String)
    }

    /// The job of one configuration.
    package struct Job: Sendable {
        package var configuration: Recipe.Configuration
        package var plan: JobPlanner.Plan
        /// Why the job could not begin, as its integration would say it; `nil` if it can.
        package var problem: String?
    }

    /// What would be archived.
    package struct Archive: Hashable, Sendable {
        package var configuration: Name
        /// Patterns of the recipe; `nil`: the usual products of the project's kind.
        package var include: [String]?
        /// Whether there are products: the recipe names some, or the project's kind has a step that makes them.
        package var hasProducts: Bool
        /// Whether the commit's source is packed although there are no products.
        package var hasSource: Bool
    }

    /// A trigger that acts on the branch.
    package struct Action: Sendable {
        package var trigger: Trigger
        /// What a publish trigger would make of the push; `nil` for others.
        package var prospect: Publisher.Prospect?
    }

    package var ref: RefName
    /// The branch's newest commit.
    package var commit: CommitID
    /// Whether commits of the branch may be published or uploaded.
    package var isRelease: Bool
    package var content: Content
    /// The messages of the recipe's reader, warnings too.
    package var diagnostics: [Diagnostic]
    /// `nil` if there is no archive.
    package var archive: Archive?
    /// Why nothing is archived, and what to write instead; `nil` if there is an archive, or no recipe that can be used.
    package var notArchived: String?
    /// In their order.
    package var actions: [Action]
}

extension JobDescription.Step {
    /// The step's command as a person would write it: the recipe's own text, the usual script, or the words.
    /// - Parameter supervisor: Our own program, whose path is of no interest.
    package func shownCommand(supervisor: String) -> String {
        if let text = ShellCommand.text(of: arguments) { return text }
        if arguments.count > 2, arguments[0] == "/bin/sh", arguments[1] == "-c" {
            let further = arguments.dropFirst(4).map(Self.quoted).joined(separator: " ")
            var text = arguments[2]
            if text.hasPrefix(ProjectProfile.Command.prelude) {
                text.removeFirst(ProjectProfile.Command.prelude.count)
                text = text.split(separator: "\n", omittingEmptySubsequences: false)
                    .drop { $0.hasPrefix("need '") }.joined(separator: "\n")
            }
            return further.isEmpty ? text : "set -- \(further)\n\(text)"
        }
        return arguments.map { $0 == supervisor && !$0.isEmpty ? "martlet-supervisor" : $0 }.map(Self.quoted).joined(
            separator: " ")
    }

    private static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "-_=./:,+@%".utf8.contains(byte)
        }
        return isPlain && !word.isEmpty ? word : "'" + word.replacing("'", with: #"'\''"#) + "'"
    }
}
