import Foundation
import TestSupport
import Testing

/// Row D2: no inode is left, although there is space.
@Suite(.threat("D2")) struct D2InodesTests {
    @Test(.smallDisk, .program("curl")) func testThatTheFaultIsNamedAsOursAndTheNextIsGreen() async throws {
        try await withDaemon(isStarted: false) { daemon in
            // given
            try await daemon.onDisk(mount: ["-t", "tmpfs", "-o", "size=64m,nr_inodes=2000", "tmpfs"]) {
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

        // then: it ends by a fault that is none of the commit's, and a row needs no inode
        let failed = try await daemon.completion(of: 2)
        expectContains(failed, #""result":"internal-error""#)
        expectContains(failed, "No space left on device")
        #expect(try await daemon.push(delivery: "inodes") == 202)
        try FileManager.default.removeItem(atPath: full)
        #expect(try await daemon.martlet("integrate", "kit").status == 0)
        expectContains(try await daemon.completion(of: 3), #""result":"succeeded""#)
    }
}
