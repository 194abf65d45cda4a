import JobProtocol
import TestSupport
import Testing

@Suite struct DiskRoomTests {
    /// Returns a disk with blocks of 4 KiB and as many files as blocks.
    private func room(gibibytes: Int64, freeBytes: Int64, files: Int64 = 1 << 24, freeFiles: Int64 = 1 << 23)
        -> DiskRoom
    {
        DiskRoom(
            blockSize: 4096, blocks: gibibytes << 18, freeBlocks: freeBytes / 4096, files: files, freeFiles: freeFiles)
    }

    @Test(
        .proves(
            .jobs,
            "If the disk is full, idle workspaces are removed and a reserve is released; waiting integrations, pages, `/health` and metrics say so"
        ))
    func testThatALargeDiskKeeps256MebibytesAnd10000Files() {
        #expect(room(gibibytes: 100, freeBytes: 256 << 20).shortage == nil)
        #expect(room(gibibytes: 100, freeBytes: (256 << 20) - 4096).shortage == .bytes(below: 256 << 20))
        #expect(room(gibibytes: 100, freeBytes: 1 << 30, freeFiles: 10_000).shortage == nil)
        #expect(room(gibibytes: 100, freeBytes: 1 << 30, freeFiles: 9999).shortage == .files(below: 10_000))
    }

    @Test func testThatASmallDiskKeepsAHundredth() {
        #expect(room(gibibytes: 1, freeBytes: 11 << 20, files: 700, freeFiles: 64).shortage == nil)
        #expect(room(gibibytes: 1, freeBytes: 11 << 20, files: 700, freeFiles: 63).shortage == .files(below: 64))
        #expect(room(gibibytes: 1, freeBytes: 10 << 20).shortage?.description == "less than 10 MiB left")
    }

    /// Btrfs counts no files, and some network file systems state no size.
    @Test func testThatWhatIsNotCountedIsNeverShort() {
        #expect(room(gibibytes: 100, freeBytes: 1 << 30, files: 0, freeFiles: 0).shortage == nil)
        #expect(DiskRoom(blockSize: 4096, blocks: 0, freeBlocks: 0, files: 0, freeFiles: 0).shortage == nil)
    }

    @Test func testThatAmpleIsTwiceAndCriticalAnEighth() {
        #expect(room(gibibytes: 100, freeBytes: 512 << 20).isAmple)
        #expect(!room(gibibytes: 100, freeBytes: (512 << 20) - 4096).isAmple)
        #expect(room(gibibytes: 100, freeBytes: (512 << 20) - 4096).shortageOfAmple == .bytes(below: 512 << 20))
        #expect(room(gibibytes: 100, freeBytes: 1 << 30, freeFiles: 19_999).shortageOfAmple == .files(below: 20_000))
        #expect(!room(gibibytes: 100, freeBytes: 32 << 20).isCritical)
        #expect(room(gibibytes: 100, freeBytes: (32 << 20) - 4096).isCritical)
        #expect(room(gibibytes: 1, freeBytes: 1 << 28, files: 700, freeFiles: 0).isCritical)
    }

    @Test func testThatAPathsRoomIsThatOfItsDisk() async throws {
        try await withTemporaryDirectory { directory in
            #expect(DiskRoom(at: directory.path) != nil)
            #expect(DiskRoom(at: directory.path("nowhere")) == nil)
        }
    }
}
