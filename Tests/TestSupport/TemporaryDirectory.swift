package import Basics
import Foundation
import Glibc
package import Testing

/// The directory of a test.
package struct TemporaryDirectory: Sendable {
    /// The absolute path without links. It is short enough for the path of a socket below it (at most 107 bytes).
    package let path: String

    /// Returns the absolute path of a name in the directory.
    package func path(_ name: String) -> String { path + "/" + name }

    package func directory() throws -> Directory { try Directory(opening: path) }

    /// Writes a file, and creates missing directories above it.
    @discardableResult
    package func write(_ name: String, _ text: String, mode: UInt16 = 0o644) throws -> String {
        try write(name, Array(text.utf8), mode: mode)
    }

    /// Writes a file, and creates missing directories above it. An executable file can be run at once.
    @discardableResult
    package func write(_ name: String, _ bytes: [UInt8], mode: UInt16 = 0o644) throws -> String {
        let directory = try directory()
        if let slash = name.lastIndex(of: "/") { try directory.makeDirectories(String(name[..<slash])) }
        guard mode & 0o111 != 0 else {
            try directory.write(name, bytes: bytes, mode: mode)
            return path(name)
        }
        let beside = ".\(RandomIdentifiers().next())"
        try directory.write(beside, bytes: bytes)
        defer { unlink(path(beside)) }
        try Self.install(path(beside), as: path(name), mode: mode)
        return path(name)
    }

    /// Copies a file in another process. If this process had the file open for writing, a program that another test starts at that moment would
    /// inherit the descriptor, and running the file would fail with ETXTBSY (execve(2)).
    private static func install(_ source: String, as path: String, mode: UInt16) throws {
        let arguments = ["install", "-m", String(mode, radix: 8), "-T", "--", source, path]
        var pointers = arguments.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var (child, status): (pid_t, Int32) = (0, 0)
        let number = posix_spawnp(&child, "install", nil, nil, &pointers, nil)
        guard number == 0 else { throw ProgramFailure(description: "install: \(String(cString: strerror(number)))") }
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else { throw ProgramFailure(description: "\(path) cannot be made") }
    }

    /// Makes a directory, and creates missing directories above it.
    @discardableResult
    package func makeDirectory(_ name: String) throws -> String {
        try directory().makeDirectories(name)
        return path(name)
    }

    /// Reads a file as text, at most 16 MiB.
    package func text(_ name: String) throws -> String {
        String(decoding: try WholeFile.read(path(name), limit: 16 << 20), as: UTF8.self)
    }
}

private func outcome<Value>(
    of body: (TemporaryDirectory) async throws -> Value, _ directory: TemporaryDirectory
) async -> Result<Value, any Error> {
    do { return .success(try await body(directory)) } catch { return .failure(error) }
}

/// Writes the duration of each test to the file `MARTLET_TEST_TIMES`, one line each: seconds and the test's name. The events of Swift Testing give
/// a test without arguments the time of its queuing as its beginning.
private enum TestTimes {
    private static let path = ProcessInfo.processInfo.environment["MARTLET_TEST_TIMES"]

    static func record(_ time: Duration) {
        guard let path, let test = Test.current else { return }
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard file >= 0 else { return }
        defer { close(file) }
        let line = "\(time / .seconds(1)) \(test.name)\n"
        _ = line.withCString { write(file, $0, strlen($0)) }
    }
}

/// Runs a test with a directory named after it, and removes the directory afterwards in any case. If it cannot be removed, an issue is recorded,
/// because a process still writes into it.
///
/// `MARTLET_TEST_KEEP=1` in the environment keeps the directory and prints its path.
/// - Parameter base: The parent directory. Use `/var/tmp` for files that must be on a disk, since TMPDIR may be in memory.
package func withTemporaryDirectory<Value>(
    in base: String = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp",
    sourceLocation: SourceLocation = #_sourceLocation, _ body: (TemporaryDirectory) async throws -> Value
) async throws -> Value {
    let name = (Test.current?.name ?? "test").replacing("testThatIt", with: "").prefix(24)
        .filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
    let resolved = URL(fileURLWithPath: base).resolvingSymlinksInPath().path
    let parent = try Directory(opening: resolved)
    let entry = "martlet-\(name)-\(RandomIdentifiers().next().prefix(8))"
    try parent.makeDirectories(entry, mode: 0o755)
    let directory = TemporaryDirectory(path: resolved + "/" + entry)
    let (begun, result): (ContinuousClock.Instant, Result<Value, any Error>) = (
        .now, await outcome(of: body, directory)
    )
    TestTimes.record(.now - begun)
    if ProcessInfo.processInfo.environment["MARTLET_TEST_KEEP"] == "1" {
        print("kept: \(directory.path)")
    } else {
        do {
            try parent.remove(entry)
        } catch {
            Issue.record(error, "the test's directory cannot be removed", sourceLocation: sourceLocation)
        }
    }
    return try result.get()
}
