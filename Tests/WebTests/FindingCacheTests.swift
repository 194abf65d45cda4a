import Basics
import TestSupport
import Testing

@testable import Web

@Suite(
    .proves(
        .releases,
        "Registry: A version's page: whether the signature fits and whose key it is; which service made it, of how many inputs"
    ))
struct FindingCacheTests {
    /// Files that can be replaced, with a count of their reads.
    private final class Files: Sendable {
        let cache = FindingCache<Int>(limit: 2)
        let statuses = Locked<[FileStatus?]>([])
        let reads = Locked(0)

        /// - Parameter reading: Runs while the files are read.
        func find(at place: String = "a", isAnew: Bool = false, reading: () -> Void = {}) -> Int {
            cache.finding(
                at: place, isAnew: isAnew, statuses: { statuses.value },
                find: {
                    reading()
                    return reads.withLock { count in
                        count += 1
                        return count
                    }
                })
        }

        /// Makes one more of them absent.
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
