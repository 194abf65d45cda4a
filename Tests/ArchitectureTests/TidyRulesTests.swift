import Testing

/// Shows each rule of form and language a text that breaks it, and one that does not.
@Suite struct TidyRulesTests {
    @Test func testThatALongLineIsFound() {
        let long = String(repeating: "a", count: 151)
        let text = """
            let a = b
            // \(long)
            let c = "\(long)"
            let d = #"{"\(long)":"\(long)"}"#
            let e = ""\u{22}
                \(long)
                ""\u{22}
            \(long.dropLast())
            \(long)
            """
        #expect(Tidy.longLines(in: text) == [2, 9])
    }

    @Test func testThatALongFunctionIsFound() {
        let body = { (lines: Int) in Array(repeating: "        a()\n\n", count: lines / 2).joined() }
        let text = """
            struct A {
                func first() {
            \(body(68))    }

                package init(
                    a: Int
                ) throws {
            \(body(68))    }

                @Test(.timeLimit(.minutes(1))) func second() async {
            \(body(70))    }

                func third() -> Int { 3 }

                let a: @Sendable () -> Void
            \(body(80))}
            """
        let found = Tidy.longFunctions(in: text)
        #expect(found.map(\.word) == ["init", "second"])
        #expect(found.map(\.line) == [73, 146])
    }

    @Test func testThatNilThatIsCalledNothingIsFound() {
        let text = """
            /// - Returns: nothing if it is missing.
            /// The file's bytes, or nothing.
            /// Nothing when it is not ours.
            /// All of it; nothing where it is empty.
            /// Returns nothing
            /// and says so.
            /// `nil` if it is missing. It changes nothing when it fails.
            /// All or nothing.
            /// Nothing is lost.
            // or nothing
            """
        #expect(Tidy.nothingForNil(in: text) == [1, 2, 3, 4, 5])
    }

    @Test func testThatALongSentenceIsFound() {
        let words = { (count: Int) in Array(repeating: "word", count: count).joined(separator: " ") }
        let page = """
            # \(words(50))

            \(words(30))
            \(words(11)).

            - \(words(40)). Also \(words(39)).
            - \(words(30)):
              \(words(30)), `\(words(20))`.

            | \(words(60)) |

            ```
            \(words(60))
            ```
            1. \(words(41))!
            """
        #expect(Tidy.longSentences(in: page).map(\.line) == [3, 15])
    }

    @Test func testThatABritishFormIsFound() {
        let text = "let colourOfIt = 1\n// It is recognised.\ncase CANCELLED\nlet color = \"canceled\"\n// Favour"
        #expect(
            TidyWords.british(in: text).map(\.word) == [
                "colour: write color", "recognised: write recognized", "favour: write favor",
            ])
    }

    @Test func testThatAnArchaicWordIsFound() {
        let text = "/// It is made anew.\n// It is told of\nlet anew = \"so many\"\n/// One of whatever is new."
        #expect(TidyWords.archaic(in: text, isPage: false).map(\.line) == [1, 2])
        #expect(TidyWords.archaic(in: text, isPage: true).map(\.line) == [1, 2, 3, 3])
    }

    @Test func testThatAReplacedNameIsFound() {
        let replaced = [TidyWords.Replaced("may ask", by: "isOpen"), TidyWords.Replaced("bell", by: "signal")]
        let text = """
            func mayAsk() -> Bool
            final class BellTower {
            static let label = bell
            case mayAskAgain(String)
            func testThatTheBellRings() {
            // let bell = 1
            var maySay, asked
            """
        let found = TidyWords.replaced(in: text, replaced)
        #expect(found.map(\.line) == [1, 2, 4])
        #expect(found.map(\.word) == ["mayAsk: write isOpen", "BellTower: write signal", "mayAskAgain: write isOpen"])
    }

    @Test func testThatNamesAreTakenApart() {
        #expect(TidyWords.words(of: "aURLOfTwo_words: HTTP") == ["a", "urlof", "two", "words", "http"])
        #expect(TidyWords.words(of: "aName HTTP A", withCapitals: false) == ["a", "name", "a"])
        #expect(TidyWords.words(of: "aName", areSplit: false) == ["aname"])
    }

    @Test func testThatIssueNumbersAreFound() {
        let text = """
            /// See issue #12.
            // A time may precede `#12`, or kit#40.
            let text = "see #12"
            # fixes #7
            """
        #expect(Tidy.issueNumbers(in: text).map(\.line) == [1, 4])
    }
}
