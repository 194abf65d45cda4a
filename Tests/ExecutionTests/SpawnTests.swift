import CLinux
import Glibc
import JobProtocol
import TestSupport
import Testing

/// The way of a command into its control group of version 2: it is made there, or moves there itself if the kernel cannot do that.
@Suite struct SpawnTests {
    static let isOurs = access("\(mount)/cgroup.procs", W_OK) == 0
    static let mount = access("/sys/fs/cgroup/unified", F_OK) == 0 ? "/sys/fs/cgroup/unified" : "/sys/fs/cgroup"

    @Test(
        .proves(
            .jobs, "A step's process is made in its control group of version 2, or moves there where the kernel cannot"),
        .enabled(if: isOurs, "no control groups of version 2 that are ours"))
    func testThatItIsMadeThere()
        async throws
    {
        try await withGroup { group in
            // given
            let birthplace = open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            defer { close(birthplace) }
            // when: there is no other way in
            let text = try run(birthplace: birthplace, entrances: [])
            // then
            expectContains(text, "0::" + group.dropFirst(Self.mount.count) + "\n")
        }
    }

    @Test(
        .proves(
            .jobs, "A step's process is made in its control group of version 2, or moves there where the kernel cannot"),
        .enabled(if: isOurs, "no control groups of version 2 that are ours"))
    func testThatItMovesThereWhereItCannotBeMadeThere() async throws {
        try await withGroup { group in
            // given: a directory that is no group, which the kernel refuses like an unknown flag
            let birthplace = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            let entrance = open(group + "/cgroup.procs", O_WRONLY | O_CLOEXEC)
            defer { for descriptor in [birthplace, entrance] { close(descriptor) } }
            // when
            let text = try run(birthplace: birthplace, entrances: [entrance])
            // then
            expectContains(text, "0::" + group.dropFirst(Self.mount.count) + "\n")
        }
    }

    @Test(
        .proves(
            .jobs,
            "A step's process and sandbox are made while its beginning is synchronized to the disk. If that fails, the command does not run"
        ), arguments: [true, false])
    func testThatAGateHoldsItUntilItIsOpened(passes: Bool) async throws {
        try await withTemporaryDirectory { temporary in
            // given
            let gate = clinux_gate()
            defer { close(gate) }
            var (request, told, failure) = (clinux_spawn_request(), Int32(-1), Int32(0))
            let arguments = ["touch", temporary.path("ran")].map { (text: String) in strdup(text) } + [nil]
            defer { for argument in arguments { free(argument) } }
            let null = open("/dev/null", O_RDWR | O_CLOEXEC)
            defer { close(null) }
            let child = arguments.withUnsafeBufferPointer { arguments in
                [UnsafeMutablePointer<CChar>?.none].withUnsafeBufferPointer { environment in
                    request.arguments = arguments.baseAddress
                    request.environment = environment.baseAddress
                    (request.directory, request.output, request.errors) = (null, null, null)
                    (request.user, request.group, request.file_bytes, request.processes) = (-1, -1, -1, -1)
                    request.directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                    request.gate = gate
                    return clinux_spawn_begin(&request, &told, &failure)
                }
            }
            close(request.directory)
            #expect(child > 0)
            // when
            #expect(ProcessTable.entry(of: child)?.isAlive ?? false)
            #expect(access(temporary.path("ran"), F_OK) != 0)
            clinux_gate_open(gate, passes ? 1 : 0)
            // then
            #expect(clinux_spawn_end(child, told, &failure) == child)
            var (status, usage) = (Int32(0), clinux_usage())
            #expect(clinux_wait(child, &status, &usage) == child)
            #expect(clinux_wait_exit_status(status) == (passes ? 0 : 127))
            #expect((access(temporary.path("ran"), F_OK) == 0) == passes)
        }
    }

    private func withGroup(_ body: (String) throws -> Void) async throws {
        let group = "\(Self.mount)/martlet-test-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        try #require(mkdir(group, 0o755) == 0)
        let result = Result { try body(group) }
        // The kernel notices the exit of a process a moment later.
        await until("the group is removed") { rmdir(group) == 0 || errno == ENOENT }
        try result.get()
    }

    /// Returns the output of `cat /proc/self/cgroup`.
    private func run(birthplace: Int32, entrances: [Int32]) throws -> String {
        var pipe: [Int32] = [-1, -1]
        try #require(clinux_pipe(&pipe) == 0)
        clinux_fcntl(pipe[0], F_SETFL, 0)
        defer { close(pipe[0]) }
        let directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(directory) }
        let arguments = ["/bin/cat", "/proc/self/cgroup"].map { (text: String) in strdup(text) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var (request, failure) = (clinux_spawn_request(), Int32(0))
        let child = arguments.withUnsafeBufferPointer { arguments in
            [UnsafeMutablePointer<CChar>?.none].withUnsafeBufferPointer { environment in
                entrances.withUnsafeBufferPointer { groups in
                    request.arguments = arguments.baseAddress
                    request.environment = environment.baseAddress
                    (request.directory, request.output, request.errors) = (directory, pipe[1], pipe[1])
                    (request.user, request.group, request.file_bytes, request.processes) = (-1, -1, -1, -1)
                    request.groups = groups.baseAddress
                    request.group_count = groups.count
                    request.birthplace = birthplace
                    return clinux_spawn(&request, &failure)
                }
            }
        }
        close(pipe[1])
        try #require(child > 0, "\(failure)")
        let text = String(decoding: SmallFile.read(pipe[0], limit: 1 << 16) ?? [], as: UTF8.self)
        var (status, usage) = (Int32(0), clinux_usage())
        #expect(clinux_wait(child, &status, &usage) == child)
        return text
    }
}
