import Kit
import XCTest

final class ReadingTests: XCTestCase {
    func testThatItReadsAYear() {
        XCTAssertEqual(RomanNumeral("MCMXCIV")?.value, 1994)
    }

    func testThatItReadsLowerCase() {
        XCTAssertEqual(RomanNumeral("xlii")?.value, 42)
    }

    func testThatItRefusesALongerFormThanNeeded() {
        XCTAssertNil(RomanNumeral("IIII"))
    }

    func testThatItRefusesOtherLetters() {
        XCTAssertNil(RomanNumeral("MIX-UP"))
    }

    func testThatWhatItWritesIsReadAgain() {
        for value in RomanNumeral.range {
            let numeral = RomanNumeral(value)
            XCTAssertEqual(RomanNumeral(numeral?.description ?? ""), numeral)
        }
    }
}
