import Basics
import Execution
import Foundation
import JobProtocol
import TestSupport
import Testing

/// Secrets in the service's files and answers: rows S1 and S2 of the threats, with the installed programs.
@Suite(
    .proves(
        .jobs, "Secrets are masked in the log: as they are, as base64 and hexadecimal, wrapped, colored, cut anywhere"))
struct SecretThreatTests {
    private static let bot = """
        secrets: [{ name: office-token, branches: [main] }]
        triggers:
          - { name: forms, when: always, run: print-forms, secrets: [office-token] }

        """
    /// One step of the recipe has the secret too, and prints it in the same encodings. The next step does not have it.
    private static let files = [
        ".martlet.yml": """
        configurations:
          debug:
            steps:
              - { name: print, step: building, run: perl print-forms, secrets: [office-token] }
              - { name: look, step: testing, run: "! env | grep MARTLET_SECRET && mv left.xml junit.xml", report: [junit.xml] }
        analyze: []
        archive: { include: [] }

        """,
        "print-forms": script,
    ]
    /// It contains characters that each of the encodings must escape.
    private static let secret = "cAnary/7f3a+9=\"q\\z é%w and-more-of-it"

    private static let hookSecret = "canary-of-the-hook-5e1b"

    /// The number of encodings that the script prints.
    private static let forms = 29

    /// A script that prints the secret in every encoding that is masked.
    private static let script = #"""
        #!/usr/bin/perl
        use strict; use warnings;
        use MIME::Base64;
        $| = 1;
        my $s = $ENV{MARTLET_SECRET_OFFICE_TOKEN} or die "no secret";
        sub say { print "form: $_[0]\n" }
        say($s);
        say(encode_base64($_ . $s, "")) for ("", "x", "xx");
        (my $url = encode_base64($s, "")) =~ tr#+/#-_#; say($url);
        say(unpack("H*", $s)); say(uc unpack("H*", $s));
        sub percent { my ($kept) = @_; (my $text = $s) =~ s/([^A-Za-z0-9$kept])/sprintf("%%%02X", ord $1)/ge; $text }
        # Of Python's quote, JavaScript's encodeURIComponent and encodeURI, Go's PathEscape; then of forms, where a space is a plus.
        my @percent = map { percent($_) } "._~-", "/._~-", "._~!*'()-", ";,/?:\@&=+\$._~!*'()#-", "\$&+:=\@._~-";
        say($_), say(s/(%..)/lc $1/ger) for @percent;
        say(s/%20/+/gr) for percent("._~-"), percent("._-"), percent("._*-") =~ s/(%..)/lc $1/ger;
        (my $json = $s) =~ s/(["\\])/\\$1/g; say($json); (my $slash = $json) =~ s#/#\\/#g; say($slash);
        utf8::decode(my $wide = $json); (my $ascii = $wide) =~ s/([^\x20-\x7e])/sprintf("\\u%04x", ord $1)/ge; say($ascii);
        # Of .NET.
        (my $upper = $wide) =~ s{\\"|([+'&<>]|[^\x20-\x7e])}{sprintf("\\u%04X", ord($1 || '"'))}ge; say($upper);
        (my $numbers = $wide) =~ s/\\(.)/$1/g; $numbers =~ s/([+"&<>]|[^\x20-\x7e])/sprintf("&#x%x;", ord $1)/ge; say($numbers);
        (my $wrapped = $s) =~ s/(.{7})/$1\n/g; say($wrapped);
        (my $colored = $s) =~ s/(.{5})/$1\e[31m/g; say($colored);
        syswrite(STDOUT, "form: "); syswrite(STDOUT, $_) for split //, $s; syswrite(STDOUT, "\n");
        print STDERR "form: $s\n";
        (my $xml = $s) =~ s/"/&quot;/g;
        open my $report, ">", "left.xml"; print $report qq(<testsuite name="Kit"><testcase classname="Kit" name="uses $xml">);
        print $report qq(<skipped message="$xml"/><system-out>$s</system-out></testcase><testcase classname="Kit" name="ran"/></testsuite>\n); close $report;
        print "all forms were printed\n";

        """#

    /// Returns the encodings in which the secret is in some bytes.
    private static func ways(in bytes: [UInt8]) -> [String] { SecretOracle(secret).ways(in: bytes) }

    private func completion(_ daemon: Daemon) async throws {
        try await until("the end of kit#1", limit: TestLimits.wait * 4) {
            try await daemon.get("/api/v1/bots/kit/integrations/1").body.contains("\"completed\"")
        }
    }

    private func withForms(_ body: (Daemon) async throws -> Void) async throws {
        try await withDaemon(bot: Self.bot) { daemon in
            try daemon.directory.write("etc/secrets/kit-webhook", Self.hookSecret, mode: 0o600)
            try daemon.directory.write("etc/secrets/office-token", Self.secret, mode: 0o600)
            try daemon.directory.write("etc/triggers/print-forms", Self.script, mode: 0o755)
            _ = try await daemon.work.commit(files: Self.files, message: "Begin")
            try await daemon.work.push(to: daemon.remote)
            try await completion(daemon)
            try await body(daemon)
        }
    }

    /// In a trigger, which has a log of its own, and in the step of a recipe.
    @Test(
        .threat("S1"), .program("perl"), .program("curl"), arguments: [("forms", "_trigger-forms"), ("debug", "debug")])
    func testThatS1NoFormOfASecretIsKeptStreamedOrDownloaded(log: String, job: String) async throws {
        try await withForms { daemon in
            // given
            let attempt = AttemptDirectory(path: daemon.state + "/integrations/kit/1/\(job)/1")
            let path = "/api/v1/bots/kit/integrations/1/log/\(log)"
            expectContains(
                try await daemon.get("/api/v1/bots/kit/integrations/1").body, #""result":"succeeded""#)
            // when
            let outputs = [
                "kept": try attempt.readLog(from: 0, count: 1 << 20),
                "downloaded": Array(try await daemon.get(path).body.utf8),
                "streamed": Array(try await daemon.get(path + "/events").body.utf8),
                "on its page": Array(try await daemon.get("/bots/kit/1/log/\(log)").body.utf8),
                "printed": Array(try await daemon.output("log", "kit#1", "--configuration", log).utf8),
            ]
            // then
            for (name, bytes) in outputs {
                let text = String(decoding: bytes, as: UTF8.self)
                expectContains(text, "all forms were printed")
                #expect(text.components(separatedBy: "form: ").count == Self.forms + 1, "\(name): \(text)")
                #expect(text.components(separatedBy: "***").count == Self.forms + 1, "\(name): \(text)")
                #expect(Self.ways(in: bytes) == [], "\(name): \(text)")
            }
        }
    }

    @Test(
        .proves(
            .jobs,
            "Secrets masked in the reports of steps, also as XML escapes them; products stay as they were made (S1)"),
        .threat("S2"), .program("perl"), .program("curl"))
    func testThatS2NoOutputOfTheServiceHasASecret() async throws {
        try await withForms { daemon in
            // given: also requests that are refused
            let token = try await daemon.output("token", "create", "canary", "--role", "admin")
            let bearer = try #require(token.split { $0.isWhitespace }.map(String.init).max { $0.count < $1.count })
            let hook = Self.hookSecret
            for header in ["Authorization: Bearer \(bearer)", "Authorization: Bearer \(bearer)x"] {
                _ = try await daemon.get("/api/v1/tokens", headers: [header])
            }
            // when
            let commands = try Self.commandLines()
            var answers: [String] = []
            for path in [
                "/", "/bots/kit", "/bots/kit/1", "/deliveries", "/metrics", "/health", "/openapi.json", "/cctray.xml",
                "/api/v1/bots", "/api/v1/bots/kit", "/api/v1/integrations?state=completed", "/api/v1/deliveries",
                "/api/v1/bots/kit/integrations/1", "/api/v1/bots/kit/integrations/1/triggers",
                "/api/v1/bots/kit/integrations/1/log/debug", "/api/v1/bots/kit/integrations/1/tests",
                "/bots/kit/1/tests",
            ] { answers.append(try await daemon.get(path).body) }
            for arguments in [["bot", "kit", "--resolved"], ["webhook", "kit"], ["token", "list"]] {
                answers.append(try await daemon.output(arguments))
            }
            try await daemon.stop()
            // then: also files that a step left to be read, which name a test
            #expect(answers.contains { $0.contains("uses ***") })
            var looked = 0
            let root = try Directory(opening: daemon.directory.path)
            try root.walk(".", limit: 100_000) { path, status in
                let name = String(decoding: path, as: UTF8.self)
                // The operator's own files, and the repository's hook, which signs with one.
                // Files that the job itself wrote.
                guard status.kind == .file, !name.contains("etc/secrets/"), !name.hasSuffix("tree/junit.xml") else {
                    return
                }
                // `Directory` is not used, because it reads no file with two names: a mirror shares the objects of a repository beside it.
                let bytes = try #require(SmallFile.read(daemon.directory.path(name), limit: 64 << 20), "\(name)")
                #expect(Self.ways(in: bytes) == [], "\(name)")
                #expect(!bytes.contains(bearer), "\(name)")
                if name.contains("state/") { #expect(!bytes.contains(hook), "\(name)") }
                looked += 1
            }
            #expect(looked > 20, "the state was looked through")
            for text in answers + commands {
                #expect(Self.ways(in: Array(text.utf8)) == [], "\(text)")
                #expect(!text.contains(bearer) && !text.contains(hook), "\(text)")
            }
        }
    }

    /// Returns the arguments of every process of the machine.
    private static func commandLines() throws -> [String] {
        try Directory(opening: "/proc").entries().compactMap { entry in
            guard Int(entry.name) != nil else { return nil }
            return SmallFile.read("/proc/\(entry.name)/cmdline", limit: 1 << 20).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
    }
}
