import Model
import TestSupport
import Testing

@testable import Settings

@Suite struct ResolvedYAMLTests {
    private func read(_ yaml: String) -> Reading<BotSpecification> {
        BotFileReader.read(yaml: yaml, file: "kit.yml", name: Name(nearest: "kit"))
    }

    /// Sets the recipe's first line, which depends on the file, to a fixed value. All else must be equal.
    private func leveled(_ bot: BotSpecification?) -> BotSpecification? {
        var bot = bot
        bot?.recipe?.firstLine = 1
        return bot
    }

    @Test(
        .proves(.settings, "`bot NAME --resolved` prints the bot with its defaults"),
        .proves(
            .releases,
            "Versions: `version: { file: VERSION }` and `version: { command: … }`, the latter sandboxed like a job"),
        .proves(.notices, "A bot file's `notify` has `when`, `branches` and `tags`; errors have their place"),
        arguments: [
            "repository: /r\n",
            "repository: /r\nbranches: []\ntags: [\"*\", \"v?.**\"]\npoll: off\nclean: always\nsupersede: never\nproduct: other\n",
            "repository: /r\npoll: 90s\nschedule: weekly tuesday 03:04\ntimeout: 2h\nlog: 1536KiB\nwebhook: { secret: \"007\" }\n",
            "repository: http://h/ä%20b\ninsecure: true\nbranches: [\"it's\", \"a\\\"b\", \"on\", \"1.0\", \"#x\", '&a', '*b']\n",
            "repository: /r\nschedule: { cron: \"30 2 * * 1-5\", time-zone: Europe/Berlin, branches: [main, \"release/*\"] }\n",
            "repository: /r\npaths: { include: [Sources/, '*.c'], exclude: docs/ }\n",
            "repository: /r\nschedule: \"*/5 * * * sun UTC\"\n",
            """
            repository: /r
            triggers:
              - { name: a, run: x, phase: before, sandbox: true }
              - { name: b, run: x, secrets: [s, "1"], when: [failed, fixed], timeout: 1d, sandbox: false }
              - { name: g, run: x }
              - { name: c, branches: ["r/*"], publish: { version: branch } }
              - { name: e, branches: ["r/*"], publish: { version: { file: "a b/VERSION, {x}" } } }
              - { name: f, tags: ["*"], branches: [], publish: { version: { command: "sh -c 'echo \\"1.0.0\\"' # }" } } }
              - { name: d, branches: ["r/*"], upload: "https://h/{product}/{version}/{file}", credentials: k }
            """,
            "repository: /r\nupgrades: false\n", "repository: /r\npublic: true\n", "repository: /r\npublic: false\n",
            "repository: /r\npull-requests: off\n", "repository: /r\npull-requests: approved\n",
            "repository: /r\npull-requests: trusted\n", "repository: /r\npull-requests: all\n",
            "repository: /r\nsecrets: [{ name: \"007\", branches: [main, \"**\"] }]\n",
            "repository: /r\ntags: [v1]\nsecrets: [{ name: s, tags: [v1], configurations: [a, b], steps: c }]\n",
            """
            repository: /r
            tags: [v1]
            notify:
              - { name: a, mail: "\\"Acme, CI\\" <ci@acme.example>", when: fixed, branches: [main], tags: [v1] }
              - { name: b, authors: [acme.example] }
              - { name: c, webhook: "https://h/?a=#b", secret: "007" }
            """,
            "repository: /r\nrecipe:\n    configurations:\n        debug:\n    analyze: []\n# end\ntags: [x]\n",
            "repository: /r\nrecipe: { configurations: { debug: { build: \"a\" } },\n  analyze: [] }\n",
            "recipe:\n configurations:\n  x:\n   build: |\n    a\n\n    # b\n\n   test: x\nrepository: /r\n",
        ])
    func testThatWhatIsPrintedReadsBackToTheSameBot(_ yaml: String) throws {
        // given
        let bot = try #require(read(yaml).value, "\(read(yaml).diagnostics)")
        // when
        let printed = ResolvedYAML.print(bot)
        // then
        let again = read(printed)
        expectNoDifference(leveled(again.value), leveled(bot), "\(again.diagnostics)\n\(printed)")
    }

    @Test func testThatAnyTextReadsBack() throws {
        var generator = Generator(state: 42)
        let letters = Array("ab01 :#&*!|>'\"%@`-?,[]{}\\/.~=\t\n\u{E9}\u{1F600}\u{7}\u{202E}\u{A0}".unicodeScalars)
        for _ in 0..<2000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                text.append(letters.randomElement(using: &generator) ?? "a")
            }
            let wanted = String(text)
            let yaml = "a: " + YAMLText.scalar(wanted) + "\nb: " + YAMLText.list([wanted, wanted]) + "\n"
            var diagnostics = Diagnostics(file: "t")
            let root = try #require(YAMLParser.parse(yaml, &diagnostics), "\(yaml) \(diagnostics.list)")
            guard case .mapping(let entries) = root.content, case .scalar(let read, _) = entries[0].value.content else {
                Issue.record("\(yaml)")
                continue
            }
            #expect(Array(read.unicodeScalars) == Array(wanted.unicodeScalars))
        }
    }

    @Test(.proves(.settings, "`bot NAME --resolved` prints the bot with its defaults"))
    func testThatDefaultsAreWrittenOut() {
        expectNoDifference(
            ResolvedYAML.print(BotSpecification(name: Name(nearest: "kit"), repository: "https://h/kit.git")),
            """
            # kit.yml with every default
            repository: https://h/kit.git
            submodules: true
            # lfs: a pointer of Git LFS is a checkout error
            insecure: false
            # branches: the remote's default branch and release/*
            tags: []
            # paths: every file matters
            pull-requests: trusted                # those of the repository's own branches
            poll: automatic                       # 60s; 10m once an authentic webhook has arrived
            # webhook: none, so none is taken
            # status: none, so no forge is told
            # schedule: none
            upgrades: true                        # integrate tips anew for another version of swift
            clean: never
            # supersede: queued; never on refs with a publish or upload trigger
            timeout: 30m                          # a step's
            log: 64MiB                            # an attempt's, at most 1GiB
            # retention: as the settings say
            product: kit
            # public: as `anonymous` of the settings says
            triggers: []
            # notify: nobody
            # secrets: none, so jobs have none
            # recipe: the repository's .martlet.yml, else its project's usual commands

            """)
    }
}

/// SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014), for repeatable tests.
private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
