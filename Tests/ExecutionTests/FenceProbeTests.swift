import Execution
import JobProtocol
import TestSupport
import Testing

/// Whether fences work here, as the daemon asks.
@Suite(.program("bwrap")) struct FenceProbeTests {
    @Test func testThatItFindsThatAFenceWorks() async throws {
        let finding = try await FenceProbe(supervisor: TestTools.builtProduct("martlet-supervisor")).find()
        #expect(finding.works, "\(finding.reason ?? "")")
        #expect(finding.reason == nil)
    }

    @Test func testThatASupervisorThatIsNotThereIsAnError() async throws {
        await expectRejection(ExecutionError.self, \.code, .notStarted) {
            _ = try await FenceProbe(supervisor: "/nonexistent/martlet-supervisor").find()
        }
    }

    /// In a namespace of its own, in which no other can be made.
    @Test func testThatItSaysWhatSwitchedUserNamespacesOff() async throws {
        let supervisor = try TestTools.builtProduct("martlet-supervisor")
        // when
        let result = try await run([
            "unshare", "-Ur", "sh", "-c",
            "echo 0 > /proc/sys/user/max_user_namespaces; exec \(supervisor) --probe-fence",
        ])
        // then
        let finding = try FenceFinding(json: result.standardOutput.dropLast())
        #expect(result.status == 1)
        #expect(!finding.works)
        #expect(
            finding.reason?.contains("sysctl -w user.max_user_namespaces=10000") ?? false, "\(finding.reason ?? "")")
    }

    /// Where /usr has no bwrap.
    @Test func testThatItSaysWhatToInstall() async throws {
        try await withTemporaryDirectory { directory in
            let supervisor = try TestTools.builtProduct("martlet-supervisor")
            try await runExpectingSuccess(["cp", supervisor, directory.path("supervisor")])
            // when
            let result = try await run([
                "unshare", "-Urm", "sh", "-c",
                "mount -t tmpfs none /usr/bin 2>/dev/null; exec \(directory.path)/supervisor --probe-fence",
            ])
            // then
            let finding = try FenceFinding(json: result.standardOutput.dropLast())
            #expect(result.status == 1)
            #expect(finding.reason?.contains("apt-get install bubblewrap") ?? false, "\(finding.reason ?? "")")
        }
    }
}
