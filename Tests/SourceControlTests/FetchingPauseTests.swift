import TestSupport
import Testing

@testable import SourceControl

/// The pauses between scans that try to fetch what an earlier look could not.
@Suite(
    .proves(
        .sourceControl,
        "A look fetches the new commits that integrations need, in one pack. If it cannot, it lists nevertheless; large, slow and first fetches are left to the fetch"
    ))
struct FetchingPauseTests {
    /// Returns the number of looks that fetch nothing until one may try again.
    private static func pause(_ listCache: RefListCache) -> Int {
        var count = 0
        while !listCache.mayFetch(), count < 5000 { count += 1 }
        return count
    }

    @Test func testThatPausesDoubleUpToALimit() {
        // given
        let listCache = RefListCache()
        #expect(listCache.mayFetch())

        // when
        let pauses = (1...9).map { _ in
            listCache.recordFailedFetch()
            return Self.pause(listCache)
        }

        // then
        #expect(pauses == [10, 20, 40, 80, 160, 320, 640, 1000, 1000])
    }

    /// A fetch counts, too.
    @Test func testThatWhatIsHereMakesPausesShortAgain() {
        // given
        let listCache = RefListCache()
        for _ in 1...5 { listCache.recordFailedFetch() }

        // when
        listCache.recordFetched()

        // then
        #expect(Self.pause(listCache) == 10)
        listCache.recordFailedFetch()
        #expect(Self.pause(listCache) == 10)
    }
}
