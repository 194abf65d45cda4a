import Model
import Settings
import TestSupport
import Testing

/// Inputs that are made to cost time or memory, or to show users something else than the parser reads.
@Suite(.threat("P7")) struct HostileYAMLTests {
    private func read(_ yaml: String) -> Reading<Recipe> {
        RecipeReader.read(yaml: yaml, file: "r.yml", project: .tree(.make))
    }

    private func expectError(
        _ yaml: String, _ line: Int, _ column: Int?, _ message: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let first = read(yaml).diagnostics.first
        #expect(read(yaml).value == nil, sourceLocation: sourceLocation)
        #expect(first?.line == line, "\(first.map(String.init(describing:)) ?? "")", sourceLocation: sourceLocation)
        if let column {
            #expect(
                first?.column == column, "\(first.map(String.init(describing:)) ?? "")", sourceLocation: sourceLocation)
        }
        #expect(
            first?.message.contains(message) == true, "\(first.map(String.init(describing:)) ?? "")",
            sourceLocation: sourceLocation)
    }

    @Test(.proves(.settings, "Hostile files are refused: aliases, depth, size, control characters"))
    func testThatAliasBombsAreRefusedBeforeTheyAreParsed() {
        // given
        var bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n"
        for (before, letter) in zip("abcdefghijklmnop", "bcdefghijklmnopq") {
            bomb += "\(letter): &\(letter) [" + (0..<9).map { _ in "*\(before)" }.joined(separator: ",") + "]\n"
        }
        let asKey = bomb + "? *q\n: 1\n"
        // then
        expectError(bomb, 2, 8, "anchors and aliases (&a, *a) are not read")
        expectError(asKey, 2, 8, "anchors and aliases")
    }

    @Test(arguments: [
        "x: &a 1\ny: *a\n", "x: &a [1]\ny: [*a]\n", "? &a x\n: *a\n", "{\"x\":&a 1,\"y\":*a}\n", "- !!str &a x\n- *a\n",
        "&a x: *a\n", "x: &a-b_1\n  {}\n<<: *a-b_1\n",
    ])
    func testThatAliasesAreRefusedWhereverTheyStand(_ yaml: String) {
        #expect(read(yaml).diagnostics.first?.message.contains("anchors and aliases") == true)
    }

    @Test func testThatPatternsAndShellSignsAreNoAliases() throws {
        let yaml = """
            configurations:
              debug:
                build: "make & make -C x && wait; echo *.o > /dev/null 2>&1"
                test: |
                  *glob &job
                report: ["*.xml", "**/*.sarif"]
            """
        #expect(read(yaml).diagnostics.isEmpty)
    }

    @Test func testThatAFileAboveTheLimitIsRefusedAtOnce() {
        expectError(String(repeating: "# 345678\n", count: 10 << 17), 1, 1, "at most 262144 are read")
        // The largest size that is read.
        #expect(read(String(repeating: "#\n", count: 128 << 10)).value != nil)
    }

    @Test(arguments: ["[", "{", "[{", "- ", "? ", "-\t", "{a: "])
    func testThatDepthIsLimited(_ opener: String) {
        let reading = read(String(repeating: opener, count: 10_000))
        #expect(reading.value == nil)
        #expect(reading.diagnostics.first?.line == 1)
    }

    @Test func testThatDepthOverLinesIsLimited() {
        let yaml = (0..<700).map { String(repeating: " ", count: $0) + "a:\n" }.joined()
        expectError(yaml, 129, 129, "indent less")
        let keys = (0..<700).map { String(repeating: " ", count: $0) + "?\n" }.joined()
        expectError(keys, 129, 129, "indent less")
    }

    @Test(.proves(.settings, "Hostile files are refused: aliases, depth, size, control characters"))
    func testThatAsManyLevelsOfBracketsAreParsedAsAreAllowedAndNotOneMore() {
        // given
        func nested(_ levels: Int) -> String {
            "a: " + String(repeating: "[", count: levels) + String(repeating: "]", count: levels) + "\n"
        }
        // then
        expectError(nested(64), 1, 1, "a recipe has no key `a`")
        expectError(nested(65), 1, 68, "more than 64 levels of braces and brackets")
    }

    /// Each level hashes all levels below it. Twice the levels may take twice the processor time, plus half of that for inaccuracy. A faster growth
    /// fails at the first few levels. The least of three measurements counts, because other work on the machine only adds to it.
    @Test(.proves(.settings, "Hostile files are refused: aliases, depth, size, control characters"))
    func testThatTheDeepestTreeThatIsParsedCostsInProportionToItsLevels() throws {
        // given: a wide tree below complex keys, finally with as many as the limits allow
        let wide = "{" + (0..<3000).map { "k\($0): 1" }.joined(separator: ", ") + "}"
        func once(levels: Int) -> Double {
            let deep = String(repeating: "{? ", count: levels) + wide + String(repeating: " : x}", count: levels)
            let start = threadSeconds()
            let reading = read("a: 1\nb: " + deep)
            let seconds = threadSeconds() - start
            // It was parsed to its end.
            #expect(reading.diagnostics.first?.message == "a key must be a text, not a mapping")
            return seconds
        }
        func cost(levels: Int) -> Double { min(once(levels: levels), once(levels: levels), once(levels: levels)) }
        // when
        var before = cost(levels: 4)
        for levels in [8, 16, 32, 63] {
            let now = cost(levels: levels)
            // then
            try #require(now < before * 3, "\(levels) levels: \(now) s, half of them: \(before) s")
            before = now
        }
    }

    @Test func testThatTooManyValuesAreRefused() {
        let yaml = "analyze: [" + String(repeating: "a,", count: 100_000) + "a]\n"
        expectError(yaml, 1, nil, "more than 20000 values")
    }

    @Test func testThatCarriageReturnsAndByteOrderMarksAreToldWithTheirLine() {
        expectError("analyze: []\r\narchive: {}\r\n", 1, 12, "carriage return")
        expectError("analyze: []\narchive: {}\r\n", 2, 12, "carriage return")
        expectError("\u{FEFF}analyze: []\n", 1, 1, "byte order mark")
        expectError("analyze: []\u{2028}archive: {}\n", 1, 12, "unusual line break (\\u{2028})")
        expectError("analyze: []\u{85}archive: {}\n", 1, 12, "unusual line break")
    }

    @Test(arguments: ["analyze: []\n# äé \u{0}\n", "analyze: []\n\u{1B}[2J: x\n", "analyze: []\n#\u{7F}\u{8}\n"])
    func testThatControlCharactersAreRefused(_ yaml: String) {
        let first = read(yaml).diagnostics.first
        #expect(first?.line == 2)
        #expect(first?.description.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } == true)
    }

    @Test func testThatMessagesShowNoControlCharactersAndNoEndlessText() {
        let reading = read("\"\\e[31m\\u202E\\n\(String(repeating: "x", count: 500))\": 1\n")
        let text = reading.diagnostics.map(\.description).joined()
        #expect(text.contains("`\\u{1b}[31m\\u{202e}\\u{a}x"))
        #expect(text.count < 400)
    }

    @Test(arguments: [
        "a: [1, 2\nb: 3\n", "a: 'x\n", "%YAML 3.0\n---\na: 1\n", "a: b: c\n", "a\nb: 1\n", "@x\n", "a: !<x\n",
        "...\n...\n",
        "--- |\n", "!!binary \"x\"\n", "- a\n", "null\n", "~\n", "a: \"\\uD800\"\n", "a: *b\n", "<<: {a: 1}\n",
        "{a: 1, a: 2}\n",
        "? {x: 1}\n: 2\n? {x: 1}\n: 3\n",
    ])
    func testThatOddDocumentsEndInADiagnosticOrARecipe(_ yaml: String) {
        let reading = read(yaml)
        #expect((reading.value == nil) == !reading.errors.isEmpty)
    }

    @Test(.proves(.settings, "Hostile files are refused: aliases, depth, size, control characters"))
    func testThatEveryPrefixOfAFileIsReadOrTold() throws {
        // given
        let yaml = """
            repository: https://h/r.git
            branches: [main, "release/*"]
            webhook: { secret: 'kit' }
            triggers:
              - name: publish
                branches: ["release/*"]
                publish: { version: branch }
            recipe:
              configurations: { debug: { flags: [-x] } }
              analyze:
                - run: |
                    a
                    b
            """
        // when, then
        for count in 0...yaml.count {
            let reading = BotFileReader.read(yaml: String(yaml.prefix(count)), file: "k", name: Name(nearest: "k"))
            #expect((reading.value == nil) == !reading.errors.isEmpty)
            let lines = yaml.prefix(count).split(separator: "\n", omittingEmptySubsequences: false).count
            #expect(reading.diagnostics.allSatisfy { (1...lines).contains($0.line) && $0.column >= 1 })
        }
    }

    @Test func testThatAtMostAHundredDiagnosticsAreKept() {
        let yaml = (0..<500).map { "key\($0): 1\n" }.joined()
        #expect(read(yaml).diagnostics.count == 100)
    }
}
