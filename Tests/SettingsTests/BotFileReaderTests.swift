import Model
import Settings
import TestSupport
import Testing

/// A text with `|` at the place of the expected first diagnostic.
struct Marked: Sendable, CustomTestStringConvertible {
    /// The text with the mark.
    let marked: String
    let text: String
    let line: Int
    let column: Int
    /// A part of the expected message.
    let message: String
    var testDescription: String { message }

    init(_ marked: String, _ message: String) {
        self.marked = marked
        let before = marked.prefix { $0 != "§" }
        text = marked.replacing("§", with: "")
        line = before.count { $0 == "\n" } + 1
        column = before.reversed().prefix { $0 != "\n" }.count + 1
        self.message = message
    }

    /// - Parameter head: The number of lines in the file above the sample.
    func expectFirst(
        of diagnostics: [Diagnostic], below head: Int = 0, severity: Diagnostic.Severity = .error,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard let first = diagnostics.first else {
            Issue.record("no diagnostic, expected \(line):\(column): \(message)", sourceLocation: sourceLocation)
            return
        }
        #expect(first.severity == severity, sourceLocation: sourceLocation)
        #expect(first.message.contains(message), "\(first)", sourceLocation: sourceLocation)
        #expect(
            "\(first.line - head):\(first.column)" == "\(line):\(column)", "\(first)",
            sourceLocation: sourceLocation)
    }
}

@Suite struct BotFileReaderTests {
    private func read(_ yaml: String) -> Reading<BotSpecification> {
        BotFileReader.read(yaml: yaml, file: "bots/kit.yml", name: Name(nearest: "kit"))
    }

    @Test(.proves(.settings, "A bot file is read with every key of the sample, and needs only the repository"))
    func testThatItNeedsOnlyTheRepository() throws {
        // when
        let reading = read("repository: https://github.com/acme/kit.git\n")
        // then
        let bot = try #require(reading.value)
        expectNoDifference(
            bot, BotSpecification(name: Name(nearest: "kit"), repository: "https://github.com/acme/kit.git"))
        #expect(reading.diagnostics.isEmpty)
        #expect(bot.poll == .automatic)
        #expect(bot.timeout == .seconds(1800))
        #expect(bot.branches == nil)
    }

    @Test(
        .proves(.settings, "A bot file is read with every key of the sample, and needs only the repository"),
        .proves(.jobs, "A log's limit, `log:` in the bot file, 64 KiB to 1 GiB"))
    func testThatItReadsEveryKeyOfTheSample() throws {
        // given
        let yaml = """
            repository: https://github.com/acme/kit.git
            branches: [main, "release/*"]         # a comment
            tags: ["v*"]
            poll: 60s
            webhook: { secret: kit-webhook }
            schedule: daily 02:00
            clean: weekly
            supersede: running
            timeout: 45m
            log: 200MiB
            product: acme-kit
            triggers:
              - name: announce
                phase: before
                run: announce
              - name: publish
                branches: ["release/*"]
                publish: { version: branch }
              - name: publish-tag
                tags: "v*"
                publish: { version: tag }
              - name: office
                branches: ["release/*"]
                when: [fixed, clean]
                upload: sftp://files.acme.example/kit/{version}/
                credentials: office-sftp
                timeout: 5m
              - name: our-script
                branches: release/*
                when: always
                run: upload-archive
                sandbox: true
                secrets: [office-token]
            recipe:
              configurations:
                debug:
            """
        // when
        let reading = read(yaml)
        // then
        let bot = try #require(reading.value, "\(reading.diagnostics)")
        let release = [RefPattern("release/*")]
        var expected = BotSpecification(
            name: Name(nearest: "kit"), repository: "https://github.com/acme/kit.git",
            branches: [RefPattern("main"), RefPattern("release/*")], tags: [RefPattern("v*")],
            poll: .every(.seconds(60)), webhookSecret: "kit-webhook", schedule: .daily(hour: 2, minute: 0),
            clean: .weekly, supersede: .running, timeout: .seconds(2700), logLimit: .mebibytes(200),
            product: Name(nearest: "acme-kit"))
        let limit = Duration.seconds(2700)
        expected.triggers = [
            Trigger(name: Name(nearest: "announce"), phase: .before, action: .run("announce"), timeout: limit),
            Trigger(name: Name(nearest: "publish"), branches: release, action: .publish(.branch), timeout: limit),
            Trigger(
                name: Name(nearest: "publish-tag"), tags: [RefPattern("v*")], action: .publish(.tag), timeout: limit),
            Trigger(
                name: Name(nearest: "office"), branches: release, when: [.fixed, .clean],
                action: .upload(url: "sftp://files.acme.example/kit/{version}/", credentials: "office-sftp"),
                timeout: .seconds(300)),
            Trigger(
                name: Name(nearest: "our-script"), branches: release, when: [.always], action: .run("upload-archive"),
                secrets: ["office-token"], timeout: limit, isSandboxed: true),
        ]
        expected.recipe = .init(yaml: "  configurations:\n    debug:\n", firstLine: 35)
        expectNoDifference(bot, expected)
        #expect(reading.diagnostics.isEmpty)
    }

    @Test(
        .proves(.settings, "`lint` reports file, line and column"),
        .proves(.settings, "Unknown keys get a \"did you mean\""),
        arguments: [
            Marked("§", "the file is empty"),
            Marked("§# nothing\n", "the file is empty"),
            Marked("§[1]", "a bot file is a mapping"),
            Marked("§branches: [main]\n", "`repository` is missing"),
            Marked("§repository:\n", "`repository` is missing"),
            Marked("repository: /r\n§branchs: [main]\n", "no key `branchs`; did you mean `branches`?"),
            Marked("repository: /r\n§xyzzy: 1\n", "no key `xyzzy`; a bot file has `repository`"),
            Marked(
                "repository: /r\nbranches: [main]\n§branches: [x]\n", "`branches` is written twice, first in line 2"),
            Marked("repository: /r\npoll: §60\n", "a unit is missing, as in `60s`"),
            Marked("repository: /r\npoll: §often\n", "no duration for `poll`"),
            Marked("repository: /r\npoll: §0s\n", "`poll` is between 1s and 7d"),
            Marked("repository: /r\ntimeout: §2d\n", "`timeout` is between 1s and 1d"),
            Marked("repository: /r\ntimeout: §1.5h\n", "no duration"),
            Marked("repository: /r\ntimeout: §[1h]\n", "`timeout` is a text, not a list"),
            Marked("repository: /r\nlog: §2GiB\n", "`log` is between 64KiB and 1GiB"),
            Marked("repository: /r\nlog: §63KiB\n", "`log` is between 64KiB and 1GiB"),
            Marked("repository: /r\nlog: §64MB\n", "is no size for `log`: a whole number and KiB, MiB or GiB"),
            Marked("repository: /r\nlog: §1.5GiB\n", "is no size for `log`"),
            Marked("repository: /r\nsupersede: §all\n", "`supersede` is one of `queued`, `running`, `never`"),
            Marked("repository: /r\nclean: §dayly\n", "`clean` is one of `never`, `always`, `daily`, `weekly`"),
            Marked("repository: /r\nschedule: §hourly\n", "write `daily 02:00`"),
            Marked("repository: /r\nschedule: §0 0 30 2 *\n", "no year has the day"),
            Marked("repository: /r\nschedule: §0 0 2 * * 1\n", "five fields"),
            Marked("repository: /r\nschedule: §daily 02:00 Europe/Berlni\n", "did you mean `Europe/Berlin`?"),
            Marked("repository: /r\nschedule: §daily 02:00 europe/berlin\n", "did you mean `Europe/Berlin`?"),
            Marked(
                "repository: /r\nschedule: { cron: daily 02:00, §time-zone: ../etc/passwd }\n", "there is no time zone"),
            Marked("repository: /r\nschedule: { cron: daily 02:00, §time-zone: right/UTC }\n", "there is no time zone"),
            Marked(
                "repository: /r\nschedule: { cron: daily 02:00 UTC, §time-zone: Europe/Berlin }\n", "two time zones"),
            Marked("repository: /r\npaths: §[]\n", "has no pattern"),
            Marked("repository: /r\npaths: [§../a]\n", "is not a pattern of files"),
            Marked("repository: /r\npaths: { exclude: §\"!a\" }\n", "write it without `!`"),
            Marked("repository: /r\npaths: { §includ: a }\n", "did you mean `include`?"),
            Marked("repository: /r\nschedule: §{ time-zone: UTC }\n", "needs its times"),
            Marked("repository: /r\nschedule: { cron: daily 02:00, §timezone: UTC }\n", "did you mean `time-zone`?"),
            Marked("repository: /r\nschedule: §daily 24:00\n", "is not a schedule"),
            Marked("repository: /r\ninsecure: §yes\n", "`insecure` is `true` or `false`, not `yes`"),
            Marked("repository: /r\nbranches: §{ a: b }\n", "`branches` is a list, not a mapping"),
            Marked("repository: /r\nbranches: [main, §refs/heads/x]\n", "write the short name"),
            Marked("repository: /r\nproduct: §My Kit\n", "write `my-kit`"),
            Marked("repository: /r\nwebhook: §{}\n", "`webhook` needs the name of a secret"),
            Marked("repository: /r\nwebhook: { secret: §a b }\n", "is the name of a secret"),
            Marked("repository: /r\nwebhook: §kit-webhook\n", "`webhook` is a mapping with keys such as `secret`"),
            Marked("repository: §http://h/r\n", "add `insecure: true`"),
            Marked("repository: §git://h/r\n", "add `insecure: true`"),
            Marked("repository: §file:///r\n", "write the absolute path alone"),
            Marked("repository: §ftp://h/r\n", "the scheme `ftp` is not read"),
            Marked("repository: §kit\n", "is not the address of a repository"),
            Marked("repository: §../kit\n", "is not the address of a repository"),
            Marked("repository: §--upload-pack=x\n", "begins with a hyphen"),
            Marked("repository: §ssh://-oProxyCommand=x/r\n", "names no host"),
            Marked("repository: §https://u:hunter2@h/r\n", "has a password in it"),
            Marked("repository: §https://h/\n", "names no path"),
            Marked("repository: §\"/r\n", "not YAML"),
            Marked("repository: /r\n§\tbranches: [main]\n", "a tab; indent with spaces"),
            Marked("repository: /r\n§---\nrepository: /s\n", "a second document begins"),
            Marked("repository: /r\ntriggers: §publish\n", "`triggers` is a list, not a text"),
            Marked("repository: /r\nsecrets: [§token]\n", "write `{ name: token, branches: [main] }`"),
            Marked("repository: /r\nsecrets: [§{ name: token }]\n", "`branches` is required"),
            Marked("repository: /r\nsecrets: [§{ branches: [main] }]\n", "the secret has no `name`"),
            Marked("repository: /r\nsecrets: [{ name: §a b, branches: [main] }]\n", "is the name of a secret"),
            Marked("repository: /r\nsecrets: [{ name: a, §branch: [main] }]\n", "did you mean `branches`?"),
            Marked(
                "repository: /r\nsecrets: [{ name: a, branches: [main], steps: §[] }]\n", "nobody would have the secret"
            ),
            Marked(
                "repository: /r\nsecrets: [{ name: a, branches: [main], steps: §A b }]\n", "is not a name for `steps`"),
            Marked(
                "repository: /r\nsecrets: [{ name: token, branches: [main] }]\n§recipe:\n"
                    + "  analyze: [{ name: lint, run: x, secrets: [tokn] }]\n",
                "the analysis `lint` of the recipe asks for the secret `tokn`, which `secrets` of this file does not give; "
                    + "did you mean `token`?"),
        ])
    func testThatItSaysWhereAndWhatIsWrong(_ sample: Marked) {
        // when
        let reading = read(sample.text)
        // then
        sample.expectFirst(of: reading.diagnostics)
        #expect(reading.value == nil)
        #expect(!reading.diagnostics.contains { $0.message.contains("hunter2") })
    }

    @Test(arguments: ["priority"])
    func testThatKeysOfLaterVersionsAreRefusedAndNotPassedOver(_ key: String) {
        // when
        let reading = read("repository: /r\n\(key): all\n")
        // then
        #expect(
            reading.diagnostics.map(\.description) == [
                "bots/kit.yml:2:1: error: `\(key)` is not supported yet by this version; remove it from a bot file"
            ])
    }

    @Test(arguments: [
        "https://github.com/acme/kit.git", "ssh://git@h:2222/acme/kit.git", "git@github.com:acme/kit.git",
        "/srv/git/kit.git", "https://h/%7Euser/kit", "h:kit.git", "https://user@h/r",
    ])
    func testThatItTakesTheUsualAddresses(_ address: String) {
        #expect(read("repository: \(address)\n").value?.repository == address)
    }

    @Test(
        .proves(.intake, "Pull requests: `pull-requests: off, trusted, approved, all`; refused with `isolation: none`"))
    func testThatPullRequestsAreThoseOfTheRepositoryUnlessItIsSaid() {
        #expect(read("repository: /r\n").value?.pullRequests == .trusted)
        for word in BotSpecification.PullRequests.allCases {
            #expect(read("repository: /r\npull-requests: \(word.rawValue)\n").value?.pullRequests == word)
        }
        let reading = read("repository: /r\npull-requests: forks\n")
        #expect(
            reading.diagnostics.map(\.description) == [
                "bots/kit.yml:2:16: error: `pull-requests` is one of `off`, `trusted`, `approved`, `all`, not `forks`"
            ])
    }

    @Test(
        .proves(
            .releases,
            "Serving: Each product is public or by token, in files, pages, feeds, API, registry and listings; its builds' archives are closed with it"
        ))
    func testThatAProductIsOpenedOrClosedByItself() {
        #expect(read("repository: /r\n").value?.isPublic == nil)
        #expect(read("repository: /r\npublic: true\n").value?.isPublic == true)
        #expect(read("repository: /r\npublic: false\n").value?.isPublic == false)
        #expect(
            read("repository: /r\npublic: maybe\n").diagnostics.map(\.description) == [
                "bots/kit.yml:2:9: error: `public` is `true` or `false`, not `maybe`"
            ])
    }

    @Test(
        .proves(
            .intake,
            "A toolchain's upgrade is not integrated with `upgrades: false`, is never skipped by `paths` or `[skip ci]`, and runs after commits and before schedules"
        ))
    func testThatAnotherToolchainIntegratesUnlessTheFileSaysOtherwise() {
        #expect(read("repository: /r\n").value?.isIntegratedOnUpgrade == true)
        #expect(read("repository: /r\nupgrades: false\n").value?.isIntegratedOnUpgrade == false)
        #expect(
            read("repository: /r\nupgrades: nightly\n").diagnostics.map(\.description) == [
                "bots/kit.yml:2:11: error: `upgrades` is `true` or `false`, not `nightly`"
            ])
    }

    @Test func testThatPlainHTTPIsTakenWhenItIsSaidToBeInsecure() {
        #expect(read("repository: http://h/r\ninsecure: true\n").value?.isInsecure == true)
        #expect(read("repository: https://h/r\nsubmodules: false\n").value?.hasSubmodules == false)
        #expect(read("repository: https://h/r\n").value?.hasSubmodules == true)
    }

    @Test func testThatPointersOfGitLFSAreTakenWhenThatIsSaid() {
        #expect(read("repository: https://h/r\nlfs: false\n").value?.acceptsPointers == true)
        #expect(read("repository: https://h/r\n").value?.acceptsPointers == nil)
        let reading = read("repository: https://h/r\nlfs: true\n")
        #expect(reading.value == nil)
        #expect(reading.diagnostics.map(\.line) == [2])
        expectContains("\(reading.diagnostics)", "files of Git LFS are not fetched; write `lfs: false`")
    }

    @Test func testThatItGivesAllErrorsOfAFileInItsOrder() {
        // when
        let reading = read("repository: kit\npoll: soon\nclean: no\n")
        // then
        #expect(reading.diagnostics.map(\.line) == [1, 2, 3])
    }

    @Test(arguments: [
        ("off", BotSpecification.Poll.off), ("automatic", .automatic), ("10m", .every(.seconds(600))),
        ("2h", .every(.seconds(7200))), ("1d", .every(.seconds(86_400))), ("\"off\"", .off),
    ])
    func testThatItReadsPoll(_ text: String, _ poll: BotSpecification.Poll) {
        #expect(read("repository: /r\npoll: \(text)\n").value?.poll == poll)
    }

    @Test(
        .proves(
            .intake,
            "Schedules: daily, weekly, cron expressions with crontab(5)'s rule of days, impossible days refused"),
        .proves(
            .intake,
            "A schedule is in a time zone. A time that clocks skip or repeat comes once. An unknown zone is an error with a suggestion"
        ),
        arguments: [
            ("daily 2:05", "5 2 * * *", nil, nil), ("weekly sunday 23:59", "59 23 * * 7", nil, nil),
            ("weekly Mon 00:00", "0 0 * * 1", nil, nil),
            ("daily 02:00 Europe/Berlin", "0 2 * * *", "Europe/Berlin", nil),
            ("\"@weekly America/New_York\"", "@weekly", "America/New_York", nil),
            ("30 2 * * 1-5", "30 2 * * 1-5", nil, nil),
            ("0 4 1,15 * mon UTC", "0 4 1,15 * mon", "UTC", nil),
            ("{ cron: \"30 2 * * 1-5\", time-zone: Europe/Berlin }", "30 2 * * 1-5", "Europe/Berlin", nil),
            ("{ cron: daily 02:00, branches: [main, release/*] }", "0 2 * * *", nil, ["main", "release/*"]),
        ])
    func testThatItReadsASchedule(_ text: String, _ times: String, _ zone: String?, _ branches: [String]?) throws {
        // when
        let reading = read("repository: /r\nschedule: \(text)\n")
        // then
        let schedule = try #require(reading.value?.schedule, "\(reading.diagnostics)")
        #expect(schedule.times.description == times)
        #expect(schedule.zone == zone)
        #expect(schedule.branches == branches?.map { RefPattern($0) })
    }

    @Test(
        .proves(
            .intake,
            "Path filters (`paths:`) have gitignore(5)'s patterns. A push that changes none of the files is skipped with its reason; the next one that does is integrated"
        ),
        arguments: [
            ("Sources/", ["Sources/"]), ("[Sources/, \"!*.md\"]", ["Sources/", "!*.md"]),
            ("{ include: [Sources/, Package.swift], exclude: \"*.md\" }", ["Sources/", "Package.swift", "!*.md"]),
            ("{ exclude: [docs/] }", ["!docs/"]),
        ])
    func testThatItReadsPaths(_ text: String, _ patterns: [String]) {
        let reading = read("repository: /r\npaths: \(text)\n")
        #expect(reading.value?.paths == PathFilter(patterns), "\(reading.diagnostics)")
    }

    @Test(.proves(.settings, "A recipe is in the repository or in the bot file"))
    func testThatARecipeInTheBotFileHasTheBotFilesLines() {
        // when
        let reading = read("repository: /r\nrecipe:\n  configurations:\n    debug: { flag: [x] }\n")
        // then
        Marked("repository: /r\nrecipe:\n  configurations:\n    debug: { §flag: [x] }\n", "did you mean `flags`?")
            .expectFirst(of: reading.diagnostics)
    }

    @Test(arguments: [
        "repository: /r\nrecipe:\n  configurations:\n    x: { build: make, oops: 1 }\ntags: []\n",
        "recipe: { configurations: { x: { build: make, oops: 1 } } }\nrepository: /r\n",
        "repository: /r\nrecipe:\n\n  # why\n  configurations: { x: { build: make,\n      oops: 1 } }\n\n# end\ntags: []\n",
    ])
    func testThatARecipeThatIsCutOutKeepsItsPlaces(_ yaml: String) throws {
        // given
        let good = yaml.replacing("oops: 1", with: "test: x")
        let source = try #require(read(good).value?.recipe)
        let spoiled = source.yaml.replacing("test: x", with: "oops: 1")
        // when
        let cut = RecipeReader.read(
            yaml: spoiled, file: "bots/kit.yml", project: .unknown, firstLine: source.firstLine)
        // then
        #expect(cut.diagnostics == read(yaml).diagnostics)
        #expect(cut.diagnostics.count == 1)
    }
}
