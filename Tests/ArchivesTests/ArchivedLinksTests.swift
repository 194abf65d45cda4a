import Basics
import Foundation
import Model
import TestSupport
import Testing

@testable import Archives

/// Extracting an archive never writes or reads outside of the target directory.
@Suite struct ArchivedLinksTests {
    private func pack(
        _ files: [String], _ links: [String: String], in directory: TemporaryDirectory
    ) throws -> ArchiveWriter.Report {
        for file in files { try directory.write("tree/\(file)", "x") }
        try directory.makeDirectory("tree")
        let tree = try Directory(opening: directory.path("tree"))
        for (path, target) in links {
            if let slash = path.lastIndex(of: "/") { try tree.makeDirectories(String(path[..<slash])) }
            try tree.makeLink(path, target: Array(target.utf8))
        }
        return try ArchiveWriter.pack(
            directory: tree, prefix: "kit", format: .tarGzip, to: directory.path("kit.tar.gz"),
            modified: Timestamp(secondsSinceEpoch: 1_700_000_000))
    }

    private static let outside = "the link leads out of the tree"
    private static let shared = "the link's name is another's where upper and lower case are the same"

    @Test(
        .proves(
            .issueHistory,
            "No link in an archive leads out of it, not through other links either, nor on file systems that ignore case"
        ),
        arguments: [
            // Neither link leaves the tree by its text.
            (["p/q/f"], ["p/q/a": "../..", "b": "p/q/a/../x"], ["b: \(outside)"]),
            (["f"], ["a": ".", "b": "a/.."], ["b: \(outside)"]),
            // It leads through another link that leaves the tree.
            (["f"], ["a": "b", "b": "../../.."], ["a: \(outside)", "b: \(outside)"]),
            (["f"], ["a": "b/etc", "b": "/"], ["a: \(outside)", "b: \(outside)"]),
            (
                ["f"], ["a": "b", "b": "a"],
                ["a: the link leads through too many others", "b: the link leads through too many others"]
            ),
            // One name on file systems that ignore case: files that are extracted after the link go through it.
            (["lib/f"], ["Lib": "lib"], ["Lib: \(shared)"]), (["F"], ["f": "F"], ["f: \(shared)"]),
            ([], ["x": "y", "X": "y"], ["X: \(shared)", "x: \(shared)"]),
            (["gro\u{DF}e/f"], ["GROSSE": "gro\u{DF}e"], ["GROSSE: \(shared)"]),
            (["e\u{301}/f"], ["\u{E9}": "."], ["\u{E9}: \(shared)"]),
            // Below a directory whose name differs in case.
            (["Dir/f"], ["b": "dir/../.."], ["b: \(outside)"]),
            (["p/q/f"], ["p/q/a": "../..", "b": "P/Q/A/.."], ["b: \(outside)"]),
            (["lib/f"], ["lib/a": "f", "current": "lib", "b": "current/a"], []),
        ])
    func testThatALinkThatMayLeadOutIsNotPacked(
        _ files: [String], _ links: [String: String], _ leftOut: [String]
    ) async throws {
        try await withTemporaryDirectory { directory in
            // when
            let report = try pack(files, links, in: directory)
            // then
            #expect(report.leftOut.sorted() == leftOut)
            try directory.makeDirectory("out")
            try await runExpectingSuccess(["tar", "-xzf", directory.path("kit.tar.gz"), "-C", directory.path("out")])
            let root = directory.path("out/kit")
            for name in FileManager.default.enumerator(atPath: root)?.compactMap({ $0 as? String }) ?? [] {
                let real = URL(fileURLWithPath: root + "/" + name).resolvingSymlinksInPath().path
                #expect(real.hasPrefix(URL(fileURLWithPath: root).resolvingSymlinksInPath().path), "\(name) is \(real)")
            }
        }
    }

    @Test func testThatALinkToNothingIsPackedAndNamed() async throws {
        try await withTemporaryDirectory { directory in
            // when
            let report = try pack(["f"], ["a": "lib.so.1"], in: directory)
            // then
            #expect(report.leftOut.isEmpty)
            #expect(report.dangling == ["a leads to lib.so.1"])
            #expect(report.entries == 2)
        }
    }

    @Test func testThatTheComponentsOfAllLinksTogetherAreLimited() {
        // given: two links, each with three components on its way
        let links = ["a", "b"].map { (path: Array($0.utf8), target: Array("d/f".utf8)) }
        func verdicts(_ limit: Int) -> [ArchivedLinks.Verdict] {
            var tree = ArchivedLinks(
                links, directories: [Array("d".utf8)], files: [Array("d/f".utf8)], limit: limit)
            return links.map { tree.verdict(on: $0.path) }
        }
        // when, then
        #expect(verdicts(6) == [.inside, .inside])
        #expect(verdicts(5) == [.inside, .refused("the link leads through too many others")])
    }

    @Test func testThatManyLinksThatAreLeftOutAreCounted() async throws {
        try await withTemporaryDirectory { directory in
            // given: one more of each than the report names
            var links = ["f": "g"]
            for number in 1000...1000 + ArchiveWriter.maximumListed {
                links["out\(number)"] = "/etc"
                links["to\(number)"] = "nothing"
            }
            // when
            let report = try pack(["g"], links, in: directory)
            // then
            #expect(report.leftOut.count == ArchiveWriter.maximumListed)
            #expect(report.leftOut.first?.hasSuffix(": \(Self.outside)") == true)
            #expect(report.leftOut.last == "2 more, which are not named")
            #expect(report.dangling.count == ArchiveWriter.maximumListed)
            #expect(report.dangling.last == "2 more, which are not named")
            // Dangling links are packed: with g and f
            #expect(report.entries == ArchiveWriter.maximumListed + 1 + 2)
        }
    }
}
