import Basics
import Execution
import Foundation
import Glibc
import JobProtocol
import Model
import TestSupport
import Testing

/// A real Slurm on loopback: munged, slurmctld and two slurmd of this machine, `n1` and `n2`. Nothing in /etc is touched. All of its processes are
/// gone when the test ends.
struct SlurmCluster: Sendable {
    let directory: String
    private let ports: [Int]

    /// Whether this machine can have one: Debian's packages are installed, and the tests run as root, as slurmd must.
    static let isPossible =
        getuid() == 0 && programs.allSatisfy { TestTools.find($0) != nil || access("/usr/sbin/\($0)", X_OK) == 0 }
    private static let programs = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo"]

    var environment: [String: String] { ["SLURM_CONF": directory + "/slurm.conf"] }

    /// - Throws: `ProgramFailure` if it does not start.
    static func with<Value>(in temporary: TemporaryDirectory, _ body: (SlurmCluster) async throws -> Value) async throws
        -> Value
    {
        let ports = [try LoopbackSocket.freePort(), try LoopbackSocket.freePort(), try LoopbackSocket.freePort()]
        let cluster = SlurmCluster(directory: try temporary.makeDirectory("slurm"), ports: ports)
        let result: Result<Value, any Error>
        do {
            try await cluster.start()
            result = .success(try await body(cluster))
        } catch {
            result = .failure(error)
        }
        await cluster.stop()
        return try result.get()
    }

    /// Returns an executor for it that does not wait long.
    /// - Parameter supervisor: The program that begins an attempt on a node.
    func executor(
        _ supervisor: String, longestWait: Duration = .seconds(86_400), warm: Duration = .zero
    ) -> SlurmExecutor {
        var patience = SlurmExecutor.Patience()
        (patience.answer, patience.silence) = (.milliseconds(100), .seconds(1))
        patience.warm = warm
        return SlurmExecutor(
            .init(
                name: Name(nearest: "cluster"), longestWait: longestWait, command: [supervisor, "--attempt"],
                environment: environment), patience: patience)
    }

    /// Occupies nodes with jobs of another owner until the end.
    func fill(_ nodes: [String] = ["n1", "n2"]) async throws {
        for node in nodes {
            try await expect(
                run(
                    "sbatch", "--exclusive", "-w", node, "-D", "/", "-o", "/dev/null", "--export=NIL",
                    "--wrap=sleep 1000"),
                "sbatch")
        }
        try await until("the nodes are occupied") {
            try await self.run("squeue", "-h", "-t", "running", "-o", "%A").stdout.split(separator: "\n").count
                == nodes.count
        }
    }

    /// Ends the jobs of `fill`.
    func free() async throws { _ = try await run("scancel", "--me", "--jobname=wrap") }

    /// Runs one of Slurm's commands.
    func run(_ arguments: String...) async throws -> ProgramResult {
        let environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let program = arguments[0]
        let path = TestTools.find(program) ?? "/usr/sbin/\(program)"
        return try await TestSupport.run([path] + arguments.dropFirst(), in: "/", environment: environment)
    }

    private func start() async throws {
        let files = try Directory(opening: directory)
        for name in ["munge", "state", "spool/n1", "spool/n2", "run"] { try files.makeDirectories(name) }
        try files.write("munge/key", bytes: (0..<128).map { _ in UInt8.random(in: 0...255) }, mode: 0o600)
        try files.write("slurm.conf", bytes: Array(configuration.utf8))
        let munge = directory + "/munge"
        try await expect(
            run(
                "munged", "--key-file=\(munge)/key", "--socket=\(munge)/sock", "--pid-file=\(munge)/pid",
                "--log-file=\(munge)/log", "--seed-file=\(munge)/seed"), "munged")
        try await startController(forgetting: true)
        for node in ["n1", "n2"] {
            try await expect(run("slurmd", "-N", node, "-f", directory + "/slurm.conf"), "slurmd")
        }
        try await until("both nodes are idle") {
            let states = try await self.run("sinfo", "-h", "-N", "-o", "%t").stdout
            return states.split(separator: "\n").map { $0.filter(\.isLetter) } == ["idle", "idle"]
        }
    }

    /// - Parameter forgetting: Whether the controller begins without the jobs that it knew.
    func startController(forgetting: Bool = false) async throws {
        unlink(directory + "/run/ctld.pid")
        let file = directory + "/slurm.conf"
        let result = try await forgetting ? run("slurmctld", "-c", "-f", file) : run("slurmctld", "-f", file)
        try expect(result, "slurmctld")
        try await until("the controller answers") { try await self.run("scontrol", "ping").stdout.contains("UP") }
    }

    /// Ends the controller by SIGKILL, as a stop of its machine would.
    func killController() async {
        guard let pid = pid("run/ctld.pid") else { return }
        kill(pid, SIGKILL)
        await until("the controller is gone") { kill(pid, 0) != 0 }
    }

    private func expect(_ result: ProgramResult, _ program: String) throws {
        guard result.status == 0 else {
            throw ProgramFailure(description: "\(program) does not start: \(result.stderr)")
        }
    }

    private func pid(_ file: String) -> pid_t? {
        (try? WholeFile.read("\(directory)/\(file)", limit: 64)).flatMap {
            pid_t(String(decoding: $0, as: UTF8.self).filter(\.isNumber))
        }
    }

    private func stop() async {
        _ = try? await run("scancel", "--me", "--full", "--signal=KILL")
        _ = try? await run("scancel", "--me")
        let files = ["run/ctld.pid", "run/slurmd-n1.pid", "run/slurmd-n2.pid", "munge/pid"]
        let pids = files.compactMap(pid)
        // On SIGTERM a slurmd waits up to two minutes for its threads. Its state is not needed any more.
        for pid in pids { kill(pid, SIGKILL) }
        await until("Slurm has ended") { pids.allSatisfy { kill($0, 0) != 0 } }
        // They watch over jobs, and outlive slurmd.
        for process in Self.stepDaemons(of: directory) { kill(process, SIGKILL) }
    }

    private static func stepDaemons(of directory: String) -> [pid_t] {
        ProcessTable.all().map(\.pid).filter { pid in
            let name = SmallFile.read("/proc/\(pid)/comm", limit: 64) ?? []
            let environment = SmallFile.read("/proc/\(pid)/environ", limit: 1 << 20) ?? []
            return String(decoding: name, as: UTF8.self).hasPrefix("slurmstepd")
                && String(decoding: environment, as: UTF8.self).contains(directory)
        }
    }

    private var configuration: String {
        let host = ProcessInfo.processInfo.hostName.split(separator: ".").first.map(String.init) ?? "localhost"
        let nodes = zip(["n1", "n2"], ports.dropFirst()).map { node, port in
            """
            NodeName=\(node) NodeHostname=\(host) NodeAddr=127.0.0.1 Port=\(port) CPUs=2 RealMemory=2000 \
            Feature=\(node)\(node == "n2" ? ",big" : "") State=UNKNOWN
            """
        }
        return """
            ClusterName=martlet
            SlurmctldHost=\(host)(127.0.0.1)
            SlurmctldPort=\(ports[0])
            SlurmUser=root
            AuthType=auth/munge
            AuthInfo=socket=\(directory)/munge/sock
            CryptoType=crypto/munge
            MpiDefault=none
            CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
            ProctrackType=proctrack/linuxproc
            TaskPlugin=task/none
            JobAcctGatherType=jobacct_gather/none
            ReturnToService=2
            SlurmctldPidFile=\(directory)/run/ctld.pid
            SlurmdPidFile=\(directory)/run/slurmd-%n.pid
            SlurmdSpoolDir=\(directory)/spool/%n
            StateSaveLocation=\(directory)/state
            SlurmctldLogFile=\(directory)/ctld.log
            SlurmdLogFile=\(directory)/slurmd-%n.log
            SelectType=select/cons_tres
            SelectTypeParameters=CR_Core
            SchedulerParameters=batch_sched_delay=0,sched_min_interval=10000,bf_interval=1
            SlurmdTimeout=10
            KillWait=10
            MinJobAge=600
            JobRequeue=0
            AccountingStorageType=accounting_storage/none
            \(nodes.joined(separator: "\n"))
            PartitionName=main Nodes=n1,n2 Default=YES MaxTime=01:00:00 State=UP

            """
    }
}
