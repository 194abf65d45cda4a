import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

/// A sandboxed step that has the network without the machine's loopback. What it must not reach is in `ThreatRow.ownNetwork`.
@Suite(.userNetwork, .program("perl")) struct UserNetworkTests {
    /// Makes a file, and waits for another one.
    private static let wait = "touch begun; until [ -e go ]; do read -t 0.02 <> fifo; done; true"

    /// The time limit of an expected answer, in seconds.
    private static let answering = Int(TestLimits.never(milliseconds: 2000) / 1000)

    /// Starts a job whose only step has the network and runs.
    private func started(
        _ launched: Launched, _ script: String, limits: JobDescription.Limits = .init(graceMilliseconds: 200)
    ) async throws -> AttemptDirectory {
        var job = launched.sandboxed("", network: .full, limits: limits)
        job.steps[0].arguments = ["bash", "-c", "mkfifo fifo; " + script]
        let attempt = try launched.prepare(job)
        try await launched.executor.start(attempt, secrets: [:])
        await launched.waitFor("begun")
        return attempt
    }

    /// Returns the process that provides the running step's network.
    private func network(of attempt: AttemptDirectory, _ launched: Launched) throws -> ProcessTable.Entry {
        let supervisor = try #require(launched.lockOwner(attempt.paths.lock))
        let found = ProcessTable.descendants(of: supervisor.pid).filter { process in
            let name = SmallFile.read("/proc/\(process.pid)/comm", limit: 64) ?? []
            return String(decoding: name, as: UTF8.self) == "slirp4netns\n"
        }
        #expect(found.count == 1)
        return try #require(found.first)
    }

    private func isThere(_ process: ProcessTable.Entry) -> Bool {
        ProcessTable.entry(of: process.pid)?.startTime == process.startTime
    }

    @Test(
        .proves(
            .jobs,
            "The host's loopback is out of reach of every sandboxed step, also with the network and on any interface; other hosts can be reached"
        ), .machineAddress)
    func testThatItReachesTheMachinesOtherAddresses() async throws {
        try await withLaunched { launched in
            // given
            let address = try #require(MachineAddress.found)
            let listener = try LoopbackSocket(at: "0.0.0.0")
            defer { listener.stop() }
            // when
            let script = ThreatRow.connect([address, "127.0.0.1"], listener.port, within: Self.answering)
            let ended = try await launched.run(launched.sandboxed(script, network: .full))
            // then
            #expect(ended.log == "OPEN \(address)\ntried\n")
        }
    }

    /// The host is a network namespace here. It has the addresses at which clouds give a machine its credentials, and others.
    @Test(
        .proves(.jobs, "A cloud's metadata address, such as 169.254.169.254, is out of reach of every sandboxed step"),
        .program("ip"), .enabled(if: getuid() == 0, "only root makes a network namespace"))
    func testThatWhatACloudTellsItsMachineIsOutOfReach() async throws {
        try await withLaunched { launched in
            // given
            let (told, others) = (
                [
                    "169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "fd00:ec2::254",
                    "fd20:ce::254",
                ],
                ["192.0.2.7", "2001:db8::7"]
            )
            let script =
                ThreatRow.awaitingSix + ThreatRow.connect6(told, 80) + "\n"
                + ThreatRow.connect6(others, 80, within: Self.answering)
            let attempt = try launched.prepare(launched.sandboxed(script, network: .full))
            let addresses = (told + others).map { "ip addr add \($0) dev lo\n" }.joined()
            let listening =
                #"$l = IO::Socket::IP->new(LocalHost => "::", LocalPort => 80, Listen => 16, V6Only => 0) or die"#
            // when
            try await runExpectingSuccess([
                "unshare", "-n", "sh", "-ec",
                "ip link set lo up\n\(addresses)exec perl -MIO::Socket::IP -e '\(listening); system @ARGV' \"$@\"",
                "sh", launched.supervisor, "--attempt", attempt.path,
            ])
            // then
            let log = try await launched.end(of: attempt).log
            #expect(log == "tried\n" + others.map { "OPEN \($0)\n" }.joined() + "tried\n")
        }
    }

    @Test(
        .proves(
            .jobs,
            "A sandboxed step's network exists from its command's beginning through its grace, and ends with the step. A step that loses it is an internal error"
        ))
    func testThatNamesAreAskedForWhereItCanBeReached() async throws {
        try await withLaunched { launched in
            let ended = try await launched.run(
                launched.sandboxed("cat /etc/resolv.conf; stat -L -c %i /etc/resolv.conf", network: .full))
            let host = String(decoding: SmallFile.read("/etc/resolv.conf", limit: 1 << 20) ?? [], as: UTF8.self)
            var status = stat()
            #expect(stat("/etc/resolv.conf", &status) == 0)
            // If the host's servers can be reached, the file's text may be the host's, but it is never the host's file.
            let (text, number) =
                ended.log.dropLast().lastIndex(of: "\n").map {
                    (ended.log[...$0], ended.log[$0...].dropFirst().dropLast())
                } ?? ("", "")
            #expect(text == Resolvers(host: host, own: "10.0.2.3").text)
            #expect(number != "\(status.st_ino)" && Int(number) != nil)
        }
    }

    @Test(
        .proves(
            .jobs,
            "A sandboxed step's network exists from its command's beginning through its grace, and ends with the step. A step that loses it is an internal error"
        ))
    func testThatItIsThereWhenTheCommandBegins() async throws {
        try await withLaunched { launched in
            let ended = try await launched.run(
                launched.sandboxed(
                    "grep -c tap0: /proc/net/dev; cut -f2 /proc/net/route | grep -c 00000000", network: .full))
            #expect(ended.log == "1\n1\n")
        }
    }

    @Test(
        .proves(
            .jobs,
            "A sandboxed step's network exists from its command's beginning through its grace, and ends with the step. A step that loses it is an internal error"
        ))
    func testThatItLastsAsLongAsTheStepsGrace() async throws {
        try await withLaunched { launched in
            // given
            let attempt = try await started(
                launched, "trap 'sleep 0.2; grep -c tap0: /proc/net/dev; exit 3' TERM; \(Self.wait)",
                limits: .init(graceMilliseconds: 30_000))
            // when
            try await launched.executor.cancel(attempt, reason: "enough", grace: .seconds(30))
            let ended = try await launched.end(of: attempt)
            // then
            expectContains(ended.log, "\n1\n")
            #expect(ended.step(0) == "exit 3")
            #expect(ended.result == .canceled)
        }
    }

    @Test(
        .proves(
            .jobs,
            "A sandboxed step's network exists from its command's beginning through its grace, and ends with the step. A step that loses it is an internal error"
        ))
    func testThatAStepThatLosesItIsNoFailureOfTheJobs() async throws {
        try await withLaunched { launched in
            // given
            let attempt = try await started(launched, Self.wait)
            // when
            kill(try network(of: attempt, launched).pid, SIGKILL)
            let ended = try await launched.end(of: attempt)
            // then
            #expect(ended.result == .faulty)
            expectContains(ended.reason ?? "", "the step's network, slirp4netns, ended before the step, by signal 9")
            #expect(ended.reason?.contains("tapfd") == false)
        }
    }

    /// It is in none of the job's groups, so its own limit bounds the resources of a step's connections.
    @Test(
        .proves(
            .jobs,
            "A sandboxed step's network exists from its command's beginning through its grace, and ends with the step. A step that loses it is an internal error"
        ))
    func testThatItHasSoManyConnections() async throws {
        try await withLaunched { launched in
            // given
            let attempt = try await started(launched, Self.wait)
            // when
            let process = try network(of: attempt, launched)
            let limits = SmallFile.read("/proc/\(process.pid)/limits", limit: 1 << 16) ?? []
            _ = try launched.directory.write("workspace/go", "")
            _ = try await launched.end(of: attempt)
            // then
            let line = String(decoding: limits, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("Max open") }
            #expect(line?.split(separator: " ").filter { $0 == "1024" }.count == 2)
        }
    }

    @Test(
        .proves(
            .jobs,
            "A sandboxed step's network exists from its command's beginning through its grace, and ends with the step. A step that loses it is an internal error"
        ))
    func testThatItEndsWithTheStep() async throws {
        try await withLaunched { launched in
            // given
            let attempt = try await started(launched, Self.wait)
            let process = try network(of: attempt, launched)
            // when
            _ = try launched.directory.write("workspace/go", "")
            let ended = try await launched.end(of: attempt)
            // then
            #expect(ended.result == .completed)
            #expect(!isThere(process))
        }
    }

    @Test(
        .proves(
            .jobs,
            "A sandboxed step's network exists from its command's beginning through its grace, and ends with the step. A step that loses it is an internal error"
        ))
    func testThatItEndsWithASupervisorThatIsKilled() async throws {
        try await withLaunched { launched in
            // given
            let attempt = try await started(launched, Self.wait)
            let process = try network(of: attempt, launched)
            // when
            launched.kill(launched.lockOwner(attempt.paths.lock), SIGKILL)
            // then
            await until("the network's end") { !isThere(process) }
        }
    }
}
