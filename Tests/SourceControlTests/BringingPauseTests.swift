import Testing

@testable import SourceControl

/// The pauses between scans that try to fetch what an earlier look could not.
@Suite struct BringingPauseTests {
    /// Returns the number of looks that fetch nothing until one may try again.
    private static func pause(_ memory: ListMemory) -> Int {
        var count = 0
        while !memory.mayBring(), count < 5000 { count += 1 }
        return count
    }

    @Test func testThatPausesDoubleUpToALimit() {
        // given
        let memory = ListMemory()
        #expect(memory.mayBring())

        // when
        let pauses = (1...9).map { _ in
            memory.noteFailedBringing()
            return Self.pause(memory)
        }

        // then
        #expect(pauses == [10, 20, 40, 80, 160, 320, 640, 1000, 1000])
    }

    /// A fetch counts, too.
    @Test func testThatWhatIsHereMakesPausesShortAgain() {
        // given
        let memory = ListMemory()
        for _ in 1...5 { memory.noteFailedBringing() }

        // when
        memory.noteBrought()

        // then
        #expect(Self.pause(memory) == 10)
        memory.noteFailedBringing()
        #expect(Self.pause(memory) == 10)
    }
}
