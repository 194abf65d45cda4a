import Glibc
import JobProtocol
import TestSupport
import Testing

/// The reason why jobs cannot be sandboxed, derived from the kernel's settings.
@Suite struct SandboxFindingTests {
    @Test(arguments: [
        SandboxFinding(works: true, reason: nil, limits: .cgroup2),
        SandboxFinding(works: true, reason: nil, limits: .cgroup2, networkReason: "none \"here\"", isLasting: true),
        SandboxFinding(works: false, reason: "why \"not\"\n", limits: .rlimit),
        SandboxFinding(works: false, reason: "why", limits: .cgroup1, isLasting: true),
    ])
    func testThatItSurvivesItsLine(finding: SandboxFinding) throws {
        expectNoDifference(try SandboxFinding(json: finding.json()), finding)
    }

    @Test(
        .proves(
            .jobs,
            "If steps cannot have their own network, pages, `doctor` and the log say why and what to install; `loopback` allows or forbids the host's loopback"
        ))
    func testThatALauncherThatSaysNothingOfTheNetworkHasNoneToGive() throws {
        let finding = try SandboxFinding(json: Array(#"{"works":true,"limits":"cgroup2"}"#.utf8))
        #expect(finding.networkReason == "the launcher is of an older version; restart it, and the service")
        #expect(!finding.isWhole)
    }

    @Test(
        .proves(
            .jobs,
            "If steps cannot have their own network, pages, `doctor` and the log say why and what to install; `loopback` allows or forbids the host's loopback"
        ),
        arguments: [
            ("open(\"/dev/net/tun\"): Permission denied; child failed(1)", true),
            ("open(\"/dev/net/tun\"): No such file or directory; child failed(1)", true),
            ("it said nothing within 10 s", false),
        ])
    func testThatWhatANetworkNeedsIsSaid(complaint: String, isAdvised: Bool) {
        let reason = SandboxFinding.networkReason(complaint: complaint)
        #expect(reason.contains(complaint))
        #expect(reason.contains("`chmod 0666 /dev/net/tun`") == isAdvised)
        #expect(SandboxFinding.isNetworkLasting(complaint: complaint) == isAdvised)
    }

    @Test(
        .proves(
            .jobs,
            "The host's loopback is out of reach of every sandboxed step, also with the network and on any interface; other hosts can be reached"
        ), arguments: [(EOPNOTSUPP, true), (EAFNOSUPPORT, true), (EPERM, false), (EAGAIN, false)])
    func testThatAKernelThatCannotKeepTheLoopbackAwayIsSaid(number: Int32, isLasting: Bool) {
        let reason = SandboxFinding.destinationsReason(number: number)
        #expect(reason.contains("kept from the machine's loopback here: \(String(cString: strerror(number)))"))
        #expect(reason.contains("CONFIG_IP_MULTIPLE_TABLES") == isLasting)
        #expect(SandboxFinding.isDestinationsLasting(number: number) == isLasting)
    }

    @Test(arguments: ["{}", #"{"works":true}"#, #"{"works":true,"limits":"some"}"#, "", "bwrap: no"])
    func testThatAnotherLineIsRefused(text: String) {
        #expect(throws: JobProtocolError.self) { try SandboxFinding(json: Array(text.utf8)) }
    }

    @Test(
        .proves(.jobs, "Whether a sandbox works here, why not, and what to install or set"),
        arguments: [
            (["kernel/unprivileged_userns_clone": "0"], "`sysctl -w kernel.unprivileged_userns_clone=1`"),
            (["user/max_user_namespaces": "0"], "`sysctl -w user.max_user_namespaces=10000`"),
            (
                ["kernel/apparmor_restrict_unprivileged_userns": "1", "kernel/unprivileged_userns_clone": "1"],
                "kernel.apparmor_restrict_unprivileged_userns=0"
            ),
            (["user/max_user_namespaces": "9"], "bubblewrap cannot make a sandbox here: it said no"),
            ([:], "bubblewrap cannot make a sandbox here: it said no"),
        ])
    func testThatItNamesTheSettingAndWhatToDo(settings: [String: String], words: String) {
        let reason = SandboxFinding.reason(complaint: "it said no") { settings[$0] }
        #expect(reason.contains(words), "\(reason)")
    }

    @Test(
        .proves(
            .sandbox,
            "What may pass and keeps it from working, or a launcher from trying it, is asked again before it counts; what lasts is not"
        ),
        arguments: [
            "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user",
            "bwrap: Creating new namespace failed, likely because the kernel does not support user namespaces.",
            "bwrap: setting up uid map: Permission denied",
            "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
            "bwrap: Unknown option --clearenv",
        ])
    func testThatWhatIsForbiddenOrUnknownLasts(complaint: String) {
        #expect(SandboxFinding.isLasting(complaint: complaint) { _ in nil })
    }

    @Test(
        .proves(
            .sandbox,
            "What may pass and keeps it from working, or a launcher from trying it, is asked again before it counts; what lasts is not"
        ),
        arguments: [
            "bwrap: Creating new namespace failed: Resource temporarily unavailable", "it said nothing within 10 s",
            "bwrap: Can't create file at /a: Cannot allocate memory",
            "bwrap: pipe failed: Too many open files in system",
            "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
        ])
    func testThatWhatMayPassLastsOnlyWhereTheKernelsSettingsSaySo(complaint: String) {
        #expect(!SandboxFinding.isLasting(complaint: complaint) { $0 == "user/max_user_namespaces" ? "100" : nil })
        for name in ["user/max_user_namespaces", "kernel/unprivileged_userns_clone"] {
            #expect(SandboxFinding.isLasting(complaint: complaint) { $0 == name ? "0" : nil })
        }
    }
}
