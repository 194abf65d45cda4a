import Model
import TestSupport
import Testing

@testable import Reports

@Suite struct DiagnosticReaderTests {
    /// The errors and warnings, each counted once, by eye and with grep.
    static let expectations: [(file: String, errors: Int, warnings: Int)] = [
        ("samples/swift-build-stdout.txt", 0, 2),
        ("samples/swiftc-diagnostics.txt", 1, 2),
        ("samples/swiftc-diagnostics-llvm-style.txt", 1, 2),
        ("samples/clang-diagnostics.txt", 0, 1),
        ("samples/swift-format-lint.txt", 13, 0),
        ("samples/swift-test-stderr.txt", 0, 0),
        ("samples/swift-test-stdout-xctest+swifttesting.txt", 0, 0),
        ("samples/swift-test-parallel-stdout.txt", 0, 0),
        ("samples/swift-crash-backtrace.txt", 0, 0),
        ("samples/asan-report.txt", 0, 0),
        ("samples/tsan-report.txt", 0, 0),
        ("logs/analysis-model__gcc-clang-tidy-mixed.txt", 1, 8),
        ("logs/analysis-model__gcc4-issue62454-1.txt", 0, 3),
        ("logs/analysis-model__gcc4-issue62454-2.txt", 0, 3),
        ("logs/analysis-model__gcc4ld.txt", 7, 0),
        ("logs/analysis-model__llvm-clang.txt", 0, 3),
        ("logs/analysis-model__llvm-linker.log", 2, 1),
        ("logs/analysis-model__mixed-clang-lld-errors.log", 2, 2),
        ("logs/clang-21__kilo.color.log", 0, 42),
        ("logs/xcbeautify__spi_swift_testing_short_log.txt", 0, 0),
        ("logs/go-test__001-pass-fail-skip.txt", 0, 0),
    ]

    private let root = SourceRoot(mountedAt: "/home/me/pkg")

    private func findings(_ log: String, category: DiagnosticCategory = .asPrinted) -> [Finding] {
        DiagnosticReader.findings(in: Array(log.utf8), root: root, category: category)
    }

    @Test(.proves(.reports, "Diagnostics of swiftc, clang and gcc"), .corpus, arguments: expectations)
    func testThatItCountsAsTheLogDoes(file: String, errors: Int, warnings: Int) throws {
        let found = DiagnosticReader.findings(in: try Corpus.file(file).bytes(), root: root)
        #expect(found.count { $0.category == .error } == errors, "\(found.map(\.message))")
        #expect(found.count { $0.category == .warning } == warnings)
    }

    @Test(.proves(.reports, "Diagnostics of swiftc, clang and gcc"), .corpus)
    func testThatItReadsBothStylesOfSwiftAlike() throws {
        let snippets = DiagnosticReader.findings(
            in: try Corpus.file("samples/swiftc-diagnostics.txt").bytes(), root: root)
        let classic = DiagnosticReader.findings(
            in: try Corpus.file("samples/swiftc-diagnostics-llvm-style.txt").bytes(), root: root)
        #expect(Set(snippets) == Set(classic))
        #expect(
            snippets.contains(
                Finding(
                    category: .warning, message: "'h()' is deprecated: no", rule: "DeprecatedDeclaration",
                    path: "d.swift",
                    line: 4, column: 1)))
    }

    @Test func testThatItJoinsWhatSwiftPMPrintsTwice() throws {
        // given a build in which emitting the module and compiling the file print the same error
        let log = try Samples.bytes("build-errors.txt")
        // when
        let found = DiagnosticReader.findings(in: log, root: root)
        // then: no error is there twice, nor is the error that only refers to it
        #expect(
            found == [
                Finding(
                    category: .warning,
                    message:
                        "initialization of immutable value 'unused' was never used; consider replacing with assignment "
                        + "to '_' or removing it", rule: "no-usage", path: "Sources/Tiny/T.swift", line: 1, column: 50),
                Finding(
                    category: .error, message: "consecutive declarations on a line must be separated by ';'",
                    path: "Tests/STests/S.swift", line: 6, column: 106),
            ])
    }

    @Test func testThatColorChangesNothing() {
        let plain = findings("/home/me/pkg/a.c:3:4: warning: m [-Wx]\n")
        let color = findings(
            "\u{1B}[1m/home/me/pkg/a.c:3:4: \u{1B}[0m\u{1B}[0;1;35mwarning: \u{1B}[0m\u{1B}[1mm [-Wx]\u{1B}[0m\r\n")
        let link = findings("\u{1B}]8;;http://x\u{07}/home/me/pkg/a.c:3:4: \u{1B}]8;;\u{1B}\\warning: m [-Wx]\n")
        #expect(plain.count == 1)
        #expect(plain == color)
        #expect(plain == link)
    }

    @Test(
        arguments: [
            ("a.c:3:4: error: m", Finding(category: .error, message: "m", path: "a.c", line: 3, column: 4)),
            ("a.c:3: error: m", Finding(category: .error, message: "m", path: "a.c", line: 3)),
            (
                "a.c:3:4: fatal error: 'x.h' file not found",
                Finding(category: .error, message: "'x.h' file not found", path: "a.c", line: 3, column: 4)
            ),
            (
                "/elsewhere/a.h:3:4: warning: m [-Werror,-Wshadow]",
                Finding(category: .warning, message: "m", rule: "-Wshadow", path: "/elsewhere/a.h", line: 3, column: 4)
            ),
            (
                "a.c:1:2: error: m [-Werror=shadow]",
                Finding(category: .error, message: "m", rule: "-Wshadow", path: "a.c", line: 1, column: 2)
            ),
            (
                "a.c:1:2: warning: m [bugprone-move,-warnings-as-errors]",
                Finding(category: .warning, message: "m", rule: "bugprone-move", path: "a.c", line: 1, column: 2)
            ),
            (
                "a.c:1:2: warning: m [core.DivideZero]",
                Finding(category: .warning, message: "m", rule: "core.DivideZero", path: "a.c", line: 1, column: 2)
            ),
            (
                "a.swift:1:2: error: no overload takes [Int]",
                Finding(category: .error, message: "no overload takes [Int]", path: "a.swift", line: 1, column: 2)
            ),
            (
                "a.swift:1:2: warning: [Spacing] add 1 space",
                Finding(
                    category: .warning, message: "add 1 space", rule: "Spacing", path: "a.swift", line: 1, column: 2)
            ),
            ("error: 'kit': invalid manifest", Finding(category: .error, message: "'kit': invalid manifest")),
            (
                "warning: 'kit': found 1 file(s) which are unhandled",
                Finding(category: .warning, message: "'kit': found 1 file(s) which are unhandled")
            ),
            ("error: fatalError", Finding(category: .error, message: "fatalError")),
            ("<unknown>:0: error: unable to load module", Finding(category: .error, message: "unable to load module")),
            (
                "clang: error: no such file or directory: 'x.c'",
                Finding(category: .error, message: "no such file or directory: 'x.c'")
            ),
            (
                "ld.lld: error: undefined symbol: f\n>>> referenced by a.c:7 (/home/me/pkg/src/a.c:7)",
                Finding(category: .error, message: "undefined symbol: f", path: "src/a.c", line: 7)
            ),
            (
                "/usr/bin/ld: a.o: in function `main':\na.c:(.text+0xa): undefined reference to `f'\ncollect2: error: ld returned 1 exit status",
                Finding(category: .error, message: "undefined reference to 'f'")
            ),
            (
                "/usr/bin/ld: /home/me/pkg/a.c:7: undefined reference to `f'",
                Finding(category: .error, message: "undefined reference to 'f'", path: "a.c", line: 7)
            ),
            (
                "/b/x.swift.o:x.swift:function main: error: undefined reference to 'f'",
                Finding(category: .error, message: "undefined reference to 'f'")
            ),
            (
                "/usr/bin/ld: b.o:b.c:(.text+0x0): multiple definition of `f'; a.o:a.c:(.text+0x0): first defined here",
                Finding(category: .error, message: "multiple definition of 'f'")
            ),
            (
                "/usr/bin/ld: cannot find -lfoo: No such file or directory",
                Finding(category: .error, message: "cannot find -lfoo: No such file or directory")
            ),
            (
                "Makefile:3: *** missing separator.  Stop.",
                Finding(category: .error, message: "missing separator.  Stop.", path: "Makefile", line: 3)
            ),
            (
                "make: *** No rule to make target 'x', needed by 'all'.  Stop.",
                Finding(category: .error, message: "No rule to make target 'x', needed by 'all'.  Stop.")
            ),
            ("make: *** [Makefile:2: all] Error 1", Finding(category: .error, message: "[Makefile:2: all] Error 1")),
        ] as [(String, Finding)])
    func testThatItReads(log: String, finding: Finding) {
        #expect(findings(log) == [finding])
    }

    @Test(arguments: [
        "a.c:3:4: note: declared here", "a.c:3:4: remark: vectorized", "12 |     print(\"a.c:1:2: error: no\")",
        "   |                `- error: cannot convert", "    error: a source line", "0 errors, 0 warnings",
        "1 warning generated.",
        "make: *** [Makefile:3: x] Error 1 (ignored)", "make: *** Waiting for unfinished jobs....",
        "a.swift:5: error: ParserTests.testIt : XCTAssertEqual failed", "a.m:5: error: -[T.C testIt] : failed",
        "we found an error: nothing works", "found 3: error: yes", "a.c:3:4: error:", "In file included from a.h:1,",
        "/usr/bin/ld: a.o: in function `main':",
    ])
    func testThatItPassesOver(line: String) {
        #expect(findings(line) == [])
    }

    @Test(.proves(.reports, "`cargo test`, console and JSON; messages of cargo and clippy"))
    func testThatRustsPlaceIsInTheLineBeneath() {
        // given: the same text at two places, one of them twice, and Cargo's summary
        let log = """
            warning: unused variable: `a`
             --> src/lib.rs:5:41
            warning: unused variable: `a`
              --> src/b.rs:50:4
            warning: unused variable: `a`
             --> src/lib.rs:5:41
            error[E0425]: cannot find value `b` in this scope
             --> src/lib.rs:7:1
            warning: `kit` (lib) generated 2 warnings (run `cargo fix` to apply them)
            error: could not compile `kit` (lib) due to 1 previous error
            """
        // then
        let found = findings(log)
        #expect(found.map(\.line) == [5, 50, 7])
        #expect(found.map(\.path) == ["src/lib.rs", "src/b.rs", "src/lib.rs"])
        #expect(found.last?.rule == "E0425")
    }

    @Test func testThatAConsequenceCountsOnlyWithoutACause() {
        let consequences =
            "clang: error: linker command failed with exit code 1 (use -v to see invocation)\nerror: fatalError\n"
        #expect(findings("a.c:1:2: error: m\n" + consequences).map(\.message) == ["m"])
        #expect(findings("a.c:1:2: warning: m\n" + consequences).count == 2)
    }

    @Test func testThatAnAnalysisMakesEverythingAnAnalyzerWarning() {
        let found = findings("a.c:1:2: error: m [core.X]\na.c:1:2: warning: n [core.X]\n", category: .analyzer)
        #expect(found.map(\.category) == [.analyzerWarning, .analyzerWarning])
    }

    @Test func testThatItStopsAtItsLimit() {
        let log = (0..<12_000).map { "a.c:\($0 + 1):1: warning: m" }.joined(separator: "\n") + "\na.c:1:1: error: e"
        let found = findings(log)
        #expect(found.count == DiagnosticReader.maximumFindings + 1, "errors are not crowded out by warnings")
    }

    @Test(arguments: [
        "[1/12] Compiling Kit Ä.swift", "\u{1B}[1m[1/12] Compiling Kit Ä.swift\u{1B}[0m",
        "[1/12] Compiling Kit A.swift Ä.swift", "[1/12] Compiling Kit B.swift, Ä.swift", "Compiling Kit Ä.swift",
        "[12/12] Compiling Kit B.swift\n[1/12] Compiling Kit Ä.swift", "swiftc -c Sources/Kit/Ä.swift",
    ])
    func testThatAFileIsCompiledInWhateverFormTheLineHas(log: String) {
        for name in ["Ä", "A"] {
            let compiled = CompiledFiles(log: Array(log.replacing("Ä", with: name).utf8))
            #expect(compiled.contains("Sources/Kit/\(name).swift"))
            #expect(!compiled.contains("Sources/Kit/C.swift"))
        }
    }

    @Test func testThatALineThatComesAgainCountsAnewWhenTheBuildIsOptimized() {
        let line = "[1/2] Compiling Kit A.swift\n"
        #expect(!CompiledFiles(log: Array((line + line).utf8)).contains("Sources/Kit/B.swift"))
        let log = line + "Building for production...\n" + line
        #expect(CompiledFiles(log: Array(log.utf8)).contains("Sources/Kit/B.swift"))
    }

    @Test func testThatFilesAndModulesThatShareTheirNamesAreToldApart() {
        let log = "[1/3] Compiling Kit A.swift\n[2/3] Compiling Tool A.swift\n[3/3] Compiling Kit B.swift\n"
        let compiled = CompiledFiles(log: Array(log.utf8))
        for path in ["Sources/Kit/A.swift", "Sources/Tool/A.swift", "Sources/Kit/B.swift"] {
            #expect(compiled.contains(path))
        }
        #expect(!compiled.contains("Sources/Tool/B.swift"))
    }

    @Test(.proves(.reports, "Warnings of files that an incremental build did not compile stay"))
    func testThatAnIncrementalBuildHidesWarningsAndTheCompiledFilesTellIt() throws {
        // given: a build, and a later one that compiles only the failed files
        let (first, second) = (try Samples.bytes("build-errors.txt"), try Samples.bytes("build-errors-incremental.txt"))
        // then the warning is gone from the second log, and so is its file
        #expect(DiagnosticReader.findings(in: second, root: root).contains { $0.category == .warning } == false)
        #expect(CompiledFiles(log: first).contains("Sources/Tiny/T.swift"))
        #expect(CompiledFiles(log: second).contains("Sources/Tiny/T.swift") == false)
        #expect(CompiledFiles(log: second).contains("Tests/STests/S.swift"))
        #expect(CompiledFiles(log: Array("cc -O2 -c src/a.c -o a.o\n".utf8)).contains("src/a.c"))
    }

    @Test func testThatAnOptimizedBuildCompilesModulesAsAWhole() {
        // given what `swift build -c release` prints of a module of three files
        let log =
            "Building for production...\n[0/3] Compiling CT f.c\n[4/4] Compiling Tiny A.swift\nBuild complete! (0.70s)\n"
        // when
        let compiled = CompiledFiles(log: Array(log.utf8))
        // then
        #expect(compiled.contains("Sources/Tiny/C.swift"))
        #expect(compiled.contains("Sources/Other/C.swift") == false)
        #expect(compiled.contains("Sources/CT/f.c"))
        #expect(compiled.contains("Sources/CT/g.c") == false)
    }
}
