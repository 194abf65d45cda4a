import Foundation
import Model
import Settings
import TestSupport
import Testing

@Suite struct RecipeReaderTests {
    private func read(_ yaml: String, _ type: ProjectType? = .swiftPackage) -> Reading<Recipe> {
        RecipeReader.read(yaml: yaml, file: ".martlet.yml", project: .tree(type))
    }

    @Test(.proves(.settings, "A recipe is in the repository or in the bot file"))
    func testThatItReadsTheSampleInTheOrderItIsWritten() throws {
        // given
        let yaml = """
            configurations:
              debug:                              # empty = the usual commands
              release:           { flags: [-c, release] }
              address-sanitizer: { flags: [--sanitize=address], environment: { ASAN_OPTIONS: detect_leaks=0 } }
              nightly:           { toolchain: /opt/swift-nightly, build: make all, test: make check, report: build/junit.xml }
            analyze: [swift-format, { run: ./lint.sh, report: lint.sarif }]
            archive: { configuration: release, include: ["products/**"] }
            """
        // when
        let reading = read(yaml)
        // then
        let recipe = try #require(reading.value, "\(reading.diagnostics)")
        expectNoDifference(
            recipe,
            Recipe(
                configurations: [
                    .init(name: Name(nearest: "debug")),
                    .init(name: Name(nearest: "release"), flags: ["-c", "release"]),
                    .init(
                        name: Name(nearest: "address-sanitizer"), flags: ["--sanitize=address"],
                        environment: ["ASAN_OPTIONS": "detect_leaks=0"]),
                    .init(
                        name: Name(nearest: "nightly"), toolchain: "/opt/swift-nightly", build: "make all",
                        test: "make check", report: ["build/junit.xml"]),
                ],
                analyze: [.tool(.swiftFormat), .command(.init(run: "./lint.sh", report: ["lint.sarif"]))],
                archive: .init(configuration: Name(nearest: "release"), include: ["products/**"]),
                projectType: .swiftPackage, recognition: .init(type: .swiftPackage, marker: "Package.swift")))
    }

    @Test(
        .proves(
            .steps,
            "Products are archived only if a later trigger or the recipe uses them; page, API, `martlet artifacts`, `--plan` and logs say why they are not"
        ),
        arguments: [
            ("", .init()), ("archive:", .init()), ("archive: {}", .init(configuration: Name(nearest: "release"))),
            ("archive: { bundle: false }", .init(configuration: Name(nearest: "release"), bundle: false)),
            ("archive: { include: [] }", .init(include: [])), ("archive: { bundle: true }", .init(bundle: true)),
        ] as [(String, Recipe.Archive)])
    func testThatAWrittenArchiveAsksForTheUsualProducts(line: String, archive: Recipe.Archive) throws {
        // when
        let reading = read("configurations: { debug: {}, release: {} }\n\(line)\n")
        // then
        #expect(try #require(reading.value, "\(reading.diagnostics)").archive == archive)
    }

    @Test func testThatItReadsTimeoutListsAndNumbersAsText() throws {
        // when
        let reading = read(
            """
            configurations:
              debug:
                timeout: 90s
                report: [a.xml, "b/*.xml"]
                environment: { A: 1, B: true, C: 1.10, D: , E: "" , F: 0o17 }
                build: |
                  make one &
                  make two && wait
            analyze: []
            """)
        // then
        let configuration = try #require(reading.value?.configurations.first, "\(reading.diagnostics)")
        #expect(configuration.timeout == .seconds(90))
        #expect(configuration.report == ["a.xml", "b/*.xml"])
        expectNoDifference(
            configuration.environment, ["A": "1", "B": "true", "C": "1.10", "D": "", "E": "", "F": "0o17"])
        #expect(configuration.build == "make one &\nmake two && wait\n")
        #expect(reading.value?.analyze == [])
    }

    @Test(
        .proves(
            .issueHistory,
            "A recipe's command ends at its first failure, also in a pipeline; `#!` names its interpreter; only comments are an error; `lint` says how lines run"
        ),
        arguments: [
            "configurations: { a: { build: '# make' } }", "configurations: { a: { test: \"\\n # pytest\\r\\n#\" } }",
            "configurations: { a: { build: '#!/bin/bash' } }", "analyze: [{ run: '#x' }]",
            "configurations: { a: { steps: [{ name: x, step: testing, run: '# later' }] } }",
        ])
    func testThatACommandThatRunsNothingIsAnError(_ text: String) {
        // when
        let reading = read(text)
        // then
        #expect(reading.value == nil)
        expectContains(reading.diagnostics.first?.message ?? "", "has only comments, so nothing would run")
    }

    @Test func testThatACommandBesideACommentIsNone() {
        #expect(read("configurations: { a: { build: \"# first\\n  make # all\" } }").value != nil)
        expectContains(
            read("configurations: { a: { build: [a, b] } }").diagnostics.first?.message ?? "", "as in `build: |`")
    }

    @Test(
        .proves(
            .steps,
            "Steps that a recipe writes out: name, kind, command, environment, time-out, working directory, network, report, secrets"
        ))
    func testThatItReadsStepsAndWhatHoldsForOneAlone() throws {
        // when
        let reading = read(
            """
            configurations:
              deploy:
                network: full
                image: debian-12
                steps:
                  - name: generate
                    step: building
                    run: ./generate
                    environment: { LEVEL: 2 }
                    timeout: 10m
                    working-directory: tools/generator
                    network: none
                  - { name: unit, step: testing, run: make check, report: build/*.xml, secrets: [registry-token] }
            analyze:
              - { name: lint, run: ./lint.sh, environment: { A: b }, timeout: 1m, working-directory: src, network: full,
                  report: lint.sarif, secrets: license }
              - { run: ./other }
            """, nil)
        // then
        let recipe = try #require(reading.value, "\(reading.diagnostics)")
        expectNoDifference(
            recipe.configurations,
            [
                .init(
                    name: Name(nearest: "deploy"),
                    steps: [
                        .init(
                            name: Name(nearest: "generate"), kind: .building,
                            command: .init(
                                run: "./generate", environment: ["LEVEL": "2"], timeout: .seconds(600),
                                workingDirectory: "tools/generator", network: Recipe.Network.none)),
                        .init(
                            name: Name(nearest: "unit"), kind: .testing,
                            command: .init(
                                run: "make check", report: ["build/*.xml"], secrets: ["registry-token"])),
                    ], network: .full, image: Name(nearest: "debian-12"))
            ])
        expectNoDifference(
            recipe.analyze,
            [
                .command(
                    .init(
                        run: "./lint.sh", environment: ["A": "b"], timeout: .seconds(60), workingDirectory: "src",
                        network: .full, report: ["lint.sarif"], secrets: ["license"]), name: Name(nearest: "lint")),
                .command(.init(run: "./other")),
            ])
    }

    @Test(
        .proves(
            .steps,
            "Steps that a recipe writes out: name, kind, command, environment, time-out, working directory, network, report, secrets"
        ),
        arguments: [
            Marked("steps: §[]", "`steps` has none"),
            Marked("steps: §make", "`steps` is a list"),
            Marked("steps: [§make]", "a step is a mapping with keys such as `name`"),
            Marked("steps: [{ §nam: a, step: building, run: x }]", "did you mean `name`?"),
            Marked("steps: [§{ step: building, run: x }]", "the step has no `name`"),
            Marked("steps: [§{ name: a, run: x }]", "write `step: building`"),
            Marked("steps: [§{ name: a, step: testing }]", "the step has no `run`"),
            Marked("steps: [{ name: a, step: §bulding, run: x }]", "did you mean `building`?"),
            Marked("steps: [{ name: §A b, step: building, run: x }]", "write `a-b`"),
            Marked("steps: [{ §name: list, step: testing, run: x }]", "a step of the service's own"),
            Marked("steps: [{ §name: resolve, step: testing, run: x }]", "a step of the service's own"),
            Marked(
                "steps: [{ name: a, step: building, run: x }, §{ name: a, step: testing, run: x }]",
                "is there already, in line 1"),
            Marked("steps: [{ name: a, step: building, run: x, network: §some }]", "one of `none`, `full`"),
            Marked("steps: [{ name: a, step: building, run: x, working-directory: §/etc }]", "leaves the repository"),
            Marked(
                "steps: [{ name: a, step: building, run: x, working-directory: §a/../.. }]", "leaves the repository"),
            Marked("steps: [{ name: a, step: building, run: x, report: §../x }]", "leaves the repository"),
            Marked("steps: [{ name: a, step: building, run: x, timeout: §1w }]", "is no duration"),
            Marked("steps: [{ name: a, step: building, run: x, environment: { §CI: x } }]", "is set by the service"),
            Marked("steps: [{ name: a, step: building, run: x, secrets: §a b }]", "is the name of a secret"),
            Marked("steps: [{ name: a, step: building, run: x, secrets: [a-b, §a_b] }]", "would both be the variable"),
            Marked("§build: x, steps: [{ name: a, step: building, run: x }]", "stands in place of `build`"),
            Marked("§test: x, steps: [{ name: a, step: building, run: x }]", "stands in place of `test`"),
            Marked("§report: x, steps: [{ name: a, step: building, run: x }]", "has no `report` of its own"),
        ])
    func testThatItSaysWhatIsWrongWithSteps(_ sample: Marked) {
        // given
        let begin = "configurations: { debug: { "
        let moved = Marked(begin + sample.marked + " } }\n", sample.message)
        // when
        let reading = read(moved.text)
        // then
        moved.expectFirst(of: reading.diagnostics)
        #expect(reading.value == nil)
    }

    @Test(
        .proves(.steps, "Two secrets of one job that would be one variable are refused, so no step gets another's"),
        arguments: [
            Marked(
                """
                §configurations:
                  debug:
                    steps:
                      - { name: one, step: building, run: x, secrets: tok-en }
                      - { name: two, step: testing, run: x, secrets: tok_en }

                """,
                "the step `one` of `debug` asks for the secret `tok-en` and the step `two` of `debug` for `tok_en`: both would be the "
                    + "variable MARTLET_SECRET_TOK_EN"),
            Marked(
                """
                analyze: [{ name: lint, run: x, secrets: tok-en }]
                §configurations: { debug: { steps: [{ name: one, step: building, run: x, secrets: TOK.EN }] } }

                """, "the analysis `lint` asks for the secret `tok-en` and the step `one` of `debug` for `TOK.EN`"),
        ])
    func testThatTwoSecretsOfOneJobAreNotOneVariable(_ sample: Marked) {
        // when
        let reading = read(sample.text)
        // then
        sample.expectFirst(of: reading.diagnostics)
        #expect(reading.value == nil)
    }

    @Test(.proves(.steps, "Two secrets of one job that would be one variable are refused, so no step gets another's"))
    func testThatOneSecretMayBeSeveralStepsAndTwoThoseOfTwoConfigurations() {
        let yaml = """
            configurations:
              a:
                steps:
                  - { name: one, step: building, run: x, secrets: tok-en }
                  - { name: two, step: testing, run: x, secrets: tok-en }
              b: { steps: [{ name: one, step: building, run: x, secrets: tok_en }] }
            """
        #expect(read(yaml).diagnostics.isEmpty)
    }

    @Test func testThatARecipeOfAnOlderVersionIsStillRead() throws {
        // given: the form in a database of the first version.
        let recorded = """
            {"analyze":[{"tool":{"_0":"clang"}},{"command":{"report":["lint.sarif"],"run":"./lint.sh"}}],"archive":{},
            "configurations":[{"environment":{},"flags":[],"name":"debug","report":[]}],"projectType":"make"}
            """
        // when
        let recipe = try JSONDecoder().decode(Recipe.self, from: Data(recorded.utf8))
        // then
        expectNoDifference(
            recipe,
            Recipe(
                configurations: [.init(name: Name(nearest: "debug"))],
                analyze: [.tool(.clang), .command(.init(run: "./lint.sh", report: ["lint.sarif"]))], projectType: .make)
        )
        let again = try JSONDecoder().decode(Recipe.self, from: try JSONEncoder().encode(recipe))
        expectNoDifference(again, recipe)
    }

    @Test(arguments: ["", "# nothing\n", "analyze: [clang]\n", "{}\n"])
    func testThatARecognisedProjectHasDebug(_ yaml: String) {
        #expect(read(yaml).value?.configurations.map(\.name.description) == ["debug"])
    }

    @Test(arguments: ProjectType.allCases)
    func testThatARecognisedProjectNeedsNoRecipe(_ type: ProjectType) {
        let recipe = RecipeReader.withoutRecipe(.tree(type)).value
        #expect(recipe?.configurations.map(\.name.description) == ["debug"])
        #expect(recipe?.analyze == nil)
        #expect(recipe?.projectType == type)
        #expect(recipe?.recognition?.marker == type.profile.markers.first)
    }

    @Test(
        .proves(
            .steps,
            "Where no type fits, a recipe for what is in the root; each that can be printed works with its real tool"),
        arguments: [
            ([], "add a .martlet.yml with `configurations: { debug: { build: COMMAND, test: COMMAND } }`"),
            (
                ["README", "build.xml"],
                "build.xml is, so try a .martlet.yml with `configurations: { debug: { build: ant, test: ant test } }`"
            ),
            (["build.sh"], "try a .martlet.yml with `configurations: { debug: { build: ./build.sh } }`"),
        ])
    func testThatAnUnknownProjectIsToldWhatToWrite(_ names: [String], _ advice: String) throws {
        // when
        let reading = RecipeReader.withoutRecipe(.recognized(nil, rootEntries: names))
        // then
        #expect(reading.value == nil)
        let said = try #require(reading.diagnostics.first?.description)
        #expect(
            said.hasPrefix(
                ".martlet.yml:1:1: error: nothing says how to build this repository: none of "
                    + "\(ProjectType.usualMarkers) is in its root; "))
        #expect(said.hasSuffix(advice))
        // The recommended text is a recipe
        let recipe = try #require(said.split(separator: "`").last { $0.hasPrefix("configurations") })
        #expect(read(String(recipe), nil).errors.isEmpty)
    }

    @Test(
        .proves(
            .steps,
            "Kinds of projects, each a row of data; which it is and why is said on page, API, `show`, `run`, `lint`, `bot --resolved`, `init`"
        ), arguments: ProjectType.allCases)
    func testThatARecipeSaysWhichTypeItIs(_ type: ProjectType) throws {
        // when: other types are recognized, or none.
        for recognized in [nil, ProjectType.make] {
            let recipe = try #require(read("project: \(type.rawValue)\n", recognized).value)
            // then
            #expect(recipe.projectType == type)
            #expect(recipe.recognition?.sentence == "\(type.profile.title), by `project` in .martlet.yml")
        }
    }

    @Test func testThatAnUnknownProjectWithCommandsIsFine() {
        #expect(read("configurations: { debug: { build: ./build.sh } }\n", nil).value != nil)
        #expect(read("configurations: { debug: { test: ./test.sh } }\n", nil).value != nil)
    }

    @Test(arguments: [
        Marked("configurations:\n  §debug:\n", "neither `build` nor `test`"),
        Marked("configurations:\n  §debug: { test: none }\n", "neither `build` nor `test`"),
        Marked("§analyze: [clang]\n", "nothing says how to build"),
    ])
    func testThatAnUnknownProjectWithoutCommandsIsAnError(_ sample: Marked) {
        sample.expectFirst(of: read(sample.text, nil).diagnostics)
    }

    @Test(
        .proves(.badInput, "A recipe with errors: build-errors with file and line"),
        arguments: [
            Marked("§config: {}\n", "did you mean `configurations`?"),
            Marked("configurations: §[debug]\n", "a mapping from a name"),
            Marked("configurations: §{}\n", "has none"),
            Marked("configurations:\n  §Debug:\n", "write `debug`"),
            Marked("configurations:\n  §../x:\n", "is not a name"),
            Marked("configurations:\n  a:\n  §a:\n", "`a` is written twice, first in line 2"),
            Marked("configurations:\n  1:\n  §'1':\n", "`1` is written twice, first in line 2"),
            Marked("configurations: { a: §x }\n", "is a mapping with keys such as `flags`"),
            Marked("configurations: { a: { §flag: [x] } }\n", "did you mean `flags`?"),
            Marked("configurations: { a: { §sanitizer: x } }\n", "`sanitizer` is not supported yet by this version"),
            Marked("configurations: { a: { image: §/srv/debian } }\n", "is not a name for `image`"),
            Marked("configurations: { a: { image: §../debian } }\n", "is not a name for `image`"),
            Marked("configurations: { a: { network: §ful } }\n", "did you mean `full`?"),
            Marked("configurations: { a: { flags: §-c release } }\n", "write `flags: [-c, release]`"),
            Marked("configurations: { a: { flags: [§[x]] } }\n", "`flags` is a text, not a list"),
            Marked("configurations: { a: { environment: §[A] } }\n", "`environment` is a mapping"),
            Marked("configurations: { a: { environment: { §A-B: x } } }\n", "is not a variable's name"),
            Marked("configurations: { a: { environment: { §MARTLET_REF: x } } }\n", "is set by the service"),
            Marked("configurations: { a: { environment: { A: §[x] } } }\n", "`A` is a text, not a list"),
            Marked("configurations: { a: { toolchain: §swift } }\n", "an absolute directory"),
            Marked("configurations: { a: { toolchain: §/opt/../x } }\n", "an absolute directory"),
            Marked("configurations: { a: { report: §/etc/passwd } }\n", "leaves the repository"),
            Marked("configurations: { a: { report: [x, §../y] } }\n", "leaves the repository"),
            Marked("configurations: { a: { timeout: §60 } }\n", "a unit is missing"),
            Marked("configurations: { a: { build: §' ' } }\n", "`build` is empty"),
            Marked("analyze: [§swift-fromat]\n", "did you mean `swift-format`?"),
            Marked("analyze: [§{ report: x }]\n", "the analysis has no `run`"),
            Marked("analyze: [{ run: x, §reports: x }]\n", "did you mean `report`?"),
            Marked("archive: { §configuration: release }\n", "no configuration `release` to archive from"),
            Marked("archive: { include: §../x }\n", "leaves the repository"),
            Marked("archive: { include: §{ a: b } }\n", "`include` is a list"),
        ])
    func testThatItSaysWhereAndWhatIsWrong(_ sample: Marked) {
        // when
        let reading = read(sample.text)
        // then
        sample.expectFirst(of: reading.diagnostics)
        #expect(reading.value == nil)
    }

    @Test func testThatLinesCountFromTheFirstLineGiven() {
        let reading = RecipeReader.read(
            yaml: "analyze: x\nfoo: [\n", file: "k.yml", project: .tree(.make), firstLine: 10)
        #expect(reading.diagnostics.first?.line == 12 || reading.diagnostics.first?.line == 11)
        let second = RecipeReader.read(yaml: "\nfoo: 1\n", file: "k.yml", project: .tree(.make), firstLine: 10)
        #expect(second.diagnostics.map(\.line) == [11])
    }

    @Test func testThatMoreConfigurationsThanTheLimitAreRefused() {
        let many = (0..<33).map { "  c\($0):\n" }.joined()
        Marked("configurations:\n" + many.replacing("  c32", with: "  §c32"), "more than 32 items")
            .expectFirst(of: read("configurations:\n" + many).diagnostics)
    }

    @Test func testThatBytesThatAreNoTextAreAnErrorWithTheirLine() {
        let reading = RecipeReader.read(
            bytes: Array("analyze: []\n# ".utf8) + [0xFF, 0x0A], file: ".martlet.yml", project: .tree(.make))
        #expect(reading.diagnostics.map(\.line) == [2])
        #expect(reading.value == nil)
    }
}

extension RecipeReader.Project {
    /// Returns a root with only the file that marks a type.
    static func tree(_ type: ProjectType?) -> RecipeReader.Project {
        let names = type.map { Array($0.profile.markers.prefix(1)) } ?? []
        return .recognized(ProjectType.recognize(ProjectTree(rootEntries: names)), rootEntries: names)
    }
}
