import Basics
import TestSupport
import Testing

@Suite struct FreeSpaceTests {
    @Test(.proves(.notices, "`martlet doctor` says how much the disk of the state has free"))
    func testThatItIsBlocksTimesTheirSize() {
        #expect(FreeSpace(blocks: 12_845_056, blockSize: 4096).bytes == 49 << 30)
        #expect(FreeSpace(blocks: 3, blockSize: 512).bytes == 1536)
        #expect(FreeSpace(blocks: 0, blockSize: 4096).bytes == 0)
    }

    @Test func testThatNoNumberIsTooLarge() {
        #expect(FreeSpace(blocks: .max, blockSize: 4096).bytes == .max)
        #expect(FreeSpace(blocks: .max, blockSize: 1).bytes == .max)
    }

    @Test func testThatItKnowsAPathAndNoOther() async throws {
        try await withTemporaryDirectory { directory in
            #expect((FreeSpace(at: directory.path)?.bytes ?? 0) > 1 << 20)
            #expect(FreeSpace(at: directory.path("nowhere")) == nil)
        }
    }
}
