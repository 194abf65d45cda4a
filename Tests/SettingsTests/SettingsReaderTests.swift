import Foundation
import Model
import Settings
import TestSupport
import Testing

@Suite struct SettingsReaderTests {
    private let defaults = ServiceSettings.Defaults.system(processors: 8)

    private func read(_ yaml: String) -> Reading<ServiceSettings> {
        SettingsReader.read(yaml: yaml, file: "/etc/martlet/martlet.yml", defaults: defaults)
    }

    @Test(
        .proves(.settings, "Every key of the settings has a default"),
        arguments: ["", "# nothing\n", "{}\n", "listen:\n"])
    func testThatAnEmptyFileHasEveryDefault(_ yaml: String) throws {
        let settings = try #require(read(yaml).value)
        #expect(settings.listen == [ListenAddress(host: "127.0.0.1", port: 8080)])
        #expect(settings.state == "/var/lib/martlet")
        #expect(settings.bots == "/etc/martlet/bots")
        #expect(settings.triggers == "/etc/martlet/triggers")
        #expect(settings.secrets == "/etc/martlet/secrets")
        #expect(settings.concurrency == 4)
        #expect(settings.anonymous == .read)
        #expect(settings.isolation == nil, "the sandbox where it can work")
        #expect(settings.sandbox == SandboxSettings(processes: 512, workspace: .gibibytes(20)))
        #expect(settings.images == nil)
        #expect(settings.user == "martlet")
        #expect(settings.url == nil)
    }

    @Test(
        .proves(
            .jobs,
            "Memory and processes are limited by control groups of version 2 or 1, or else by the kernel's counts in the sandbox and by /proc; a fork bomb always ends early"
        ))
    func testThatAJobHasThreeQuartersOfTheMachinesMemory() throws {
        // given: `MemTotal:       24609084 kB`
        let first = try String(contentsOfFile: "/proc/meminfo", encoding: .utf8).split(separator: "\n")[0]
        let words = first.split { $0 == " " }
        let machine = try #require(words[0] == "MemTotal:" ? Int64(words[1]) : nil) * 1024
        // when
        let memory = SandboxSettings.usualMemory.bytes
        // then: whole gibibytes, rounded down
        #expect(memory <= machine / 4 * 3)
        #expect(memory > machine / 4 * 3 - (1 << 30))
        #expect(memory % (machine >= 4 << 30 ? 1 << 30 : 1 << 20) == 0)
    }

    @Test(
        .proves(.settings, "Every key of the settings has a default"),
        .proves(
            .notices,
            "`mail` of the settings: smtps, or smtp with STARTTLS, or without TLS where that is said and then without a password"
        ),
        .proves(
            .notices,
            "Mail is sent over TLS: smtps and STARTTLS, AUTH PLAIN and LOGIN, with own certificates; without TLS or trust it waits"
        ))
    func testThatItReadsEveryKey() throws {
        let reading = read(
            """
            listen: [127.0.0.1:8080, "[::1]:9090"]
            url: https://ci.acme.example/
            state: /srv/martlet/
            bots: our-bots
            concurrency: 3
            secrets: /run/secrets
            anonymous: none
            isolation: sandbox
            sandbox: { read-only: [/opt/sdk/, /srv/packages], memory: 4GiB, processes: 100, workspace: 512MiB, cpu-weight: 50, loopback: true }
            images: images
            user: ci
            certificates: /etc/ssl/acme/
            signing: signing-key
            mail:
              server: smtp://mail.acme.example:587/
              from: Martlet <ci@acme.example>
              credentials: mail
              certificates: /etc/martlet/mail.pem
            """)
        var expected =
            ServiceSettings(
                listen: [.init(host: "127.0.0.1", port: 8080), .init(host: "::1", port: 9090)],
                url: "https://ci.acme.example", state: "/srv/martlet", bots: "/etc/martlet/our-bots", concurrency: 3,
                secrets: "/run/secrets", anonymous: .none, isolation: .sandbox,
                sandbox: SandboxSettings(
                    readOnly: ["/opt/sdk", "/srv/packages"], memory: .gibibytes(4), processes: 100,
                    workspace: .mebibytes(512), cpuWeight: 50, loopback: true), images: "/etc/martlet/images",
                user: "ci",
                mail: MailSettings(
                    server: "smtp://mail.acme.example:587",
                    from: try #require(MailAddress("Martlet <ci@acme.example>")), credentials: "mail",
                    certificates: "/etc/martlet/mail.pem"),
                signing: "signing-key")
        expected.certificates = "/etc/ssl/acme"
        expectNoDifference(try #require(reading.value, "\(reading.diagnostics)"), expected)
    }

    @Test(.proves(.settings, "The settings' old key for the sandbox is read, with a warning that names the new one"))
    func testThatTheSandboxsOldKeyIsReadWithAWarning() throws {
        // given
        let old = "fence"
        // when
        let reading = read("\(old): { processes: 100 }\n")
        let both = read("sandbox: {}\n\(old): { processes: 100 }\n")
        // then
        #expect(try #require(reading.value).sandbox.processes == 100)
        #expect(
            reading.diagnostics.map(\.description) == [
                "/etc/martlet/martlet.yml:1:1: warning: `\(old)` is the old name of `sandbox`; it is still read, but write `sandbox`"
            ])
        #expect(both.value == nil)
        expectContains("\(both.diagnostics)", "`\(old)` is the old name of `sandbox`, and the settings file has both")
    }

    @Test(
        .proves(
            .intake,
            "Limits for each client apply by address, also behind a proxy in `proxies`; loopback and the Unix socket have none"
        ))
    func testThatProxiesAreAddresses() throws {
        #expect(read("").value?.proxies == [])
        #expect(read("proxies: 127.0.0.1\n").value?.proxies == ["127.0.0.1"])
        #expect(read("proxies: [10.0.0.2, \"2001:db8::1\"]\n").value?.proxies == ["10.0.0.2", "2001:db8::1"])
        for wrong in ["proxy.example", "10.0.0.0/8", "127.0.0.1:8080"] {
            let reading = read("proxies: \"\(wrong)\"\n")
            #expect(reading.value == nil)
            expectContains(
                "\(reading.diagnostics)", "`proxies` are the IP addresses from which reverse proxies connect")
        }
        let many = (1...17).map { "10.0.0.\($0)" }.joined(separator: ", ")
        #expect(read("proxies: [\(many)]\n").value == nil)
    }

    @Test(
        .proves(
            .web,
            "A request for another host name is 421, so no page of another site reads the service (DNS rebinding; A13)")
    )
    func testThatHostsAreNamesWithoutAPort() throws {
        let settings = try #require(read("hosts: [CI.acme.example, 192.0.2.1, 'fd00::1']\n").value)
        #expect(settings.hosts == ["ci.acme.example", "192.0.2.1", "fd00::1"])
        #expect(try #require(read("hosts: ci.internal\n").value).hosts == ["ci.internal"])
        #expect(try #require(read("hosts: []\n").value).hosts == [])
        let many = (0...64).map { "h\($0)" }.joined(separator: ", ")
        expectContains(read("hosts: [\(many)]\n").diagnostics.first?.message ?? "", "`hosts` has at most 64 names")
    }

    @Test(
        .proves(
            .notices,
            "`mail` of the settings: smtps, or smtp with STARTTLS, or without TLS where that is said and then without a password"
        ))
    func testThatMailWithoutTLSHasToBeSaid() throws {
        let mail = try #require(read("mail: { server: smtp://127.0.0.1, from: a@b, insecure: true }\n").value?.mail)
        #expect(mail.isInsecure)
        #expect(try #require(read("mail: { server: smtp://h, from: a@b }\n").value?.mail).isInsecure == false)
    }

    @Test(arguments: [
        Marked("§lisen: x\n", "did you mean `listen`?"),
        Marked("listen: §8080\n", "is not an address with a port"),
        Marked("listen: §localhost\n", "is not an address with a port"),
        Marked("listen: §[]\n", "1 to 16 addresses"),
        Marked("listen: ['[::1]:1', §\"[::1]:1\"]\n", "is written twice"),
        Marked("listen: §127.0.0.1:70000\n", "is not an address with a port"),
        Marked("url: §ci.acme.example\n", "such as https://ci.acme.example"),
        Marked("url: §https://u:hunter2@h\n", "such as https://ci.acme.example"),
        Marked("hosts: §ci.acme.example:8080\n", "write a name or an address without a port"),
        Marked("hosts: [ci.acme.example, §https://ci.acme.example]\n", "is not a host"),
        Marked("hosts: [§'*.acme.example']\n", "is not a host"),
        Marked("state: §var\n", "`state` is an absolute path"),
        Marked("bots: §~/bots\n", "`bots` is an absolute path"),
        Marked("concurrency: §0\n", "a whole number from 1 to 256"),
        Marked("concurrency: §many\n", "a whole number from 1 to 256"),
        Marked("anonymous: §write\n", "one of `read`, `none`"),
        Marked("isolation: §docker\n", "one of `sandbox`, `none`"),
        Marked("sandbox: { §readonly: /opt }\n", "did you mean `read-only`?"),
        Marked("sandbox: { read-only: §opt }\n", "has absolute paths"),
        Marked("sandbox: { read-only: [/opt, §/opt/../etc] }\n", "has absolute paths"),
        Marked("sandbox: { read-only: §/ }\n", "would show jobs the whole machine"),
        Marked("sandbox: { read-only: §/tmp/sdk }\n", "a /tmp of its own"),
        Marked("sandbox: { memory: §4 }\n", "is no size for `memory`"),
        Marked("sandbox: { memory: §4GB }\n", "is no size for `memory`"),
        Marked("sandbox: { memory: §1MiB }\n", "`memory` is between 64MiB and"),
        Marked("sandbox: { workspace: §99999999999GiB }\n", "is no size for `workspace`"),
        Marked("sandbox: { processes: §0 }\n", "a whole number from 16 to 32768"),
        Marked("images: §~/images\n", "`images` is an absolute path"),
        Marked("certificates: §acme.pem\n", "`certificates` is an absolute path"),
        Marked("mail: §smtps://h\n", "`mail` is a mapping"),
        Marked("mail: §{}\n", "`mail` needs `server`"),
        Marked("mail: §{ from: a@b }\n", "`mail` needs `server`"),
        Marked("mail: { server: §mail.acme.example, from: a@b }\n", "`server` is smtps://host:465"),
        Marked("mail: { server: §https://h, from: a@b }\n", "`server` is smtps://host:465"),
        Marked("mail: { server: §smtps://u:hunter2@h, from: a@b }\n", "`server` is smtps://host:465"),
        Marked("mail: { server: §smtps://h/x, from: a@b }\n", "`server` is smtps://host:465"),
        Marked("mail: { server: smtps://h, from: §Martlet }\n", "`from` is an address"),
        Marked("mail: { server: smtps://h, from: a@b, §insecure: true }\n", "smtps:// has it"),
        Marked(
            "mail: { server: smtp://h, from: a@b, credentials: c, §insecure: true }\n", "readable on the way"),
        Marked("mail: { server: smtps://h, from: a@b, §certificates: c.pem }\n", "is the absolute path of a PEM"),
        Marked(
            "mail: { server: smtp://h, from: a@b, insecure: true, §certificates: /c }\n", "without TLS there are no"),
        Marked("user: §root\n", "never root"),
        Marked("§- x\n", "the settings file is a mapping"),
    ])
    func testThatItSaysWhereAndWhatIsWrong(_ sample: Marked) {
        let reading = read(sample.text)
        sample.expectFirst(of: reading.diagnostics)
        #expect(reading.value == nil)
        #expect(!reading.diagnostics.contains { $0.message.contains("hunter2") })
    }

    @Test func testThatAUsersDefaultsFollowTheBaseDirectories() throws {
        let plain = try #require(ServiceSettings.Defaults.user(environment: ["HOME": "/home/u"], processors: 1))
        #expect(plain.state == "/home/u/.local/state/martlet")
        #expect(plain.bots == "/home/u/.config/martlet/bots")
        #expect(plain.concurrency == 1)
        #expect(plain.user == nil)
        let own = try #require(
            ServiceSettings.Defaults.user(
                environment: ["HOME": "/h", "XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "relative"], processors: 4))
        #expect(own.state == "/s/martlet")
        #expect(own.file == "/h/.config/martlet/martlet.yml")
        #expect(ServiceSettings.Defaults.user(environment: [:], processors: 4) == nil)
    }
}
