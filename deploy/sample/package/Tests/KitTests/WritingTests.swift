import Kit
import Testing

@Suite struct WritingTests {
    @Test func testThatItWritesOneLetter() {
        #expect(RomanNumeral(1)?.description == "I")
    }

    @Test func testThatItRepeatsLetters() {
        #expect(RomanNumeral(3)?.description == "III")
    }

    @Test func testThatItSubtracts() {
        #expect(RomanNumeral(4)?.description == "IV")
    }

    @Test func testThatItWritesAYear() {
        #expect(RomanNumeral(1994)?.description == "MCMXCIV")
    }

    @Test func testThatItWritesTheGreatest() {
        #expect(RomanNumeral(3999)?.description == "MMMCMXCIX")
    }

    @Test func testThatItRefusesNothing() {
        #expect(RomanNumeral(0) == nil)
    }

    @Test func testThatItRefusesWhatIsTooGreat() {
        #expect(RomanNumeral(4000) == nil)
    }
}
