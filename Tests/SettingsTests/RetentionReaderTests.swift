import Model
import Settings
import TestSupport
import Testing

@Suite struct RetentionReaderTests {
    private func bot(_ lines: String) -> Reading<BotSpecification> {
        BotFileReader.read(yaml: "repository: /r\n" + lines, file: "bots/kit.yml", name: Name(nearest: "kit"))
    }

    private func settings(_ yaml: String) -> Reading<ServiceSettings> {
        SettingsReader.read(yaml: yaml, file: "/etc/martlet/martlet.yml", defaults: .system(processors: 8))
    }

    private static let all = Retention(
        integrations: .most(100), age: .most(90 * 86_400), bytes: .most(50_000_000_000), files: .most(5_000_000))

    @Test(
        .proves(
            .releases,
            "Versions: `retention:` by number, age, bytes and files, in the settings and, key by key, in a bot file; without it nothing goes"
        ))
    func testThatItReadsEveryKeyInBothPlaces() {
        let line = "retention: { integrations: 100, age: 90d, bytes: 50GB, files: 5M }\n"
        #expect(bot(line).value?.retention == Self.all)
        #expect(settings(line).value?.retention == Self.all)
    }

    @Test(
        .proves(
            .releases,
            "`retention: { workspaces, caches, retired }` of the settings removes unused workspaces, caches beyond a size, and bots without a file"
        ))
    func testThatTheSettingsLimitCachesAndRetiredBots() throws {
        // given
        let line = "retention: { age: 90d, workspaces: 14d, caches: 20GB, retired: 365d }\n"
        // when
        let read = try #require(settings(line).value)
        // then
        #expect(
            read.caches
                == CacheLimits(
                    workspaces: .seconds(14 * 86_400), caches: ByteCount(20_000_000_000),
                    retired: .seconds(365 * 86_400)))
        #expect(read.retention == Retention(age: .most(90 * 86_400)))
        #expect(settings("retention: { caches: off }\n").value?.caches == CacheLimits())
        // A bot's file has no such key.
        #expect(!bot("retention: { workspaces: 14d }\n").errors.isEmpty)
        for wrong in ["workspaces: 14", "workspaces: 1m", "caches: 20", "caches: 1KB", "retired: never"] {
            #expect(!settings("retention: { \(wrong) }\n").errors.isEmpty, "\(wrong)")
        }
    }

    @Test(arguments: ["", "retention:\n", "retention: {}\n"])
    func testThatWithoutItNothingIsRemoved(_ line: String) {
        #expect(settings(line).value?.retention.isAnything == false)
        #expect(bot(line).value?.retention?.isAnything != true)
    }

    @Test(
        .proves(
            .releases,
            "Versions: `retention:` by number, age, bytes and files, in the settings and, key by key, in a bot file; without it nothing goes"
        ))
    func testThatABotsFileWinsKeyByKey() throws {
        // given
        let own = try #require(bot("retention: { integrations: 5, bytes: off }\n").value?.retention)
        // when, then
        #expect(
            own.over(Self.all)
                == Retention(
                    integrations: .most(5), age: .most(90 * 86_400), bytes: .off, files: .most(5_000_000)))
        #expect(own.over(Retention()).age == nil)
        #expect(!Retention(integrations: .off, age: .off).isAnything)
    }

    @Test(arguments: [
        ("1MB", 1_000_000), ("20GiB", 20 << 30), ("1 TiB", 1 << 40), ("1500MB", 1_500_000_000),
        ("1TB", 1_000_000_000_000),
    ])
    func testThatSizesAreReadAndWritten(_ text: String, _ bytes: Int64) throws {
        let read = try #require(bot("retention: { bytes: \(text) }\n").value)
        #expect(read.retention?.bytes == .most(bytes))
        #expect(ResolvedYAML.print(read).contains("retention: { bytes: \(text.filter { $0 != " " }) }"))
    }

    @Test(
        .proves(
            .releases,
            "Versions: `retention:` by number, age, bytes and files, in the settings and, key by key, in a bot file; without it nothing goes"
        ),
        arguments: [
            "retention: { integrations: 100, age: 90d, bytes: 50GB, files: 5M }",
            "retention: { age: 36h, files: 200k }",
            "retention: { files: 1234, bytes: off }", "retention: { integrations: off }",
        ])
    func testThatTheResolvedFileReadsBackTheSame(_ line: String) throws {
        let read = try #require(bot(line + "\n").value)
        let again = BotFileReader.read(
            yaml: ResolvedYAML.print(read), file: "bots/kit.yml", name: Name(nearest: "kit"))
        #expect(again.value == read)
    }

    @Test(
        .proves(
            .releases,
            "Versions: `retention:` by number, age, bytes and files, in the settings and, key by key, in a bot file; without it nothing goes"
        ),
        arguments: [
            Marked("retention: §30d\n", "`retention` is a mapping with keys such as `integrations`"),
            Marked(
                "retention: { integrations: §0 }\n", "`integrations` of `retention` is `off` or between 1 and 1000000"),
            Marked("retention: { integrations: §many }\n", "is `off` or a number of integrations"),
            Marked("retention: { age: §90 }\n", "is `off` or a time: a whole number and h or d"),
            Marked("retention: { age: §1m }\n", "between 1h and 3650d, not 1m"),
            Marked("retention: { bytes: §50 }\n", "a whole number and MB, GB, TB"),
            Marked("retention: { bytes: §1KB }\n", "a whole number and MB, GB, TB"),
            Marked("retention: { bytes: §2000TB }\n", "between 1MB and 1000TB"),
            Marked("retention: { files: §5G }\n", "with k or M for thousands or millions"),
            Marked("retention: { files: §99 }\n", "between 100 and 1000M"),
            Marked("retention: { §days: 5 }\n", "`retention` has no key `days`"),
        ])
    func testThatItSaysWhereAndWhatIsWrong(_ sample: Marked) {
        let reading = settings(sample.text)
        sample.expectFirst(of: reading.diagnostics)
        #expect(reading.value == nil)
    }
}
