import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

/// A root file system on the disk as a sandbox's root.
@Suite(.program("bwrap")) struct ImageRootTests {
    /// Runs a test with an image: a shell with its libraries, and a file that only this image has.
    private func withImage(_ body: (TemporaryDirectory) async throws -> Void) async throws {
        try await withTemporaryDirectory { image in
            try await runExpectingSuccess(
                [
                    "sh", "-c",
                    """
                    set -e
                    mkdir -p usr/bin usr/lib etc opt home/other; ln -s usr/bin bin
                    for program in /bin/sh /bin/cat /bin/ls; do
                        cp -L $program usr/bin/
                        for library in $(ldd $program | grep -o '/[^ ]*'); do
                            mkdir -p .$(dirname $library); cp -L $library .$library
                        done
                    done
                    echo image > etc/issue; echo other > etc/passwd; echo theirs > home/other/file
                    """,
                ], in: image.path)
            try await body(image)
        }
    }

    @Test(.proves(.jobs, "An image directory as a job's root"), arguments: JobUser.possible)
    func testThatItIsTheRootReadOnly(user: JobUser) async throws {
        try await withImage { image in
            try await withLaunched(as: user) { launched in
                // when
                let end = try await launched.run(
                    launched.sandboxed(
                        """
                        cat /etc/issue /etc/passwd /home/other/file; pwd; echo x > ~/x && echo x > /tmp/x && echo x > made
                        echo x > /etc/issue; echo x > /opt/x; ls /usr/bin
                        """, root: image.path))
                // then
                #expect(end.log.hasPrefix("image\nroot:x:0:0"), "\(end.log)")
                #expect(end.log.contains("martlet:x:1000:1000:martlet:/home/martlet:/bin/sh\n"))
                #expect(end.log.contains("theirs\n/martlet/kit\n"))
                #expect(end.log.contains("/etc/issue: Read-only file system"))
                #expect(end.log.contains("/opt/x: Read-only file system"))
                #expect(end.log.hasSuffix("cat\nls\nsh\n"))
                #expect(access(launched.workspace + "/made", F_OK) == 0)
            }
        }
    }

    @Test(
        .proves(
            .jobs,
            "`HOME` is the same directory in all steps of a job, empty at its beginning, gone at its end, and counted with the workspace"
        ))
    func testThatTheHomeOfAJobIsThereForAllItsSteps() async throws {
        try await withImage { image in
            try await withLaunched { launched in
                // given
                var job = launched.sandboxed("echo 1 > ~/a", "cat ~/a; ls /home", root: image.path)
                job.sandbox?.homeDirectory = try launched.makeHome()
                // when
                let end = try await launched.run(job)
                // then
                #expect(end.log == "1\nmartlet\nother\n", "\(end.reason ?? "")")
            }
        }
    }

    @Test(.proves(.jobs, "An image directory as a job's root"))
    func testThatItsLinksLeadNowhereElse() async throws {
        try await withImage { image in
            try await withLaunched { launched in
                // given
                try launched.directory.write("secret/file", "secret")
                symlink(launched.directory.path("secret"), image.path("martlet"))
                symlink(launched.directory.path("secret"), image.path("peek"))
                // when
                let end = try await launched.run(
                    launched.sandboxed("cat /peek/file; pwd; ls /martlet", root: image.path))
                // then
                #expect(end.log.contains("/peek/file: No such file or directory"), "\(end.log)")
                #expect(end.log.hasSuffix("/martlet/kit\nkit\n"))
            }
        }
    }

    @Test func testThatOneThatIsNotThereIsOurFault() async throws {
        try await withLaunched { launched in
            let end = try await launched.run(launched.sandboxed("true", root: "/nonexistent"))
            #expect(end.result == .faulty)
            #expect(end.reason?.contains("the image directory /nonexistent cannot be opened") ?? false)
        }
    }
}
