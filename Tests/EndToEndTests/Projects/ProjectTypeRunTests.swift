import Foundation
import TestSupport
import Testing

/// Each type of project with the real tools, without a recipe and without a network: green, with a failing test, and with a source that does not
/// compile. It is sandboxed if this machine can do so.
@Suite struct ProjectTypeRunTests {
    @Test(
        .proves(
            .steps,
            "CMake, Make, Cargo, Go, npm, Python, Maven: resolve, analyze, build, test, archive; only resolving has the network"
        ), .enabled(if: ProjectFixture.cmake.isHere, "cmake and cc are not here"))
    func testThatCMakeWorks() async throws {
        try await check(.cmake)
    }

    @Test(
        .proves(
            .steps,
            "CMake, Make, Cargo, Go, npm, Python, Maven: resolve, analyze, build, test, archive; only resolving has the network"
        ), .enabled(if: ProjectFixture.make.isHere, "make and cc are not here"))
    func testThatMakeWorks() async throws {
        try await check(.make)
    }

    @Test(
        .proves(
            .steps,
            "CMake, Make, Cargo, Go, npm, Python, Maven: resolve, analyze, build, test, archive; only resolving has the network"
        ), .enabled(if: ProjectFixture.go.isHere, "go is not here"))
    func testThatGoWorks() async throws {
        try await check(.go)
    }

    @Test(
        .proves(
            .steps,
            "CMake, Make, Cargo, Go, npm, Python, Maven: resolve, analyze, build, test, archive; only resolving has the network"
        ), .enabled(if: ProjectFixture.cargo.isHere, "cargo is not here"))
    func testThatCargoWorks() async throws {
        try await check(.cargo)
    }

    @Test(
        .proves(
            .steps,
            "CMake, Make, Cargo, Go, npm, Python, Maven: resolve, analyze, build, test, archive; only resolving has the network"
        ), .enabled(if: ProjectFixture.python.isHere, "python3-pytest and python3-venv are not here"))
    func testThatPythonWorks() async throws { try await check(.python) }

    @Test(
        .proves(
            .steps,
            "CMake, Make, Cargo, Go, npm, Python, Maven: resolve, analyze, build, test, archive; only resolving has the network"
        ), .enabled(if: ProjectFixture.npm.isHere, "npm is not here"))
    func testThatNPMWorks() async throws {
        try await check(.npm)
    }

    @Test(
        .proves(
            .steps,
            "CMake, Make, Cargo, Go, npm, Python, Maven: resolve, analyze, build, test, archive; only resolving has the network"
        ), .enabled(if: ProjectFixture.maven.isHere, "mvn and Debian's libsurefire-java are not here"))
    func testThatMavenWorks() async throws { try await check(.maven) }

    /// Runs the project green, wrong, broken, and green again in the warm workspace.
    private func check(_ project: ProjectFixture) async throws {
        try await withWorkingTree(project.files) { fixture in
            let settings = try settings(for: project, in: fixture)
            func martlet() async throws -> ProgramResult {
                try await fixture.martlet(["--settings", settings], environment: ["PATH": path(for: project)])
            }
            let good = try #require(project.files[project.source])
            // when
            let green = try await martlet()
            // then
            #expect(green.status == 0, "\(green.stdout)\(green.stderr)")
            expectContains(green.stdout, "kit#1 succeeded: \(project.tests)")

            // when
            try fixture.write([project.source: project.wrong])
            let red = try await martlet()
            // then
            #expect(red.status == 1)
            expectContains(red.stdout, "kit#2 test-failures: ")

            // when
            try fixture.write([project.source: project.broken])
            let broken = try await martlet()
            // then
            #expect(broken.status == 1)
            expectContains(broken.stdout, "kit#3 \(project.brokenVerdict): ")

            // when
            try fixture.write([project.source: good])
            let again = try await martlet()
            // then
            expectContains(again.stdout, "kit#4 succeeded: \(project.tests)")
        }
    }

    @Test(.proves(.steps, "A program that is missing is our fault, with what to install"))
    func testThatAProgramThatIsNotHereIsToldAsOurs() async throws {
        try await withWorkingTree(["go.mod": "module example.org/kit\n", "kit.go": "package kit\n"]) { fixture in
            // given: a PATH without it.
            let bin = fixture.directory.path("bin")
            try fixture.directory.makeDirectory("bin")
            for program in ["sh", "git", "env"] {
                let found = try #require(
                    ["/usr/bin", "/bin"].first { FileManager.default.fileExists(atPath: "\($0)/\(program)") })
                try FileManager.default.createSymbolicLink(
                    atPath: "\(bin)/\(program)", withDestinationPath: "\(found)/\(program)")
            }
            // when
            let result = try await fixture.martlet(["--isolation", "none"], environment: ["PATH": bin])
            // then
            #expect(result.status == 70)
            expectContains(result.stdout, "go is not where jobs look for programs (PATH is \(bin))")
            expectContains(result.stdout, "apt-get install golang-go")
            expectContains(result.stdout, "Go module, by go.mod")
        }
    }

    private func path(for project: ProjectFixture) -> String {
        ([project.path] + ["/usr/local/bin", "/usr/bin", "/bin"]).compactMap(\.self).joined(separator: ":")
    }

    /// Shows a sandboxed job the programs that are outside of /usr.
    private func settings(for project: ProjectFixture, in fixture: RunFixture) throws -> String {
        var text = "bots: \(fixture.directory.path("bots"))\nstate: \(fixture.directory.path("state"))\n"
        if let path = project.path {
            text += "sandbox: { read-only: [\((path as NSString).deletingLastPathComponent)] }\n"
        }
        try fixture.directory.write("martlet.yml", text)
        return fixture.directory.path("martlet.yml")
    }
}
