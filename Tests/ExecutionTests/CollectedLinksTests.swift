import Execution
import Foundation
import JobProtocol
import TestSupport
import Testing

/// Links, and files with several names, among the archived files.
@Suite struct CollectedLinksTests {
    private func collect(
        _ script: String, _ patterns: [String] = ["out/**"], base: String = "out", in launched: Launched
    ) async throws -> Ended {
        try await launched.run(launched.job(script, collect: [.init(patterns: patterns, base: base)]))
    }

    /// Returns the copied entries: a file with its text, a link with its target.
    private func copied(by end: Ended) throws -> [String] {
        let root = end.attempt.paths.artifacts
        let names = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        return try names.sorted().compactMap { name in
            let path = root + "/" + name
            if let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) {
                return "\(name) -> \(target)"
            }
            var isDirectory: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), !isDirectory.boolValue else {
                return nil
            }
            return "\(name): \(try String(contentsOfFile: path, encoding: .utf8))"
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "Links and files with several names that stay in the workspace are archived and can be reports; a left-out file is a warning, a note, and in the manifest"
        ),
        arguments: [
            // CMake, Autotools and Meson install a library like this.
            (
                "mkdir -p out/lib; printf 1 >out/lib/k.so.1.2; ln -s k.so.1.2 out/lib/k.so.1; ln -s k.so.1 out/lib/k.so",
                ["lib/k.so -> k.so.1", "lib/k.so.1 -> k.so.1.2", "lib/k.so.1.2: 1"]
            ),
            ("mkdir -p out/v1; printf 1 >out/v1/f; ln -s v1 out/current", ["current -> v1", "v1/f: 1"]),
            // The link's target is in the workspace and not archived, so its file is archived in place of the link.
            ("mkdir out; printf 1 >tool; ln -s ../tool out/tool", ["tool: 1"]),
            ("mkdir out; printf 1 >out/a; ln -s \"$PWD/out/a\" out/b; ln -s b out/c", ["a: 1", "b: 1", "c: 1"]),
            // Cargo, ccache and `cp -l` give files second names.
            ("mkdir out; printf 1 >out/a; ln out/a out/b", ["a: 1", "b: 1"]),
            ("mkdir -p out deps; printf 1 >deps/a; ln deps/a out/a", ["a: 1"]),
        ])
    func testThatWhatStaysInTheWorkspaceIsArchived(script: String, expected: [String]) async throws {
        try await withLaunched { launched in
            // when
            let end = try await collect(script, in: launched)
            // then
            #expect(end.result == .completed, "\(end.log)")
            #expect(try copied(by: end) == expected)
            #expect(try end.attempt.leftOut().isEmpty)
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "Links and files with several names that stay in the workspace are archived and can be reports; a left-out file is a warning, a note, and in the manifest"
        ),
        arguments: [
            ("ln -s /etc/passwd out/x", "it is a link that leads to no file of the workspace"),
            ("ln -s ../../outside/secret out/x", "it is a link that leads to no file of the workspace"),
            ("ln -s ../../outside d; ln -s ../d/secret out/x", "it is a link that leads to no file of the workspace"),
            ("ln -s nothing out/x", "it is a link that leads to no file of the workspace"),
            ("ln -s x out/x", "it is a link that leads to no file of the workspace"),
            ("ln ../outside/secret out/x", "it has 2 names, of which 1 can be found in the workspace"),
            ("ln ../outside/secret out/x; ln out/x other", "it has 3 names, of which 2 can be found in the workspace"),
            ("mkfifo out/x", "it is not a regular file"),
        ])
    func testThatWhatLeadsElsewhereIsLeftOutAndSaid(script: String, reason: String) async throws {
        try await withLaunched { launched in
            // given
            try launched.directory.write("outside/secret", "secret")
            // when
            let end = try await collect("mkdir out; printf 1 >out/a; " + script, in: launched)
            // then
            #expect(end.result == .completed, "\(end.log)")
            #expect(try copied(by: end) == ["a: 1"])
            #expect(try end.attempt.leftOut() == [LeftOut(step: nil, text: "out/x was not copied: \(reason)")])
            expectContains(end.log, "martlet: out/x was not copied: \(reason)\n")
        }
    }

    @Test func testThatOfManyThatAreLeftOutAHundredAreNamed() async throws {
        try await withLaunched { launched in
            // when
            let end = try await collect(
                "mkdir out; i=0; while [ $i -lt 150 ]; do ln -s /x out/$i; i=$((i + 1)); done", in: launched)
            // then
            let texts = try end.attempt.leftOut().map(\.text)
            #expect(texts.count == LeftOut.countLimit + 1)
            #expect(texts.last == "more files were not copied; the log names some")
        }
    }

    @Test func testThatLinksCountAsFiles() async throws {
        try await withLaunched { launched in
            // given
            let job = launched.job(
                "mkdir out; echo x >out/a; ln -s a out/b; ln -s a out/c", limits: .init(files: 2),
                collect: [.init(patterns: ["out/**"])])
            // when
            let end = try await launched.run(job)
            // then
            #expect(end.limit == "artifacts over 2 files")
        }
    }
}
