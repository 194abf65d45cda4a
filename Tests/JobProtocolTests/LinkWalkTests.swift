import JobProtocol
import TestSupport
import Testing

@Suite struct LinkWalkTests {
    /// Returns a tree of directories, files (without a target) and links.
    private func walk(_ links: [String: String], files: [String] = [], root: String? = nil, limit: Int = 10_000)
        -> LinkWalk
    {
        var entries: [[UInt8]: LinkWalk.Entry] = [:]
        for (path, target) in links { entries[Array(path.utf8)] = .link(target: Array(target.utf8)) }
        for path in files { entries[Array(path.utf8)] = .file }
        for path in Array(entries.keys) {
            var above = path[...]
            while let slash = above.lastIndex(of: UInt8(ascii: "/")) {
                above = above[..<slash]
                entries[Array(above)] = .directory
            }
        }
        return LinkWalk(root: root.map { Array($0.utf8) }, limit: limit) { [entries] in entries[$0] }
    }

    private func end(_ path: String, _ links: [String: String], files: [String] = []) -> LinkWalk.End {
        var walk = walk(links, files: files)
        return walk.end(of: Array(path.utf8))
    }

    @Test(arguments: [
        ("lib.so", ["lib.so": "lib.so.1", "lib.so.1": "lib.so.1.2"], "lib.so.1.2"),
        ("a/b", ["a/b": "../c/d"], "c/d"), ("a/b", ["a/b": "./.././/c/d"], "c/d"),
        // The target passes a link to a directory, below which `..` is that directory's parent.
        ("b", ["b": "p/q/a/c/d", "p/q/a": "../.."], "c/d"), ("d/e", ["d": "c"], "c/e"),
    ])
    func testThatItFindsTheFile(_ path: String, _ links: [String: String], _ file: String) {
        #expect(end(path, links, files: ["lib.so.1.2", "c/d", "c/e"]) == .file(Array(file.utf8)))
    }

    @Test(
        .proves(
            .issueHistory,
            "No link in an archive leads out of it, not through other links either, nor on file systems that ignore case"
        ),
        arguments: [
            ("a", ["a": "/etc"]), ("a", ["a": ".."]), ("a/b", ["a/b": "../.."]), ("a/b", ["a/b": "c/../../../x"]),
            // Neither text leaves the tree, but both together do.
            ("b", ["b": "p/q/a/../x", "p/q/a": "../.."]), ("b", ["b": "a/..", "a": "."]),
            ("c", ["c": "b", "b": "a", "a": "../x"]), ("b", ["a": "../../..", "b": "a/x"]),
            // The target does not exist, so only the names decide.
            ("a", ["a": "missing/../../x"]),
        ])
    func testThatItSeesALinkLeaveTheTree(_ path: String, _ links: [String: String]) {
        #expect(end(path, links, files: ["p/q/f"]) == .outside)
    }

    @Test(arguments: [
        ("a", ["a": "b"], LinkWalk.End.missing), ("a", ["a": "file/.."], .missing), ("a", ["a": "file/x"], .missing),
        ("a", ["a": "missing/.."], .missing), ("a", ["a": "d/.."], .directory([])),
        ("a", ["a": "d"], .directory(Array("d".utf8))),
        ("a", ["a": "a"], .endless), ("a", ["a": "b/x", "b": "a/y"], .endless),
    ])
    func testThatItSaysWhatElseItFinds(_ path: String, _ links: [String: String], _ expected: LinkWalk.End) {
        #expect(end(path, links, files: ["file", "d/x"]) == expected)
    }

    @Test(
        .proves(
            .issueHistory,
            "No link in an archive leads out of it, not through other links either, nor on file systems that ignore case"
        ))
    func testThatItFollowsAsManyLinksAsTheKernel() {
        // given: a chain of 40 links, and one of 41
        let links = Dictionary(uniqueKeysWithValues: (1...41).map { ("l\($0)", $0 == 1 ? "file" : "l\($0 - 1)") })
        // when, then
        #expect(end("l40", links, files: ["file"]) == .file(Array("file".utf8)))
        #expect(end("l41", links, files: ["file"]) == .endless)
    }

    @Test func testThatAnAbsolutePathOfTheRootIsOneOfTheTree() {
        // given
        let links = [
            "a": "/martlet/kit/file", "b": "/martlet/kit2/file", "c": "/martlet/kit", "d": "/martlet/kit/../x",
        ]
        var walk = walk(links, files: ["file"], root: "/martlet/kit")
        // when
        let ends = ["a", "b", "c", "d"].map { walk.end(of: Array($0.utf8)) }
        // then
        #expect(ends == [.file(Array("file".utf8)), .outside, .directory([]), .outside])
    }

    @Test func testThatAllWaysTogetherHaveALimit() {
        // given
        var walk = walk(["a": "b/c/d"], files: ["b/c/d"], limit: 7)
        // when, then: each link's target has four components
        #expect(walk.end(of: Array("a".utf8)) == .file(Array("b/c/d".utf8)))
        #expect(walk.end(of: Array("a".utf8)) == .endless)
    }
}
