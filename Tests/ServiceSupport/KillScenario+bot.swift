extension KillScenario {
    /// The recipe of the repository, the lines of the bot file, and the scripts of triggers.
    struct Bot {
        var recipe: String
        var lines = ""
        /// The recipe's `archive` lines.
        var archive = ""
        var scripts: [String: String] = [:]
    }

    /// The addresses and commands that the bots of a sweep use.
    struct Surroundings {
        /// The URL that uploads go to.
        var uploads: String
        /// The port of the sweep's `Listener`.
        var port: Int
        /// Returns a script's command that records the attempt it is of.
        var ledger: @Sendable (String) -> String
    }

    /// The name of the webhook's receiver.
    static let told = "chat"

    /// The trigger that publishes the version that the commit's file states.
    private static let publishLine =
        "  - { name: publish, branches: [main], publish: { version: { file: version } } }\n"

    func bot(_ around: Surroundings) -> Bot {
        let one = "configurations:\n  debug: { build: \"STEP=build; . ./step\", test: none }\n"
        // Jobs ask for flags over the network, since they see no file of ours in the sandbox.
        func has(_ flag: String) -> String {
            "curl -q -sfo /dev/null --noproxy '*' http://127.0.0.1:\(around.port)/flags/\(flag)"
        }
        switch self {
        case .publishing: return Bot(recipe: one)
        case .uploading:
            return Bot(
                recipe: """
                    configurations:
                      debug:
                        steps:
                          - { name: lint, step: analyzing, run: "STEP=lint; . ./step >/dev/null" }
                          - { name: build, step: building, run: "STEP=build; . ./step; cp file made.txt" }
                          - { name: test, step: testing, run: "STEP=test; . ./step" }

                    """,
                lines: "triggers:\n  - { name: office, branches: [main], upload: \"\(around.uploads)/{commit}/\" }\n",
                archive: "made.txt")
        case .networked:
            return Bot(
                recipe: """
                    configurations:
                      debug:
                        steps:
                          - { name: build, step: building, run: "STEP=build; . ./step", network: full }
                          - { name: test, step: testing, run: "STEP=test; . ./step", network: full }

                    """)
        case .beforeTriggers:
            return Bot(
                recipe: one, lines: "triggers:\n  - { name: ready, phase: before, run: ready }\n",
                scripts: ["ready": around.ledger("ready")])
        case .failedTrigger:
            return Bot(
                recipe: one,
                lines: "triggers:\n  - { name: breaks, run: breaks }\n  - { name: later, run: later }\n",
                scripts: ["breaks": around.ledger("breaks") + "exit 3\n", "later": around.ledger("later")])
        case .rerun, .rerunOfFailed:
            return Bot(
                recipe: """
                    configurations:
                      debug: { build: "STEP=build; . ./step; \(has("mended"))", network: full, test: none }
                      good: { build: "STEP=build; . ./step", test: none }

                    """)
        case .cancel, .supersede, .takenBack, .leftAlone:
            return Bot(
                recipe: """
                    configurations:
                      debug: { build: "STEP=build; . ./step; until test -e quick || \(has("go")); do sleep 0.05; done", network: full, test: none }

                    """, lines: self == .supersede ? "supersede: running\n" : "")
        case .pull:
            return Bot(
                recipe: one.replacing(". ./step", with: ". ./step; echo parents $(git rev-parse HEAD^@)"),
                lines: "pull-requests: approved\n")
        case .telling, .tellingBusy, .tellingGone, .tellingAgain, .tellingNobody, .tellingResumed:
            return Bot(
                recipe: one.replacing(". ./step", with: ". ./step; test ! -e broken"),
                lines: lines(telling: Self.told, at: around.port))
        case .reporting, .reportingNewest:
            return Bot(
                recipe: one,
                lines: """
                    insecure: true
                    status: { forge: gitea, credentials: sweep-token, api: "http://127.0.0.1:\(around.port)/api/v1", project: acme/\(rawValue) }

                    """)
        case .retention:
            return Bot(
                recipe: one.replacing(". ./step", with: ". ./step; cp file made.txt"),
                lines: "retention: { integrations: 1 }\n", archive: "made.txt")
        case .yanking, .adopting:
            return Bot(
                recipe: one.replacing(". ./step", with: ". ./step; cp file made.txt"),
                lines: "triggers:\n" + Self.publishLine, archive: "made.txt")
        case .abandoning:
            // A command that changes an archived file before it is published, which is noticed after the number is reserved.
            let spoil = """
                test -e "$MARTLET_SOURCE_DIR/whole" && exit
                find "$MARTLET_ARTIFACTS" -type f -exec sh -c 'chmod u+w "$0"; echo >>"$0"' {} ';'

                """
            return Bot(
                recipe: one.replacing(". ./step", with: ". ./step; cp file made.txt"),
                lines: "triggers:\n  - { name: spoil, branches: [main], run: spoil }\n" + Self.publishLine,
                archive: "made.txt", scripts: ["spoil": around.ledger("spoil") + spoil])
        }
    }

    /// Returns the lines of a bot file that send a notification when a branch breaks and when it is fixed.
    func lines(telling name: String, at port: Int) -> String {
        """
        insecure: true
        notify:
          - { name: \(name), when: [broke, fixed], webhook: "http://127.0.0.1:\(port)/hooks/\(rawValue)", secret: sweep-key }

        """
    }
}
