import Foundation
import TestSupport
import Testing

/// Row D2: no inode is left, although there is space.
@Suite(.threat("D2")) struct D2InodesTests {
    @Test(
        .proves(
            .jobs,
            "If the disk is full, idle workspaces are removed and a reserve is released; waiting integrations, pages, `/health` and metrics say so"
        ),
        .proves(
            .jobs,
            "On a full or read-only disk, without inodes, and with too few descriptors, a push gets 503 and is accepted later (D1–D3)"
        ), .smallDisk, .program("curl"))
    func testThatAnIntegrationWaitsForFilesAndIsGreenThen() async throws {
        try await withDaemon(isStarted: false) { daemon in
            // given
            try await daemon.onDisk(mount: ["-t", "tmpfs", "-o", "size=64m,nr_inodes=20000", "tmpfs"]) {
                try await use(daemon)
            }
        }
    }

    private func use(_ daemon: Daemon) async throws {
        try await daemon.start()
        try daemon.directory.write("go", "")
        try await WaitingProject.push(daemon)
        expectContains(try await daemon.completion(of: 1), #""result":"succeeded""#)
        let full = daemon.state + "/full"
        try FileManager.default.createDirectory(atPath: full, withIntermediateDirectories: false)
        var count = 0
        while FileManager.default.createFile(atPath: "\(full)/\(count)", contents: nil) { count += 1 }
        #expect(count > 100)

        // when: a job's directory cannot be made
        #expect(try await daemon.martlet("integrate", "kit").status == 0)

        // then: it waits, which every view shows, because a row needs no inode
        await until("it says that it waits") {
            let body = try? await daemon.get("/api/v1/bots/kit/integrations/2").body
            return body?.contains("waits: the disk is full: \(daemon.state)/workspaces has fewer than 200 files left")
                == true
        }
        expectContains(try await daemon.get("/health").body, #""status":"disk full""#)
        expectContains(try await daemon.get("/").body, "fewer than 200 files left")
        expectContains(try await daemon.get("/metrics").body, "martlet_disk_full 1")
        #expect(try await daemon.push(delivery: "inodes") == 202)
        try FileManager.default.removeItem(atPath: full)
        expectContains(try await daemon.completion(of: 2), #""result":"succeeded""#)
        expectContains(try await daemon.get("/health").body, #""status":"ok""#)
    }
}
