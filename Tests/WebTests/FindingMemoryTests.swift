import Basics
import TestSupport
import Testing

@testable import Web

@Suite struct FindingMemoryTests {
    /// Files that can be exchanged, and a count of how often they were read.
    private final class Files: Sendable {
        let memory = FindingMemory<Int>(limit: 2)
        let statuses = Locked<[FileStatus?]>([])
        let reads = Locked(0)

        /// - Parameter reading: Done while they are read.
        func find(at place: String = "a", isAnew: Bool = false, reading: () -> Void = {}) -> Int {
            memory.finding(
                at: place, isAnew: isAnew, statuses: { statuses.value },
                find: {
                    reading()
                    return reads.withLock { count in
                        count += 1
                        return count
                    }
                })
        }

        /// One more of them is absent.
        func exchange() { statuses.withLock { $0.append(nil) } }
    }

    @Test func testThatWhatIsKnownIsFoundAgainWhenAFileIsAnotherOrItIsAskedFor() {
        // given
        let files = Files()

        // when
        let found = (files.find(), files.find())
        files.exchange()
        let after = (files.find(), files.find())
        let anew = (files.find(isAnew: true), files.find())

        // then
        #expect(found == (1, 1))
        #expect(after == (2, 2))
        #expect(anew == (3, 3))
    }

    @Test func testThatWhatWasExchangedMeanwhileIsReadOnceMore() {
        // given
        let files = Files()

        // when
        let found = (files.find(reading: { files.exchange() }), files.find(), files.find())

        // then
        #expect(found == (1, 2, 2))
    }

    @Test func testThatOnlySoManyPlacesAreKnown() {
        // given
        let files = Files()
        for place in ["a", "b"] { _ = files.find(at: place) }

        // when
        let within = files.find(at: "a")
        _ = files.find(at: "c")

        // then
        #expect(within == 1)
        #expect(files.find(at: "c") == 3)
        #expect(files.find(at: "a") == 4)
    }
}
