import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

/// A step runs in the same way, whichever user or process started the service.
@Suite(
    .proves(
        .jobs,
        "A step inherits nothing from the process that started the service: umask, signals, limits, personality, policy, descriptors, variables"
    ), .program("setarch"), .program("perl"), .program("prlimit"))
struct InheritanceTests {
    /// Each line names a property, and prints it.
    private static let script = """
        echo umask $(umask)
        echo files $(ulimit -S -n) stack $(ulimit -S -s) time $(ulimit -S -t) data $(ulimit -S -d) core $(ulimit -c)
        echo personality $(cat /proc/self/personality) slack $(cat /proc/self/timerslack_ns)
        echo $(grep -E '^Sig(Ign|Blk)' /proc/self/status) terminal $(cut -d ' ' -f 7 /proc/self/stat)
        echo policy $(cut -d ' ' -f 41 /proc/self/stat) oom $(cat /proc/self/oom_score_adj)
        echo descriptors $(ls /proc/self/fd) caps $(grep -E '^Cap(Inh|Amb)' /proc/self/status)
        echo directory $(pwd) environment $(env | grep -c '^ODD=')
        """

    /// Runs a program as a careless administrator's shell would.
    private static let odd = [
        "setarch", "-R", "prlimit", "--stack=16777216:", "--nofile=300:", "--cpu=5000:", "--data=9000000000:", "perl",
        "-e",
        // PR_SET_TIMERSLACK
        "syscall(0 + shift(@ARGV), 29, 2000000, 0, 0, 0); $SIG{$_} = 'IGNORE' for qw(HUP INT USR1 PIPE); "
            + "umask 077; $ENV{ODD} = 1; open my $f, '<', '/etc/hostname'; $^F = 99; open my $g, '<', '/'; exec @ARGV",
        Self.prctl,
    ]

    #if arch(arm64)
        private static let prctl = "167"
    #else
        private static let prctl = "157"
    #endif

    @Test(arguments: Launched.sandboxes) func testThatAStepInheritsNothingOfWhoStartedTheService(
        isSandboxed: Bool
    ) async throws {
        func seen(_ launcher: [String]) async throws -> String {
            try await withLaunched { launched in
                // given
                let program = try TestTools.builtProduct("martlet-supervisor")
                try await runExpectingSuccess(launcher + [program, "--listen", launched.socket, "--detach"])
                // when
                let job = isSandboxed ? launched.sandboxed(Self.script) : launched.job(Self.script)
                return try await launched.run(job).log.replacing(launched.workspace, with: "WORKSPACE")
            }
        }
        // then
        let ordinary = try await seen([])
        #expect(try await seen(Self.odd) == ordinary)
        #expect(ordinary.contains("umask 0022\n"), "\(ordinary)")
        #expect(ordinary.contains("core 0\n"), "\(ordinary)")
        #expect(ordinary.contains("SigBlk: 0000000000000000 SigIgn: 0000000000000000 "), "\(ordinary)")
        #expect(ordinary.contains("environment 0\n"), "\(ordinary)")
    }

    /// Shows that the table can fail: it prints the properties of a program that is started in this way.
    @Test func testThatTheTableShowsWhatIsInherited() async throws {
        // when
        let ordinary = try await run(["sh", "-c", Self.script]).stdout
        let odd = try await run(Self.odd + ["sh", "-c", Self.script]).stdout
        // then
        for name in ["umask", "stack", "personality", "SigIgn", "environment", "slack"] {
            let lines = [ordinary, odd].map { $0.split(separator: "\n").first { $0.contains(name) } }
            #expect(lines[0] != nil && lines[0] != lines[1], "\(name): \(odd)")
        }
    }
}
