import Testing

@testable import Model

/// The build and test targets of a Makefile, recognized by its text.
@Suite struct MakefileTextTests {
    @Test(
        arguments: [
            ("all: kit\ncheck: kit\n\t./kit\n", .usual),
            ("install: kit\n\tcp kit /usr/local/bin\nkit: kit.c\n", .targets(["kit"])),
            ("install:\n\tcp kit /usr/local/bin\n", .none),
            ("install: all\n\tcp kit /usr/local/bin\nall: kit\n", .targets(["all"])),
            ("PREFIX = /usr\ninstall:\n\tcp kit $(PREFIX)\nbuild: kit\n", .targets(["build"])),
            ("all: kit install\nkit: kit.c\n", .targets(["kit"])),
            ("all: kit install\nbuild: kit\n", .targets(["build"])),
            ("test:\n\t./run\n", .none), ("help:\n\t@echo\nall: kit\n", .targets(["all"])),
            (".PHONY: install all\nall: kit\n", .usual), (".DEFAULT_GOAL := all\ninstall:\n\tx\nall: kit\n", .usual),
            ("%.o: %.c\n\tcc $<\ninstall:\n", .none), ("include rules.mk\n", .usual), ("", .usual),
            ("install \\\n  : kit\nall: kit\n", .targets(["all"])), ("kit.1: kit.md\n\tronn kit.md\n", .usual),
            ("check: CFLAGS = -g\nkit: kit.c\n", .usual),
            ("install: \\\r\n  kit\\\r\n  man\r\nkit: kit.c\r\n", .targets(["kit", "man"])),
            ("install: kit | man ; cp kit\nman: \\", .targets(["kit"])), ("re-Install: kit\n", .targets(["kit"])),
            ("\u{e9}install: kit\n", .usual), ("installer: kit\n", .usual),
        ] as [(String, MakefileText.Build)])
    func testThatItBuildsWithoutInstallingOrTesting(_ text: String, _ build: MakefileText.Build) {
        #expect(MakefileText(text).build == build)
    }

    @Test func testThatTheFirstTargetIsTheOneThatMakeBuilds() {
        #expect(MakefileText("a = b\n.PHONY: run\n%.o: %.c\nrun: kit\nkit:\n").goal == "run")
        #expect(MakefileText(".DEFAULT_GOAL = kit\nrun:\nkit:\n").goal == "kit")
        #expect(MakefileText("# run:\n").goal == nil)
    }

    @Test(
        arguments: [
            ("all:\ncheck: all\n", "check"), ("test:\ncheck:\n", "check"), ("all:\ntests: all\n", "tests"),
            ("check ?= http://example.org\n", nil), ("$(info check: it)\n", nil), ("# check:\n", nil),
            ("\tcheck:\n", nil),
            ("check := yes\n", nil), ("check test: all\n", "check"), ("check: CFLAGS = -g\n", nil),
            (".PHONY: check\n", nil),
            ("test::\n\t./a\n", "test"), ("testing:\n", nil),
        ] as [(String, String?)])
    func testThatTheTargetThatTestsIsFound(_ text: String, _ target: String?) {
        #expect(MakefileText(text).testTarget == target)
    }
}
