import JobProtocol
import TestSupport
import Testing

/// Why jobs cannot be fenced, told from the kernel's settings.
@Suite struct FenceFindingTests {
    @Test(arguments: [
        FenceFinding(works: true, reason: nil, limits: .cgroup2),
        FenceFinding(works: false, reason: "why \"not\"\n", limits: .rlimit),
    ])
    func testThatItSurvivesItsLine(finding: FenceFinding) throws {
        expectNoDifference(try FenceFinding(json: finding.json()), finding)
    }

    @Test(arguments: ["{}", #"{"works":true}"#, #"{"works":true,"limits":"some"}"#, "", "bwrap: no"])
    func testThatAnotherLineIsRefused(text: String) {
        #expect(throws: JobProtocolError.self) { try FenceFinding(json: Array(text.utf8)) }
    }

    @Test(arguments: [
        (["kernel/unprivileged_userns_clone": "0"], "`sysctl -w kernel.unprivileged_userns_clone=1`"),
        (["user/max_user_namespaces": "0"], "`sysctl -w user.max_user_namespaces=10000`"),
        (
            ["kernel/apparmor_restrict_unprivileged_userns": "1", "kernel/unprivileged_userns_clone": "1"],
            "kernel.apparmor_restrict_unprivileged_userns=0"
        ),
        (["user/max_user_namespaces": "9"], "bubblewrap cannot make a fence here: it said no"),
        ([:], "bubblewrap cannot make a fence here: it said no"),
    ])
    func testThatItNamesTheSettingAndWhatToDo(settings: [String: String], words: String) {
        let reason = FenceFinding.reason(complaint: "it said no") { settings[$0] }
        #expect(reason.contains(words), "\(reason)")
    }
}
