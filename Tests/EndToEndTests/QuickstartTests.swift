import Foundation
import Glibc
import TestSupport
import Testing

/// What `deploy/quickstart` says before it installs or builds anything.
@Suite struct QuickstartTests {
    @Test func testThatAMissingToolchainSaysWhatToDo() async throws {
        try await withTemporaryDirectory { directory in
            // given: a PATH with nothing but what the script itself calls until then.
            for program in ["dirname", "uname"] {
                let path = try #require(TestTools.find(program))
                try directory.makeDirectory("bin")
                try FileManager.default.createSymbolicLink(
                    atPath: directory.path("bin/\(program)"), withDestinationPath: path)
            }
            // when
            let result = try await quickstart([], directory, path: directory.path("bin"))
            // then
            #expect(result.status == 1)
            expectContains(result.stderr, "quickstart: there is no Swift toolchain: no 'swift' in PATH\n")
            expectContains(result.stderr, "Install Swift 6.2 or newer from https://www.swift.org/install/linux")
            expectNoFile(directory.path("state"))
        }
    }

    @Test func testThatAnOldToolchainSaysWhatToDo() async throws {
        try await withTemporaryDirectory { directory in
            let result = try await quickstart([], directory, swift: "5.10.1")
            #expect(result.status == 1)
            expectContains(result.stderr, "is 5.10.1; Martlet needs 6.2 or newer")
            expectNoFile(directory.path("state"))
        }
    }

    @Test func testThatAPortInUseSaysWhichIsFree() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let (descriptor, port) = try listening()
            defer { close(descriptor) }
            // when
            let result = try await quickstart(["--port", "\(port)"], directory, swift: "6.2")
            // then
            #expect(result.status == 1)
            expectContains(result.stderr, "port \(port) is in use by another program\n")
            expectContains(result.stderr, "Take a free one: deploy/quickstart --port ")
            expectNoFile(directory.path("state"))
        }
    }

    @Test(arguments: [
        (["--port", "99999"], "--port is a number from 1 to 65535, not '99999'"),
        (["https://me:secret@acme.example/kit.git"], "the URL holds a user or password"),
        (["--unknown"], "deploy/quickstart REPOSITORY-URL"), (["/one", "/two"], "deploy/quickstart REPOSITORY-URL"),
    ])
    func testThatAWrongCommandLineIsRefused(arguments: [String], sentence: String) async throws {
        try await withTemporaryDirectory { directory in
            let (descriptor, port) = try listening()
            close(descriptor)
            let free = arguments.contains("--port") ? [] : ["--port", "\(port)"]
            let result = try await quickstart(free + arguments, directory, swift: "6.2")
            #expect(result.status != 0)
            expectContains(result.stderr, sentence)
            #expect(!result.stderr.contains("secret"))
            expectNoFile(directory.path("state"))
        }
    }

    @Test func testThatStoppingWhereNothingRunsSaysSo() async throws {
        try await withTemporaryDirectory { directory in
            let result = try await quickstart(["--stop"], directory, swift: "6.2")
            #expect(result.status == 0)
            expectContains(result.stdout, "nothing of ~/state/martlet/quickstart runs\n")
        }
    }

    /// Runs the script with a state directory of its own.
    /// - Parameter version: What a stand-in for the toolchain says that it is; the script only asks for that before it builds.
    private func quickstart(
        _ arguments: [String], _ directory: TemporaryDirectory, path: String? = nil, swift version: String? = nil
    ) async throws -> ProgramResult {
        var search = path ?? "/usr/bin:/bin"
        if let version {
            let swift = try directory.write("toolchain/swift", "#!/bin/sh\necho 'Swift version \(version) (test)'\n")
            chmod(swift, 0o755)
            search = directory.path("toolchain") + ":" + search
        }
        return try await run(
            ["/bin/bash", Project.root + "/deploy/quickstart"] + arguments, in: directory.path,
            environment: ["PATH": search, "HOME": directory.path, "XDG_STATE_HOME": directory.path("state")])
    }

    /// A port of loopback that somebody listens on.
    private func listening() throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                try #require(bind(descriptor, address, size) == 0 && listen(descriptor, 8) == 0)
                try #require(getsockname(descriptor, address, &size) == 0)
            }
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }
}
