import TestSupport
import Testing

@testable import Reports

@Suite struct SourceRootTests {
    private let root = SourceRoot(mountedAt: "/martlet/kit", others: ["/var/lib/w/kit/"])

    @Test(arguments: [
        ("/martlet/kit/a.c", "a.c"), ("/martlet/kit//b/./a.c", "b/a.c"), ("/martlet/kit/b/../a.c", "a.c"),
        ("/var/lib/w/kit/a.c", "a.c"), ("a.c", "a.c"), ("./a.c", "a.c"), ("b/../a.c", "a.c"),
        ("file:///martlet/kit/a%20b.c", "a b.c"), ("file://localhost/martlet/kit/a.c", "a.c"),
        ("file:/martlet/kit/a.c", "a.c"), ("/martlet/kit/ä.c", "ä.c"),
    ])
    func testThatItIsRelativeToTheRoot(path: String, relative: String) {
        #expect(root.relative(path) == relative)
        #expect(root.shown(path) == relative)
    }

    @Test(
        .threat("P4"),
        arguments: [
            "", "/", "/martlet/kit", "/martlet/kit/", "/martlet/kitchen/a.c", "/martlet/kit/../x/a.c", "../a.c",
            "a/../../b.c", "..",
            ".", "/etc/passwd", "file:///etc/passwd", "a\u{0}b", "/martlet/kit/../../../../etc/passwd",
        ])
    func testThatWhatLiesElsewhereIsNotRelative(path: String) {
        #expect(root.relative(path) == nil)
    }

    @Test func testThatLongPathsAreCut() {
        #expect(root.relative(String(repeating: "a", count: 5000)) == nil)
        #expect(root.shown(String(repeating: "ä", count: 5000)).utf8.count <= SourceRoot.maximumPathBytes)
    }
}
