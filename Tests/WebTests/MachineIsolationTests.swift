import Basics
import Execution
import Glibc
import Integrations
import JobProtocol
import Jobs
import Model
import TestSupport
import Testing

@testable import Web
@testable import martlet

/// A launcher or a sandbox that is lost while the service runs.
@Suite struct MachineIsolationTests {
    private static let sandboxed = JobIsolation(isolation: .sandbox)
    private static let lost = SandboxFinding(works: false, reason: "bwrap is not installed", limits: .rlimit)
    private static let alone = SandboxFinding(
        works: true, reason: nil, limits: .rlimit, networkReason: "slirp4netns is not installed")

    /// Returns what the examination finds.
    /// - Parameter answer: What the launcher answers; `nil` if none listens.
    private func troubles(
        _ isolation: JobIsolation, answer: [UInt8]?, supervisor: String? = nil, isManaged: Bool = true
    ) async throws -> [ServiceCondition] {
        let supervisor = try supervisor ?? TestTools.builtProduct("martlet-supervisor")
        let tools = try TestTools.builtProduct("martlet-tools")
        return try await withTemporaryDirectory { directory in
            let socket = directory.path("launcher.sock")
            let listening = try answer.map { _ in try UnixSocket.listen(socket) }
            async let answered: Void = SerialQueue(label: "launcher").run {
                guard let listening, let answer else { return }
                let client = accept(listening, nil, nil)
                guard client >= 0 else { return }
                defer { close(client) }
                _ = try? UnixSocket.receive(from: client, limit: LaunchRequest.sizeLimit)
                try? UnixSocket.send(answer, to: client)
            }
            let found = await MachineIsolation.troubles(
                of: isolation, supervisor: supervisor, tools: tools, launcher: socket, isManaged: isManaged)
            // A launcher that was not asked waits no longer.
            if let listening { shutdown(listening, Int32(SHUT_RDWR)) }
            await answered
            if let listening { close(listening) }
            return found
        }
    }

    @Test(
        .proves(
            .operating,
            "A lost sandbox is a trouble, with the reason, and stops the work; without a sandbox from the start it is none"
        ))
    func testThatALostSandboxIsATrouble() async throws {
        // when, then: the sandbox itself, or only its network
        for (finding, reason) in [(Self.lost, "bwrap is not installed"), (Self.alone, "slirp4netns is not installed")] {
            let found = try await troubles(Self.sandboxed, answer: finding.json())
            #expect(found.map(\.kind) == [.sandbox])
            #expect(found.map(\.stopsWork) == [true])
            expectContains(found.first?.reason ?? "", reason)
            expectContains(found.first?.remedy ?? "", "martlet doctor")
        }
        // and what was so when the service started is none
        let shared = JobIsolation(isolation: .sandbox, loopback: .needed("no slirp4netns"))
        #expect(try await troubles(shared, answer: Self.alone.json()) == [])
        let none = JobIsolation(isolation: .none(reason: "the settings say isolation: none"))
        #expect(try await troubles(none, answer: Self.lost.json()) == [])
        let works = SandboxFinding(works: true, reason: nil, limits: .rlimit)
        #expect(try await troubles(Self.sandboxed, answer: works.json()) == [])
    }

    @Test(
        .proves(
            .operating,
            "A lost launcher, and a lost program of its, are a trouble that stops the work"))
    func testThatALostLauncherIsATrouble() async throws {
        // when: the service manager's launcher is gone
        let gone = try await troubles(Self.sandboxed, answer: nil)
        // then
        #expect(gone.map(\.kind) == [.launcher])
        #expect(gone.map(\.stopsWork) == [true])
        expectContains(gone.first?.reason ?? "", "none listens there")
        expectContains(gone.first?.remedy ?? "", "systemctl restart martlet-launcher")
        // when: its program is gone
        let removed = try await troubles(Self.sandboxed, answer: nil, supervisor: "/nonexistent/martlet-supervisor")
        // then
        #expect(removed.map(\.kind) == [.launcher])
        expectContains(removed.first?.reason ?? "", "/nonexistent/martlet-supervisor cannot be run")
    }

    @Test(
        .proves(
            .operating,
            "`/ready` answers 200 when disk, database, launcher, sandbox and scans work, and 503 with the part that does not; `/health` says that the service is alive"
        ), .sandbox)
    func testThatAServiceWithoutItsLauncherIsNotReadyUntilItIsBack() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let socket = directory.path("launcher.sock")
            let (supervisor, tools) = (
                try TestTools.builtProduct("martlet-supervisor"), try TestTools.builtProduct("martlet-tools")
            )
            let launcher = try await PrivateLauncher(socket: socket, supervisor: supervisor)
            try await withWeb(probe: {
                await MachineIsolation.troubles(
                    of: JobIsolation(isolation: .none(reason: "a test")), supervisor: supervisor, tools: tools,
                    launcher: socket, isManaged: true)
            }) { web in
                await web.operations.health.examine(isForced: true)
                #expect(try await web.send("GET", "/ready").status == 200)
                // when
                await launcher.end()
                await web.operations.health.examine(isForced: true)
                // then
                let answer = try await web.send("GET", "/ready")
                #expect(answer.status == 503)
                expectContains(answer.text, #"{"name":"launcher","ready":false,"reason":"#)
                expectContains(answer.text, #"{"name":"disk","ready":true,"reason":null}"#)
                #expect(try await web.send("GET", "/health").status == 200)
                expectContains(try await web.json("/metrics"), "martlet_ready 0\n")
                // when
                let next = try await PrivateLauncher(socket: socket, supervisor: supervisor)
                await web.operations.health.examine(isForced: true)
                // then
                #expect(try await web.send("GET", "/ready").status == 200)
                await next.end()
            }
            await launcher.end()
        }
    }
}
