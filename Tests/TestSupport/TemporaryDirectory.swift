package import Basics
import Foundation
import Glibc
package import Testing

/// A directory of a test's own.
package struct TemporaryDirectory: Sendable {
    /// Absolute and without links. Short enough that a socket's path (at most 107 bytes) fits beneath.
    package let path: String

    /// The absolute path of something beneath.
    package func path(_ name: String) -> String { path + "/" + name }

    package func directory() throws -> Directory { try Directory(opening: path) }

    /// Writes a file, with what is missing above it.
    @discardableResult
    package func write(_ name: String, _ text: String, mode: UInt16 = 0o644) throws -> String {
        try write(name, Array(text.utf8), mode: mode)
    }

    /// Writes a file, with what is missing above it. One that can be run can be run at once.
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

    /// Copies a file by a process of its own. What this one had open for writing, a program that another test starts in this moment could
    /// still have, and nobody could run it: ETXTBSY of execve(2).
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

    /// Makes a directory, with what is missing above it.
    @discardableResult
    package func makeDirectory(_ name: String) throws -> String {
        try directory().makeDirectories(name)
        return path(name)
    }

    /// A file's text. At most 16 MiB.
    package func text(_ name: String) throws -> String {
        String(decoding: try WholeFile.read(path(name), limit: 16 << 20), as: UTF8.self)
    }
}

private func outcome<Value>(
    of body: (TemporaryDirectory) async throws -> Value, _ directory: TemporaryDirectory
) async -> Result<Value, any Error> {
    do { return .success(try await body(directory)) } catch { return .failure(error) }
}

/// How long tests took, a line each in the file `MARTLET_TEST_TIMES`: seconds and the test's name. Swift Testing's events give a test without
/// arguments the time at which it was queued as its beginning.
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

/// Gives a test a directory named after it, and removes it afterwards, whatever happened. A directory that cannot be
/// removed is recorded as an issue: something still writes in it.
///
/// `MARTLET_TEST_KEEP=1` in the environment keeps it and prints where it is.
/// - Parameter base: Where it is made; `/var/tmp` for what must lie on a disk, since TMPDIR may lie in memory.
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
