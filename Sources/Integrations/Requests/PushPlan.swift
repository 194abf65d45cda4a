package import JobProtocol
package import Jobs
package import Model
package import Releases
package import Settings

/// The plans of what the next push of each watched branch would run, archive and publish.
package struct PushPlans: Sendable {
    /// The most branches that are planned.
    package static let maximumBranches = 20

    /// The plans, with the default branch first and then by name.
    package var branches: [PushPlan]
    /// The number of watched branches that are missing from `branches`, because there are too many.
    package var omitted: Int
    /// Notes about what is missing: a repository that was not scanned yet, patterns that match no branch.
    package var notes: [String]
}

/// The plan of what the next push of one branch would run, according to the files of its newest commit.
package struct PushPlan: Sendable {
    /// The jobs, or the reason why there are none.
    package enum Content: Sendable {
        case planned(Recipe, [Job])
        /// The recipe has errors: an integration would end with build errors.
        case refused
        /// The mirror does not have the commit, for this reason.
        case unread(String)
    }

    /// The job of one configuration.
    package struct Job: Sendable {
        package var configuration: Recipe.Configuration
        package var plan: JobPlanner.Plan
        /// The reason why the job could not start, as its integration would state it; `nil` if it can.
        package var problem: String?
    }

    /// The archive that would be made.
    package struct Archive: Hashable, Sendable {
        package var configuration: Name
        /// The patterns of the recipe; `nil` for the default products of the project's kind.
        package var include: [String]?
        /// Whether there are products: the recipe names some, or the project's kind has a step that makes them.
        package var hasProducts: Bool
        /// Whether the commit's source is archived even if there are no products.
        package var hasSource: Bool
    }

    /// A trigger that runs for the branch.
    package struct Action: Sendable {
        package var trigger: Trigger
        /// The result of a publish trigger for the push; `nil` for other triggers.
        package var prospect: Publisher.Prospect?
    }

    package var ref: RefName
    /// The branch's newest commit.
    package var commit: CommitID
    /// Whether commits of the branch may be published or uploaded.
    package var isRelease: Bool
    package var content: Content
    /// The messages of the recipe's reader, including warnings.
    package var diagnostics: [Diagnostic]
    /// The archive; `nil` if there is none.
    package var archive: Archive?
    /// The reason why no archive is made, and what to write instead. `nil` if there is an archive, or no usable recipe.
    package var notArchived: String?
    /// The triggers, in their order.
    package var actions: [Action]
}

extension JobDescription.Step {
    /// Returns the step's command as a user would write it: the recipe's own text, the default script, or the words.
    /// - Parameter tools: The path of `martlet-tools`, which is replaced by its name.
    package func shownCommand(tools: String) -> String {
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
        return arguments.map { $0 == tools && !$0.isEmpty ? "martlet-tools" : $0 }.map(Self.quoted).joined(
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
