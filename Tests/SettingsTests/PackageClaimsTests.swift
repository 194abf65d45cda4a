import Glibc
import Model
import Settings
import TestSupport
import Testing

/// A package of the registry belongs to one product.
@Suite(
    .proves(
        .releases,
        "Registry: A package belongs to one product. Another one's is an error before publishing; the owner keeps it, whatever a new file is called"
    ))
struct PackageClaimsTests {
    /// Returns a bot file that publishes packages.
    private func bot(_ packages: String..., product: String? = nil, repository: String = "/one") -> String {
        let triggers = packages.enumerated().map { index, package in
            "  - { name: p\(index), branches: [\"release/*\"], publish: { version: branch, registry: \(package) } }\n"
        }
        return "repository: \(repository)\n" + (product.map { "product: \($0)\n" } ?? "") + "triggers:\n"
            + triggers.joined()
    }

    private func names(_ scan: BotDirectoryScan) -> [String] { scan.bots.map(\.name.description) }
    private func refused(_ scan: BotDirectoryScan) -> [String] { scan.problems.compactMap(\.bot?.description) }

    @Test func testThatTwoProductsWithOnePackageAreAProblem() async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.write("a.yml", bot("acme.kit"))
            try directory.write("b.yml", bot("Acme.Kit"))
            try directory.write("c.yml", bot("acme.other"))
            try directory.write("d.yml", bot("acme.kit", product: "a"))
            // when
            let scan = BotDirectory(directory: directory.path).scan()
            // then
            #expect(names(scan) == ["a", "c", "d"])
            #expect(refused(scan) == ["b"])
            let message = scan.problems.first?.diagnostics.first?.message ?? ""
            #expect(message.contains("`Acme.Kit` is published by the bot `a`"), "\(message)")
        }
    }

    /// A copy of the file whose name sorts first blocks no bot, whether the owner's file changes or not.
    @Test(arguments: [false, true]) func testThatWhoHasThePackageKeepsIt(isRestarted: Bool) async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.write("kit.yml", bot("acme.kit"))
            var bots = BotDirectory(directory: directory.path)
            let first = bots.scan()
            if isRestarted { bots = BotDirectory(directory: directory.path, lastGood: first.bots) }
            // when
            try directory.write("akit.yml", bot("acme.kit"))
            let copied = bots.scan()
            try directory.write("kit.yml", bot("acme.kit", repository: "/two"))
            let changed = bots.scan()
            // then
            #expect(refused(copied) == ["akit"])
            #expect(names(copied) == ["kit"])
            #expect(refused(changed) == ["akit"])
            #expect(changed.bots.map(\.repository) == ["/two"])
        }
    }

    /// While the owner's file is invalid, its last good form keeps the package.
    @Test func testThatAnInvalidFileGivesNothingUp() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("kit.yml", bot("acme.kit"))
            let bots = BotDirectory(directory: directory.path)
            _ = bots.scan()
            try directory.write("kit.yml", "repositry: /one\n")
            try directory.write("akit.yml", bot("acme.kit"))
            #expect(refused(bots.scan()) == ["akit", "kit"])
        }
    }

    /// A package that its owner no longer names is free, also if the owner's product has changed.
    @Test func testThatAPackageThatIsGivenUpIsFree() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("kit.yml", bot("acme.kit"))
            try directory.write("nightly.yml", bot("acme.kit", product: "kit"))
            let bots = BotDirectory(directory: directory.path)
            #expect(refused(bots.scan()).isEmpty)
            // when: the product has changed, and the bot still has the package
            try directory.write("kit.yml", bot("acme.kit", product: "app"))
            #expect(refused(bots.scan()) == ["kit"])
            // when
            try directory.write("nightly.yml", bot("acme.nightly", product: "kit"))
            let scan = bots.scan()
            // then
            #expect(refused(scan).isEmpty)
            #expect(scan.bots.map(\.product.description) == ["app", "kit"])
        }
    }

    /// A bot that is refused because of one package does not reserve the other one that it names.
    @Test func testThatARefusedBotTakesNothing() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("a.yml", bot("acme.kit"))
            try directory.write("b.yml", bot("acme.free", "acme.kit"))
            try directory.write("c.yml", bot("acme.free"))
            let scan = BotDirectory(directory: directory.path).scan()
            #expect(names(scan) == ["a", "c"])
            #expect(refused(scan) == ["b"])
        }
    }

    /// The bot continues as before with its packages, also those that its file no longer names.
    @Test func testThatARefusedChangeGivesNothingUp() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("a.yml", bot("acme.kit"))
            try directory.write("b.yml", bot("acme.old"))
            let bots = BotDirectory(directory: directory.path)
            _ = bots.scan()
            // when
            try directory.write("b.yml", bot("acme.kit"))
            try directory.write("c.yml", bot("acme.old"))
            // then
            let scan = bots.scan()
            #expect(refused(scan) == ["b", "c"])
            #expect(names(scan) == ["a", "b"])
        }
    }
}
