import CoreFoundation
import Foundation
import Glibc
import JobProtocol
import TestSupport
import Testing

/// The user of a daemon that root starts, as every machine's init does.
@Suite struct ServiceIdentityTests {
    @Suite(.enabled(if: geteuid() == 0, "only root can become another user")) struct StartedAsRoot {
        private static let files = [
            "Makefile": "all:\n\t@id\n", ".martlet.yml": "configurations:\n  debug: {}\n",
        ]

        /// Runs a test with a daemon that is to become `nobody`. That user can run its programs, and owns its files.
        private func withServant(_ body: (Daemon, passwd) async throws -> Void) async throws {
            let servant = try #require(getpwnam("nobody")).pointee
            try await withDaemon(settings: "user: nobody\nisolation: none\n", isStarted: false) { daemon in
                let directory = daemon.directory
                try directory.makeDirectory("programs")
                try directory.makeDirectory("state")
                // Another process copies them: a file that this process had open for writing cannot be run for a moment.
                for program in ["martlet", "martlet-supervisor", "martlet-tools", "martlet-reader"] {
                    try await runExpectingSuccess([
                        "cp", try TestTools.builtProduct(program), directory.path("programs/\(program)"),
                    ])
                }
                // This comes before the repository belongs to the user, because git would refuse root's push.
                _ = try await daemon.work.commit(files: Self.files, message: "Begin")
                try await daemon.work.push(to: daemon.remote)
                try await runExpectingSuccess(
                    ["chown", "-R", "nobody:", directory.path("etc"), directory.path("state"), daemon.remote.path])
                try await daemon.start(program: directory.path("programs/martlet"))
                try await body(daemon, servant)
            }
        }

        @Test(
            .proves(
                .programs,
                "Started as root, `serve` becomes `user:` before it opens a file, and is not dumpable (its tests need root; others see them skipped)"
            ))
        func testThatEveryThreadFileAndJobIsTheUsers() async throws {
            try await withServant { daemon, servant in
                // when
                let integrated = try await daemon.martlet("integrate", "kit", "--wait")

                // then: its threads
                #expect(integrated.status == 0, "\(integrated.stdout)\(integrated.stderr)")
                let pid = try #require(daemon.pid)
                let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")
                var looked = 0
                for thread in threads {
                    // A thread that has exited meanwhile.
                    guard let bytes = SmallFile.read("/proc/\(pid)/task/\(thread)/status", limit: 8192), !bytes.isEmpty
                    else { continue }
                    let status = String(decoding: bytes, as: UTF8.self)
                    looked += 1
                    let (user, group) = (servant.pw_uid, servant.pw_gid)
                    expectContains(status, "\nUid:\t\(user)\t\(user)\t\(user)\t\(user)\n")
                    expectContains(status, "\nGid:\t\(group)\t\(group)\t\(group)\t\(group)\n")
                    #expect(!status.contains("\nGroups:\t0 "), "root's groups are left")
                }

                #expect(looked > 0)

                // its files
                let found = try await runExpectingSuccess([
                    "find", daemon.state, "-ignore_readdir_race", "!", "-user", "nobody",
                ])
                #expect(found == "")
                expectContains(try await runExpectingSuccess(["ls", daemon.state]), "martlet.sqlite")

                // and its jobs
                expectContains(try await daemon.output("log", "kit"), "uid=\(servant.pw_uid)(nobody)")
            }
        }

        /// Without a sandbox jobs have the daemon's user, so only the kernel keeps them out of its memory.
        @Test(
            .proves(
                .programs,
                "Started as root, `serve` becomes `user:` before it opens a file, and is not dumpable (its tests need root; others see them skipped)"
            ), .program("setpriv"))
        func testThatItsUserReadsNothingOfItsMemory() async throws {
            try await withServant { daemon, servant in
                // given: the same question about a process that does not hide its memory
                func asServant(_ script: String) async throws -> ProgramResult {
                    try await run(
                        [
                            "setpriv", "--reuid=\(servant.pw_uid)", "--regid=\(servant.pw_gid)", "--clear-groups",
                            "/bin/sh", "-c", script,
                        ], in: "/")
                }
                let open = try await asServant(
                    "sleep 60 & p=$!; if true 3</proc/$p/mem; then s=0; else s=1; fi; kill $p; exit $s")
                try #require(open.status == 0, "\(open.stderr)")

                // when
                let pid = try #require(daemon.pid)
                let memory = try await asServant("true 3</proc/\(pid)/mem")
                let environment = try await asServant("cat /proc/\(pid)/environ")

                // then
                #expect(memory.status != 0)
                expectContains(memory.stderr, "Permission denied")
                #expect(environment.status != 0 && environment.stdout.isEmpty)
            }
        }

        /// Runs a program in a mount namespace whose passwd has a user `martlet` with the number of `nobody`.
        private func runWithUser(
            _ arguments: [String], in directory: TemporaryDirectory, input: String? = nil
        ) async throws -> ProgramResult {
            let there = String(
                decoding: try #require(FileManager.default.contents(atPath: "/etc/passwd")), as: UTF8.self)
            try directory.write(
                "passwd", there + "martlet:x:65534:65534::/nonexistent:/usr/sbin/nologin\n")
            let script = "mount --bind \(directory.path("passwd")) /etc/passwd && exec \"$@\""
            return try await run(
                ["unshare", "-m", "sh", "-c", script, "sh", try TestTools.builtProduct("martlet")] + arguments,
                in: directory.path, environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": directory.path],
                input: input)
        }

        @Test(
            .proves(
                .programs,
                "`serve` as root becomes `user:` or `martlet`, or refuses, however the settings are found; so does `secret set` (the tests need root)"
            ), .program("unshare"), .enabled(if: getpwnam("martlet") == nil, "the machine has the user"))
        func testThatItBecomesTheUsualUserWhicheverWayTheSettingsAreNamed() async throws {
            try await withTemporaryDirectory { directory in
                // given: a state that only root could make
                try directory.write("etc/martlet.yml", "listen: 127.0.0.1:1\nstate: \(directory.path("etc/state"))\n")
                // when
                let result = try await runWithUser(
                    ["serve", "--settings", directory.path("etc/martlet.yml")], in: directory)
                // then
                #expect(result.status == 73)
                expectContains(result.stderr, "the state directory \(directory.path("etc/state")) cannot be used")
                expectNoFile(directory.path("etc/state"))
            }
        }

        @Test(
            .proves(
                .programs,
                "`serve` as root becomes `user:` or `martlet`, or refuses, however the settings are found; so does `secret set` (the tests need root)"
            ), .enabled(if: getpwnam("martlet") == nil, "the machine has the user"))
        func testThatItStaysRootWhereOnlyRootCanReadTheBotFiles() async throws {
            try await withTemporaryDirectory { directory in
                // given: a directory that every user may enter, with a directory of bot files that only root may read
                try directory.write("etc/martlet.yml", "listen: 127.0.0.1:1\nstate: /dev/null/state\n")
                try directory.makeDirectory("etc/bots")
                try #require(chmod(directory.path("etc/bots"), 0o700) == 0)
                // when
                let result = try await run(
                    [try TestTools.builtProduct("martlet"), "serve", "--settings", directory.path("etc/martlet.yml")],
                    environment: ["PATH": "/usr/bin:/bin", "HOME": directory.path])
                // then: it continued as root, to a state that no user could make
                #expect(result.status == 73)
                expectContains(result.stderr, "the state directory /dev/null/state cannot be used")
            }
        }

        @Test(
            .proves(
                .programs,
                "`serve` as root becomes `user:` or `martlet`, or refuses, however the settings are found; so does `secret set` (the tests need root)"
            ), .enabled(if: getpwnam("martlet") == nil, "the machine has the user"))
        func testThatItRefusesToStayRootBesideOthers() async throws {
            try await withTemporaryDirectory { directory in
                // given
                try directory.write("etc/martlet.yml", "listen: 127.0.0.1:1\nstate: \(directory.path("state"))\n")
                // when
                let result = try await run(
                    [try TestTools.builtProduct("martlet"), "serve", "--settings", directory.path("etc/martlet.yml")],
                    environment: ["PATH": "/usr/bin:/bin", "HOME": directory.path])
                // then
                #expect(result.status == 78)
                expectContains(result.stderr, "the service does not run as root: write `user: NAME` into the settings")
                expectNoFile(directory.path("state"))
            }
        }

        @Test(
            .proves(
                .programs,
                "`serve` as root becomes `user:` or `martlet`, or refuses, however the settings are found; so does `secret set` (the tests need root)"
            ), .program("unshare"), .enabled(if: getpwnam("martlet") == nil, "the machine has the user"))
        func testThatASecretThatRootStoresIsTheServices() async throws {
            try await withTemporaryDirectory { directory in
                // given
                try directory.write("etc/martlet.yml", "state: \(directory.path("state"))\n")
                // when
                let result = try await runWithUser(
                    ["secret", "set", "token", "--settings", directory.path("etc/martlet.yml")], in: directory,
                    input: "hunter2-hunter2\n")
                // then
                #expect(result.status == 0, "\(result.stderr)")
                for place in ["etc/secrets", "etc/secrets/token"] {
                    var status = stat()
                    #expect(stat(directory.path(place), &status) == 0)
                    #expect(status.st_uid == 65534, "\(place)")
                }
            }
        }

        @Test(
            .proves(
                .programs,
                "`doctor` started by root examines as the service's user: it names a bot file and a secret that only root can read (its tests need root)"
            ), .program("unshare"), .enabled(if: getpwnam("martlet") == nil, "the machine has the user"))
        func testThatDoctorFindsWhatTheServicesUserCannotRead() async throws {
            try await withTemporaryDirectory { directory in
                // given: files that root reads, and the service's user does not
                try directory.write(
                    "etc/martlet.yml", "state: \(directory.path("state"))\nisolation: none\nsecrets: secrets\n")
                try directory.write("etc/bots/kit.yml", "repository: /srv/kit.git\nwebhook: { secret: kit-webhook }\n")
                try directory.write("etc/bots/hidden.yml", "repository: /srv/hidden.git\n")
                try directory.write("etc/secrets/kit-webhook", "hunter2-hunter2")
                for path in ["etc/bots/hidden.yml", "etc/secrets/kit-webhook"] {
                    try #require(chmod(directory.path(path), 0o600) == 0)
                }
                func doctor() async throws -> ProgramResult {
                    try await runWithUser(["doctor", "--settings", directory.path("etc/martlet.yml")], in: directory)
                }
                func problems(_ result: ProgramResult, _ subject: String) -> [Substring] {
                    result.stdout.split(separator: "\n").filter { $0.hasPrefix("!!  \(subject)  ") }
                }
                // when
                let result = try await doctor()
                // then
                #expect(result.status == 1)
                let file = problems(result, "bot file")
                #expect(file.count == 1, "\(result.stdout)")
                expectContains(String(file.first ?? ""), directory.path("etc/bots/hidden.yml"))
                expectContains(String(file.first ?? ""), "Permission denied")
                let secret = problems(result, "secret")
                #expect(secret.count == 1, "\(result.stdout)")
                expectContains(String(secret.first ?? ""), "kit-webhook")
                // when: its user can read them
                for path in ["etc/bots/hidden.yml", "etc/secrets/kit-webhook"] {
                    try #require(chown(directory.path(path), 65534, 65534) == 0)
                }
                let mended = try await doctor()
                // then
                #expect(problems(mended, "bot file") == [] && problems(mended, "secret") == [], "\(mended.stdout)")
            }
        }

        @Test(
            .proves(
                .programs,
                "Started as root, `serve` becomes `user:` before it opens a file, and is not dumpable (its tests need root; others see them skipped)"
            ),
            arguments: [
                ("nobody-here", "the settings say `user: nobody-here`, and there is no such user; make it"),
                ("root", "error: `user` is the name of a user of this machine, never root"),
            ])
        func testThatAUserThatCannotBeIsRefusedBeforeAnythingIsOpened(user: String, sentence: String) async throws {
            try await withDaemon(settings: "user: \(user)\n", isStarted: false) { daemon in
                // when
                let result = try await daemon.martlet("serve", "--settings", daemon.settings, isOnSocket: false)
                // then
                #expect(result.status == 78)
                expectContains(result.stderr, sentence)
                expectNoFile(daemon.state)
            }
        }
    }
}
