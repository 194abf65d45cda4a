import Foundation
import Glibc
import TestSupport
import Testing

/// The messages of `deploy/quickstart` before it installs or builds anything.
@Suite struct QuickstartTests {
    @Test(
        .proves(
            .firstSteps,
            "The quickstart says what to do about a missing toolchain, a port in use, and a private repository without a key"
        ))
    func testThatAMissingToolchainSaysWhatToDo() async throws {
        try await withTemporaryDirectory { directory in
            // given: a PATH with only the programs that the script itself calls until then.
            var quickstart = Quickstart(directory)
            try quickstart.only(["dirname", "uname"])
            // when
            let result = try await quickstart()
            // then
            #expect(result.status == 1)
            expectContains(result.stderr, "quickstart: there is no Swift toolchain: no 'swift' in PATH\n")
            expectContains(result.stderr, "Install Swift 6.2 or newer from https://www.swift.org/install/linux")
            expectNoFile(quickstart.state)
        }
    }

    @Test(
        .proves(
            .firstSteps,
            "The quickstart says what to do about a missing toolchain, a port in use, and a private repository without a key"
        ))
    func testThatAnOldToolchainSaysWhatToDo() async throws {
        try await withTemporaryDirectory { directory in
            var quickstart = Quickstart(directory)
            try quickstart.toolchain("5.10.1")
            let result = try await quickstart()
            #expect(result.status == 1)
            expectContains(result.stderr, "is 5.10.1; Martlet needs 6.2 or newer")
            expectNoFile(quickstart.state)
        }
    }

    @Test(
        .proves(.firstSteps, "The quickstart has `--port N` and `--stop`"),
        .proves(
            .firstSteps,
            "The quickstart says what to do about a missing toolchain, a port in use, and a private repository without a key"
        ))
    func testThatAPortInUseSaysWhichIsFree() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let other = try LoopbackSocket()
            defer { other.stop() }
            var quickstart = Quickstart(directory)
            try quickstart.toolchain("6.2")
            // when
            let result = try await quickstart("--port", "\(other.port)")
            // then
            #expect(result.status == 1)
            expectContains(result.stderr, "port \(other.port) is in use by another program\n")
            expectContains(result.stderr, "Take a free one: deploy/quickstart --port ")
            expectNoFile(quickstart.state)
        }
    }

    @Test(arguments: [
        (["--port", "99999"], "--port is a number from 1 to 65535, not '99999'"),
        (["https://me:secret@acme.example/kit.git"], "the URL holds a user or password"),
        (["--unknown"], "deploy/quickstart REPOSITORY-URL"), (["/one", "/two"], "deploy/quickstart REPOSITORY-URL"),
    ])
    func testThatAWrongCommandLineIsRefused(arguments: [String], sentence: String) async throws {
        try await withTemporaryDirectory { directory in
            var quickstart = Quickstart(directory)
            try quickstart.toolchain("6.2")
            let free = arguments.contains("--port") ? [] : ["--port", try Quickstart.freePort()]
            let result = try await quickstart(free + arguments)
            #expect(result.status != 0)
            expectContains(result.stderr, sentence)
            #expect(!result.stderr.contains("secret"))
            expectNoFile(quickstart.state)
        }
    }

    @Test(.proves(.firstSteps, "The quickstart has `--port N` and `--stop`"))
    func testThatStoppingWhereNothingRunsSaysSo() async throws {
        try await withTemporaryDirectory { directory in
            let result = try await Quickstart(directory)("--stop")
            #expect(result.status == 0)
            expectContains(result.stdout, "nothing of ~/state/martlet/quickstart runs\n")
        }
    }

    /// An ordinary user of a machine without packages, and a substitute for sudo that records its calls.
    @Suite struct GivenPackagesThatAreMissing {
        private func missing(
            sudo: String?, _ body: (_ quickstart: inout Quickstart, _ packages: String) async throws -> Void
        ) async throws {
            let list = try await runExpectingSuccess([Project.root + "/deploy/packages", "--build", "--list"])
            try await withTemporaryDirectory { directory in
                var quickstart = Quickstart(directory)
                try quickstart.toolchain("6.2")
                try quickstart.packages(areInstalled: false)
                try quickstart.ordinaryUser()
                if let sudo {
                    try quickstart.standIn("sudo", #"echo "$*" >>"$HOME/sudo.log"; "# + sudo)
                }
                try await body(&quickstart, list.trimmingCharacters(in: .newlines))
            }
        }

        @Test(
            .proves(
                .firstSteps,
                "The quickstart asks for sudo in its first second if it needs it, and says what to do if that is refused"
            ))
        func testThatARefusedSudoSaysWhatToDo() async throws {
            try await missing(sudo: "echo 'sudo: 3 incorrect password attempts' >&2; exit 1") { quickstart, packages in
                let result = try await quickstart("--port", try Quickstart.freePort(), "/srv/kit.git")
                #expect(result.status == 1)
                #expect(result.stdout == "sudo is needed once, to install: \(packages)\n")
                expectEqualLines(
                    result.stderr,
                    """
                    sudo: 3 incorrect password attempts
                    quickstart: sudo was refused (the line above says why), so nothing was installed
                      As root: apt-get install \(packages)
                      Then, as ada: deploy/quickstart /srv/kit.git

                    """)
                expectFile(quickstart.directory.path("sudo.log"), "-v\n")
                expectNoFile(quickstart.state)
            }
        }

        @Test(
            .proves(
                .firstSteps,
                "The quickstart asks for sudo in its first second if it needs it, and says what to do if that is refused"
            ))
        func testThatNoSudoSaysWhatToDo() async throws {
            try await missing(sudo: nil) { quickstart, packages in
                try quickstart.only(["bash", "dirname", "uname", "sed", "sort", "head", "apt-get"])
                let result = try await quickstart("--port", try Quickstart.freePort())
                #expect(result.status == 1)
                expectContains(result.stderr, "there is no sudo to install them: \(packages)\n")
                expectContains(result.stderr, "As root: apt-get install \(packages)\n")
                expectNoFile(quickstart.state)
            }
        }

        /// The driver's own libraries are among the packages, so it does not start on a new machine.
        @Test(
            .proves(
                .firstSteps, "`deploy/quickstart` is one command on a machine with nothing but a Swift toolchain ≥ 6.2")
        )
        func testThatAToolchainThatDoesNotStartYetIsNoReasonToStop() async throws {
            let sudo = #"case "$*" in *"apt-get "*) exit 100 ;; esac"#
            try await missing(sudo: sudo) { quickstart, _ in
                try quickstart.standIn("swift", "echo 'swift: cannot open libncurses.so.6' >&2; exit 127")
                let result = try await quickstart("--port", try Quickstart.freePort())
                expectContains(result.stderr, "quickstart: the packages could not be installed")
            }
        }

        @Test(.proves(.firstSteps, "The quickstart installs the missing Debian packages"))
        func testThatAnInstallThatFailsShowsItsLastLines() async throws {
            let sudo = #"case "$*" in *"apt-get "*) echo 'E: Unable to fetch some archives'; exit 100 ;; esac"#
            try await missing(sudo: sudo) { quickstart, packages in
                let result = try await quickstart("--port", try Quickstart.freePort())
                #expect(result.status == 1)
                expectContains(result.stderr, "quickstart: installing \(packages)\n")
                expectContains(result.stderr, "E: Unable to fetch some archives\n")
                expectContains(result.stderr, "quickstart: the packages could not be installed")
                let calls = try quickstart.directory.text("sudo.log").split(separator: "\n")
                // It asks once; then the installation, a fresh index because that failed, and no more.
                #expect(calls.map { $0.split(separator: " ").prefix(1) } == [["-v"], ["-n"], ["env"], ["apt-get"]])
            }
        }
    }

    @Test(
        .proves(
            .firstSteps,
            "The quickstart says what to do about a missing toolchain, a port in use, and a private repository without a key"
        ))
    func testThatAToolchainThatNeverStartsSaysWhy() async throws {
        try await withTemporaryDirectory { directory in
            var quickstart = Quickstart(directory)
            try quickstart.packages(areInstalled: true)
            try quickstart.standIn("swift", "echo 'swift: cannot open libncurses.so.6' >&2; exit 127")
            let result = try await quickstart("--port", try Quickstart.freePort())
            #expect(result.status == 1)
            expectContains(result.stderr, "does not say its version: swift: cannot open libncurses.so.6\n")
            expectNoFile(quickstart.state)
        }
    }
}
