import Model
import TestSupport
import Testing

@Suite struct TestFilterTests {
    @Test(
        .proves(
            .programs,
            "`rerun --tests` also for pytest, go test, cargo test, ctest, node's runner and Maven, and for recipes that say how"
        ),
        arguments: [
            (
                TestFilter.swift, "KitTests.Outer/Inner", "works(value:)",
                #"^(KitTests[./]Outer[./]Inner[./]works\(value:\))($|/)"#
            ),
            (.pytest, "tests.test_price.TestTotal", "test_sum[1-a b]", "(TestTotal and test_sum)"),
            (.pytest, "", "test_sum", "test_sum"),
            (.go, "example.org/kit/price", "TestTotal/of_none", "^(TestTotal)$"),
            (.cargo, "", "price::tests::total", "--exact price::tests::total"),
            (.ctest, "", "total (1+1)", #"^(total \(1\+1\))$"#),
            (.node, "price", "adds [a] $", #"^adds \[a\] \$$"#),
            (.maven, "org.acme.PriceTest", "total(int)[1]", "org.acme.PriceTest#total*"),
            (.command, "price", "adds", "price/adds"),
        ])
    func testThatAToolGetsANameInItsSyntax(_ kind: TestFilter, _ suite: String, _ name: String, _ filter: String) {
        let (made, unnamed) = kind.filter(for: [(suite, name)])
        #expect(made == filter)
        #expect(unnamed.isEmpty)
    }

    @Test func testThatSeveralNamesAreOneFilter() {
        // given
        let tests = [(suite: "a.B", name: "one"), (suite: "a.B", name: "two"), (suite: "a.B", name: "one")]
        // then
        #expect(TestFilter.swift.filter(for: tests).filter == "^(a[./]B[./]one|a[./]B[./]two)($|/)")
        #expect(TestFilter.pytest.filter(for: tests).filter == "(B and one) or (B and two)")
        #expect(TestFilter.go.filter(for: tests).filter == "^(one|two)$")
        #expect(TestFilter.ctest.filter(for: tests).filter == "^(one|two)$")
        #expect(TestFilter.cargo.filter(for: tests).filter == "--exact one two")
        #expect(TestFilter.node.filter(for: tests).filter == "^one$\n^two$")
        #expect(TestFilter.maven.filter(for: tests).filter == "a.B#one*,a.B#two*")
    }

    @Test(arguments: [
        (TestFilter.pytest, "tests", "not"), (.pytest, "tests", "a test with blanks"), (.go, "kit", "(package)"),
        (.cargo, "", "--list"),
        (.cargo, "", "src/lib.rs - total (line 3)"), (.maven, "a b", "one"), (.maven, "", "one"),
        (.command, "a", "two\nlines"),
        (.swift, "a\u{1B}", "b"),
    ])
    func testThatWhatCannotBeNamedIsSaid(_ kind: TestFilter, _ suite: String, _ name: String) {
        let (made, unnamed) = kind.filter(for: [(suite, name)])
        #expect(made == nil)
        #expect(unnamed.map(\.name) == [name])
    }

    @Test func testThatAFilterBecomesArguments() {
        #expect(TestFilter.swift.arguments("-x", after: []) == ["--filter=-x"])
        #expect(TestFilter.go.arguments("a b", after: []) == ["-run=a b"])
        #expect(TestFilter.cargo.arguments("a b", after: ["--release"]) == ["--", "a", "b"])
        #expect(TestFilter.cargo.arguments("--exact a b", after: []) == ["--", "--exact", "a", "b"])
        #expect(TestFilter.cargo.arguments("a", after: ["--", "--nocapture"]) == ["a"])
        #expect(TestFilter.ctest.arguments("a", after: []) == ["--tests-regex", "a"])
        #expect(TestFilter.maven.arguments("A#b", after: []).first == "-Dtest=A#b")
        #expect(TestFilter.pytest.arguments("a", after: []).isEmpty && TestFilter.pytest.isInEnvironment)
    }
}
