import Foundation
import TestSupport
import Testing

/// Row D2: the state's file system becomes read-only while the daemon runs, as ext4 does after an error of the disk.
@Suite(.threat("D2")) struct D2ReadOnlyTests {
    @Test(
        .proves(
            .jobs,
            "On a full or read-only disk, without inodes, and with too few descriptors, a push gets 503 and is accepted later (D1–D3)"
        ), .ownDisk, .program("curl"))
    func testThatNothingIsAcceptedAndNothingIsLost() async throws {
        try await withDaemon(isStarted: false) { daemon in
            // given
            let image = daemon.directory.path("disk")
            try await runExpectingSuccess(["truncate", "-s", "128M", image])
            try await runExpectingSuccess(["mkfs.ext4", "-q", image])
            try await daemon.onDisk(mount: ["-o", "loop", image]) { try await use(daemon, on: image) }
        }
    }

    private func use(_ daemon: Daemon, on image: String) async throws {
        try await daemon.start()
        try daemon.directory.write("go", "")
        try await WaitingProject.push(daemon)
        expectContains(try await daemon.completion(of: 1), #""result":"succeeded""#)
        #expect(try await daemon.push(delivery: "before") == 202)

        // when: ext4 does this by itself after an error (ext4(5), "errors=remount-ro")
        try await runExpectingSuccess(["mount", "-o", "remount,abort", daemon.state])

        // then: stored data can be read, and no more is accepted
        #expect(try await daemon.push(delivery: "meanwhile") == 503)
        #expect(try await daemon.martlet("integrate", "kit").status != 0)
        #expect(try await daemon.get("/health").status == 200)
        expectContains(try await daemon.get("/api/v1/bots/kit/integrations/1").body, #""result":"succeeded""#)

        // when: it is mounted again
        try await daemon.stop()
        await daemon.endJobs()
        // A process that has exited may still hold a file of it for a moment.
        try await until("it is unmounted") { try await run(["umount", daemon.state]).status == 0 }
        // A sandbox of any test that began meanwhile holds the file system as long as it lives. It would be mounted read-only, as it was.
        try await until("nobody has it") { try await runExpectingSuccess(["losetup", "-j", image]).isEmpty }
        try await runExpectingSuccess(["mount", "-o", "loop", image, daemon.state])
        try await daemon.start()

        // then
        let deliveries = try await daemon.get("/api/v1/deliveries?limit=200").body
        expectContains(deliveries, #""before""#)
        #expect(!deliveries.contains(#""meanwhile""#))
        #expect(try await daemon.push(delivery: "meanwhile") == 202)
        #expect(try await daemon.martlet("integrate", "kit").status == 0)
        expectContains(try await daemon.completion(of: 2), #""result":"succeeded""#)
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test if an ext4 file system in a file cannot be mounted.
    fileprivate static var ownDisk: Self {
        .enabled("no ext4 file system in a file can be mounted here") {
            guard TestTools.find("mkfs.ext4") != nil else { return false }
            return try await withTemporaryDirectory { directory in
                try directory.makeDirectory("disk")
                let image = directory.path("image")
                try await runExpectingSuccess(["truncate", "-s", "8M", image])
                try await runExpectingSuccess(["mkfs.ext4", "-q", image])
                let mount = try await run(["mount", "-o", "loop", image, directory.path("disk")])
                if mount.status == 0 { try await runExpectingSuccess(["umount", directory.path("disk")]) }
                return mount.status == 0
            }
        }
    }
}
