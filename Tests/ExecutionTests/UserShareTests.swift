import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

/// The resources that the kernel counts for all processes of a user together. Each test has a user of its own without other processes.
@Suite(
    .program("bwrap"), .program("python3"),
    .enabled(if: JobUser.possible.contains(.ordinary), "only root can be another user"))
struct UserShareTests {
    private static let pipes = hold(
        """
        while len(held) < 4000:
            held.append(os.pipe())
            if fcntl.fcntl(held[-1][1], 1032) < 65536: break
        """)

    /// Returns a program that takes what its script states, makes a file, and runs until another one exists.
    private static func hold(_ script: String, making made: String = "held", until end: String = "go") -> String {
        """
        import ctypes, fcntl, os, resource, select, time
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        library, held = ctypes.CDLL(None), []
        \(script)
        open("\(made)", "w").close()
        while not os.path.exists("\(end)"): time.sleep(0.02)
        """
    }

    private static func command(_ program: String) -> String { "exec python3 - <<'END'\n\(program)\nEND" }

    private static func setting(_ name: String) throws -> Int64 {
        let text = String(decoding: SmallFile.read("/proc/sys/fs/" + name, limit: 64) ?? [], as: UTF8.self)
        return try #require(Int64(text.split(separator: "\n").first ?? ""))
    }

    /// Returns `1,024`; sufficient below a million.
    private static func words(_ number: Int64) -> String {
        let rest = "\(number % 1000)"
        return number < 1000 ? rest : "\(number / 1000)," + String(repeating: "0", count: 3 - rest.count) + rest
    }

    @Test(
        .proves(
            .jobs,
            "A job that takes most of a resource that all jobs share is ended, and only that one. A sandbox can be made while others hold all pipes"
        ), arguments: [true, false])
    func testB12ThatAJobThatTakesAllPipesIsEnded(isSandboxed: Bool) async throws {
        try await withLaunched(as: .ordinary) { launched in
            // when
            let script = Self.command(Self.pipes)
            let end = try await launched.run(isSandboxed ? launched.sandboxed(script) : launched.job(script))
            // then
            let limit = try Self.setting("pipe-user-pages-soft") / 16
            #expect(
                end.limit == "more than \(Self.words(limit / 2)) of the \(Self.words(limit)) pipes that all jobs share")
            expectContains(end.log, "that all jobs share; script is ended")
        }
    }

    @Test(
        .proves(
            .jobs,
            "A job that takes most of a resource that all jobs share is ended, and only that one. A sandbox can be made while others hold all pipes"
        ))
    func testThatAJobThatTakesAllInstancesOfInotifyIsEnded() async throws {
        try await withLaunched(as: .ordinary) { launched in
            // given
            let program = Self.hold("while library.inotify_init() >= 0: pass")
            // when
            let end = try await launched.run(launched.sandboxed(Self.command(program)))
            // then
            expectContains(end.limit ?? "", " instances of inotify that all jobs share")
        }
    }

    /// It runs longer than until a quarter of all is too much.
    @Test(
        .proves(
            .jobs,
            "A job that takes most of a resource that all jobs share is ended, and only that one. A sandbox can be made while others hold all pipes"
        ))
    func testThatWhatChildrenInheritCountsOnce() async throws {
        try await withLaunched(as: .ordinary) { launched in
            // given: two instances, open in many processes
            let job = Self.hold(
                """
                for _ in range(2): library.inotify_init()
                for _ in range(100): os.fork() or time.sleep(1000)
                """)
            let script = "python3 - <<'END'\n\(job)\nEND\nsleep 4; echo done"
            let attempt = try launched.prepare(launched.sandboxed(script))
            try await launched.executor.start(attempt, secrets: [:])
            await launched.waitFor("held", in: attempt)
            // when
            let others = Self.hold("while library.inotify_init() >= 0: pass", making: "others", until: "end")
            let holder = try await StartedProgram.start(
                ["/usr/bin/env"] + launched.user.command(["python3", "-c", others]), in: launched.workspace,
                environment: ["PATH": "/usr/bin:/bin"], output: launched.directory.path("output"))
            await launched.waitForFile("others")
            try launched.directory.write("workspace/go", "")
            let end = try await launched.end(of: attempt)
            // then
            #expect(end.limit == nil)
            expectContains(end.log, "done\n")
            try launched.directory.write("workspace/end", "")
            try await holder.end()
        }
    }

    /// Takes watches of epoll(7) until there are no more. It is in C, because there are millions.
    private static let watches = """
        #include <stdio.h>
        #include <sys/epoll.h>
        #include <sys/eventfd.h>
        #include <sys/resource.h>
        #include <unistd.h>
        int main(void) {
            struct rlimit limit;
            getrlimit(RLIMIT_NOFILE, &limit);
            limit.rlim_cur = limit.rlim_max;
            setrlimit(RLIMIT_NOFILE, &limit);
            int targets[2000], poll = 0, result = 0;
            for (int i = 0; i < 2000; i++) targets[i] = eventfd(0, 0);
            while (result == 0 && poll >= 0) {
                poll = epoll_create1(0);
                struct epoll_event event = { .events = EPOLLIN };
                for (int i = 0; i < 2000 && result == 0; i++) result = epoll_ctl(poll, EPOLL_CTL_ADD, targets[i], &event);
            }
            perror("epoll");
            for (;;) pause();
        }

        """

    /// It takes some 200 bytes of the kernel's memory for each of them.
    @Test(
        .proves(
            .jobs,
            "A job that takes most of a resource that all jobs share is ended, and only that one. A sandbox can be made while others hold all pipes"
        ),
        .program("gcc"),
        .enabled("more watches than memory, or than can be taken soon") {
            try setting("epoll/max_user_watches") < 8_000_000 && sysconf(Int32(_SC_AVPHYS_PAGES)) > 1_000_000
        })
    func testThatAJobThatTakesAllWatchesOfEpollIsEnded() async throws {
        try await withLaunched(as: .ordinary) { launched in
            // given
            try launched.directory.write("workspace/hog.c", Self.watches)
            // when
            let end = try await launched.run(launched.sandboxed("gcc -o hog hog.c && exec ./hog"))
            // then
            expectContains(end.limit ?? "", " watches of epoll that all jobs share")
            expectContains(end.log, "No space left on device")
        }
    }

    /// Bubblewrap's options need more bytes than such a pipe holds.
    @Test(
        .proves(
            .jobs,
            "A job that takes most of a resource that all jobs share is ended, and only that one. A sandbox can be made while others hold all pipes"
        ))
    func testThatASandboxIsMadeAndAJobLeftAloneWhereOthersHoldAllPipes() async throws {
        try await withLaunched(as: .ordinary) { launched in
            // given
            let holder = try await StartedProgram.start(
                ["/usr/bin/env"] + launched.user.command(["python3", "-c", Self.pipes]), in: launched.workspace,
                environment: ["PATH": "/usr/bin:/bin"], output: launched.directory.path("output"))
            await launched.waitForFile("held")
            let deep = String(repeating: "d", count: 180)
            let paths = try (0..<40).map { try launched.directory.makeDirectory("shown/\($0)/" + deep) }
            // when: it runs long enough to be judged for what others hold
            let end = try await launched.run(launched.sandboxed("sleep 1; ls -d shown; echo done", readOnly: paths))
            // then
            expectContains(end.log, "done\n")
            #expect(end.result == .completed, "\(end.reason ?? "")")
            try launched.directory.write("workspace/go", "")
            try await holder.end()
        }
    }

    /// `ssh-agent` in a step is like this. It cannot be determined whether the job holds the pipes.
    @Test func testThatAJobThatHidesWhatItHasOpenEndsByOurFaultWhereOthersHoldAllPipes() async throws {
        try await withLaunched(as: .ordinary) { launched in
            // given: a process that is not dumpable (prctl(2), PR_SET_DUMPABLE)
            let hidden = Self.hold("library.prctl(4, 0, 0, 0, 0)", making: "hidden", until: "never")
            let attempt = try launched.prepare(launched.job(Self.command(hidden)))
            try await launched.executor.start(attempt, secrets: [:])
            await launched.waitFor("hidden", in: attempt)
            // when
            let holder = try await StartedProgram.start(
                ["/usr/bin/env"] + launched.user.command(["python3", "-c", Self.pipes]), in: launched.workspace,
                environment: ["PATH": "/usr/bin:/bin"], output: launched.directory.path("output"))
            await launched.waitForFile("held")
            let end = try await launched.end(of: attempt)
            // then
            #expect(end.result == .faulty)
            #expect(end.limit == nil)
            expectContains(end.reason ?? "", "all pipes that jobs share are taken")
            try launched.directory.write("workspace/go", "")
            try await holder.end()
        }
    }

    /// In a user namespace of its own, a job has a part of the user's limit.
    @Test(
        .proves(
            .jobs,
            "A job that takes most of a resource that all jobs share is ended, and only that one. A sandbox can be made while others hold all pipes"
        ))
    func testThatAJobHasAPartOfQueuedSignalsAndMessages() async throws {
        try await withLaunched(as: .ordinary) { launched in
            // when
            let script = "grep -E 'pending signals|msgqueue' /proc/self/limits"
            let end = try await launched.run(launched.sandboxed(script))
            let own = try await runExpectingSuccess(launched.user.command(["sh", "-c", script]))
            // then
            func hard(_ text: String) -> [Int64] {
                text.split(separator: "\n").compactMap { line in
                    line.split(separator: " ").dropLast().last.flatMap { Int64($0) }
                }
            }
            let (inside, outside) = (hard(end.log), hard(own))
            #expect(inside.count == 2)
            #expect(inside.first == max(1024, (outside.first ?? 0) / 16))
            #expect(inside.last == min(819_200, (outside.last ?? 0) / 4))
        }
    }
}

extension Launched {
    fileprivate func waitForFile(_ name: String) async {
        await until("\(name) in the workspace") { access(workspace + "/" + name, F_OK) == 0 }
    }
}
