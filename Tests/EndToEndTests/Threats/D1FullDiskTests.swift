import Foundation
import TestSupport
import Testing

/// Row D1: a full disk. A job that fills the disk is in `FullDiskTests`.
@Suite(.threat("D1")) struct D1FullDiskTests {
    @Test(
        .proves(
            .jobs,
            "On a full or read-only disk, without inodes, and with too few descriptors, a push gets 503 and is accepted later (D1–D3)"
        ), .smallDisk, .program("curl"))
    func testThatAPushIsRefusedWith503AndTakenAgainWhenThereIsSpace() async throws {
        try await withDaemon(isStarted: false) { daemon in
            // given: a state directory on a disk of its own
            try await daemon.onDisk(mount: ["-t", "tmpfs", "-o", "size=16m", "tmpfs"]) { try await fill(daemon) }
        }
    }

    private func fill(_ daemon: Daemon) async throws {
        try await daemon.start()
        #expect(try await daemon.push(delivery: "first") == 202)
        // It exits when nothing more fits.
        _ = try await run(["dd", "if=/dev/zero", "of=\(daemon.state)/full", "bs=4k"])

        // when
        var accepted = 1
        var refused = 0
        for number in 0..<60 where refused < 3 {
            switch try await daemon.push(delivery: "full-\(number)", updates: 500) {
            case 202: accepted += 1
            case 503: refused += 1
            case let other: Testing.Issue.record("the push \(number) was answered with \(other)")
            }
        }

        // then
        #expect(refused == 3, "it is full")
        #expect(try await daemon.get("/health").status == 200, "it is alive")
        // The disk is looked at each second.
        try await until("it cannot work") { try await daemon.get("/ready").status == 503 }
        let ready = try await daemon.get("/ready")
        expectContains(ready.body, #"{"name":"disk","ready":false,"reason":"the disk has too little room"}"#)
        try FileManager.default.removeItem(atPath: daemon.state + "/full")
        #expect(try await daemon.push(delivery: "again") == 202)
        accepted += 1
        try await until("it is ready again") { try await daemon.get("/ready").status == 200 }
        let deliveries = try await daemon.get("/api/v1/deliveries?limit=200").body
        #expect(
            deliveries.split(separator: #""hook":"push/kit""#).count - 1 == accepted, "all that was accepted is stored")
        try await daemon.stop()
        try await daemon.start()
        #expect(try await daemon.get("/health").status == 200)
    }
}
