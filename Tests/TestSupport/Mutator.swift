/// Makes broken inputs from good ones, the same ones for the same seed.
package struct Mutator: RandomNumberGenerator {
    private var state: UInt64

    package init(state: UInt64) { self.state = state }

    /// SplitMix64.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    /// Words that the readers look for, such as TAP's `# SKIP` and `# TODO`, and characters at which they must not fail.
    private static let tokens = [
        "Test Case '", "' started at ", "' passed (", ": error: ", "warning: ", ":0:", ":99999999999999999999:",
        "<testcase ",
        "</testsuite>", "<![CDATA[", "]]>", "<!DOCTYPE", "&#0;", "\u{1B}[", "\u{1B}]", "\"runs\":null", "{", "}", "[",
        "]",
        "null", "-1", "1e999", "\u{0}", "\r", "\n", "\u{FEFF}", "é", "\u{1F600}", "◇ Test ", "✘ Test ", " started.",
        "\"testID\":", " : Test skipped", ">>> referenced by (", "*** Signal ", "at /:::", "{0}", "%", "`", "/", ".",
        " (2)",
        "ok 1 - a", "not ok ", "1..3", "    ", "  ---\n", "  ...\n", "# SKIP", "# TODO", "Bail out!",
        "TAP version 14\n",
        "=== RUN   T\n", "--- FAIL: T (0.1s)\n", "FAIL\tp\t0.1s\n", "running 3 tests\n", "test a ... ok\n",
        "test result: ok. 1 passed; 0 failed; 0 ignored;", "---- a stdout ----\n", "Test project /b\n",
        "1/2 Test #1: a ....   Passed    0.01 sec\n", "***Failed", "==1==ERROR: AddressSanitizer: x on address 0x1\n",
        "    #0 0x1 in f /kit/a.c:1:2\n", "SUMMARY: ", "a.c:1:2: runtime error: x\n", "SF:a\n", "DA:1,1\n",
        "end_of_record\n",
        "a.py:1:1: F401 x\n", " --> a.py:1:1\n", "a.ts(1,2): error TS1: x\n", "\"level\":\"none\"", "\"ruleIndex\":-1",
        "\"uriBaseId\":\"X\"", "<error ", "<line number=\"1\" hits=\"9999999999999999999\"/>",
        "<test-case result='Failed'/>",
    ]

    /// Cuts, flips, repeats and moves parts of an input, and inserts words and parts of another input.
    package mutating func mutated(_ seed: [UInt8], other: [UInt8]) -> [UInt8] {
        var bytes = seed
        for _ in 0...Int.random(in: 0..<8, using: &self) {
            guard !bytes.isEmpty else { break }
            let place = Int.random(in: 0..<bytes.count, using: &self)
            let end = min(bytes.count, place + Int.random(in: 1...400, using: &self))
            switch Int.random(in: 0..<12, using: &self) {
            case 0: bytes = Array(bytes[..<place])
            case 1: bytes[place] = UInt8.random(in: 0...255, using: &self)
            case 2: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            case 3, 4: bytes.insert(contentsOf: (Self.tokens.randomElement(using: &self) ?? "").utf8, at: place)
            case 5: bytes.insert(contentsOf: Array(bytes[place..<end]), at: place)
            case 6: bytes = Array(bytes[place...])
            case 7: bytes.removeSubrange(place..<end)
            case 8 where !other.isEmpty:
                let start = Int.random(in: 0..<other.count, using: &self)
                bytes.insert(contentsOf: other[start..<min(other.count, start + (end - place))], at: place)
            case 9:
                // Writes no number, or one of extreme size, in place of a number.
                guard let digit = bytes[place...].firstIndex(where: { (0x30...0x39).contains($0) }) else { continue }
                let numbers = ["0", "-1", "999999999999999999999", "1e308", "0x10", ""]
                bytes.replaceSubrange(digit...digit, with: Array((numbers.randomElement(using: &self) ?? "").utf8))
            case 10:
                // In a bitstream this is a number of 64 bits and more, at any position.
                let count = Int.random(in: 4...16, using: &self)
                bytes.insert(contentsOf: repeatElement(0xFF, count: count), at: place)
            default: bytes.swapAt(place, end - 1)
            }
        }
        return bytes
    }
}
