import TestSupport
import Testing

/// A real Swift package through its red and green states.
@Suite struct RunSwiftPackageTests {
    @Test(
        .proves(
            .programs,
            "`martlet run` has `--configuration`, `--again` and `--tests`, which says if a command takes no filter"),
        .timeLimit(TestLimits.minutes(15)))
    func testThatTestsAreChosenByAFilter() async throws {
        try await withWorkingTree([
            "Package.swift": """
            // swift-tools-version: 6.0
            import PackageDescription
            let package = Package(name: "Kit", targets: [.testTarget(name: "KitTests")])

            """,
            "Tests/KitTests/KitTests.swift": """
            import Testing
            @Test func oneIsOne() { #expect(1 == 1) }
            @Test func oneIsTwo() { #expect(1 == 2) }

            """,
        ]) { fixture in
            // when
            let filtered = try await fixture.martlet(["--tests", "oneIsOne"])
            let again = try await fixture.martlet(["--again"])
            let mistyped = try await fixture.martlet(["--tests", "oneIsOen"])
            // then
            #expect((filtered.status, again.status) == (0, 0), "\(filtered.stdout)\(again.stdout)")
            expectContains(filtered.stdout, "kit#1 succeeded: 1 test\n")
            expectContains(again.stdout, "kit#2 succeeded: 1 test\n")
            #expect(mistyped.status == 1)
            expectContains(mistyped.stdout, "test-failure: no test matches the filter oneIsOen")
            expectContains(mistyped.stdout, "kit#3 test-failures: no tests listed, 1 failing\n")
        }
    }

    @Test(
        .proves(
            .programs,
            "`martlet run` runs a working tree as it is on the disk with the daemon's engine, without a daemon, and leaves the tree alone"
        ), .timeLimit(TestLimits.minutes(15)))
    func testThatAPackageIsGreenThenRedThenDoesNotCompile() async throws {
        try await withWorkingTree([
            "Package.swift": """
            // swift-tools-version: 6.0
            import PackageDescription
            let package = Package(name: "Kit", targets: [.target(name: "Kit"), .testTarget(name: "KitTests", dependencies: ["Kit"])])

            """,
            "Sources/Kit/Kit.swift": "public func one() -> Int { 1 }\n",
            "Tests/KitTests/KitTests.swift": """
            import Testing
            import Kit
            @Test func oneIsOne() { #expect(one() == 1) }
            @Test func oneIsNotTwo() { #expect(one() != 2) }

            """,
        ]) { fixture in
            let before = try fixture.inventory()
            // when
            let green = try await fixture.martlet()
            // then
            #expect(green.status == 0, "\(green.stdout)\(green.stderr)")
            expectContains(green.stdout, "kit#1 succeeded: 2 tests\n")
            #expect(try fixture.inventory() == before)

            // when
            try fixture.write(["Sources/Kit/Kit.swift": "public func one() -> Int { 2 }\n"])
            let red = try await fixture.martlet()
            // then
            #expect(red.status == 1)
            expectContains(red.stdout, "Tests/KitTests/KitTests.swift:3:")
            expectContains(red.stdout, "test-failure: oneIsOne(): ")
            expectContains(red.stdout, "kit#2 test-failures: 2 tests, 2 fail\n")

            // when
            try fixture.write(["Sources/Kit/Kit.swift": "public func one() -> Int { nothing }\n"])
            let broken = try await fixture.martlet()
            // then
            #expect(broken.status == 1)
            let errors = broken.stdout.split(separator: "\n").filter { $0.contains("cannot find 'nothing' in scope") }
            #expect(errors == ["Sources/Kit/Kit.swift:1:28: error: cannot find 'nothing' in scope [debug]"])
            expectContains(broken.stdout, "kit#3 build-errors: ")
        }
    }
}
