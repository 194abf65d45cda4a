import TestSupport
import Testing

@testable import Execution

/// What systemd says about a unit.
@Suite(
    .proves(
        .programs,
        "`doctor` examines the service with the user and the PATH of its unit: unit, daemon, bot files, secrets, repositories and targets, each finding with its remedy; `--json`"
    ))
struct SystemdUnitTests {
    private static let output = """
        ActiveState=failed
        Result=exit-code
        ExecMainStatus=78
        ExecStart={ path=/usr/bin/martlet ; argv[]=/usr/bin/martlet serve --settings /etc/martlet/martlet.yml ; ignore_errors=no }
        LoadState=loaded
        Environment=LIBDISPATCH_LOG=NO PATH=/opt/swift/bin:/usr/bin "GREETING=good day"
        LoadCredential=git-host:/etc/secrets/git
        SetCredentialEncrypted=mail:abc
        NeedDaemonReload=yes
        UnitFileState=enabled

        """

    @Test func testThatEachPropertyIsRead() throws {
        // when
        let unit = try #require(SystemdUnit(Self.output))
        // then
        #expect(unit.state == "failed")
        #expect(unit.result == "exit-code")
        #expect(unit.exitStatus == 78)
        #expect(unit.isOutdated)
        #expect(unit.isEnabled)
        expectContains(unit.command, "--settings /etc/martlet/martlet.yml")
        #expect(
            unit.environment == [
                "LIBDISPATCH_LOG": "NO", "PATH": "/opt/swift/bin:/usr/bin", "GREETING": "good day",
            ])
        #expect(unit.credentials == ["git-host", "mail"])
    }

    @Test(arguments: ["", "LoadState=not-found\nActiveState=inactive\n", "LoadState", "=\n"])
    func testThatAnUnknownUnitIsNone(output: String) {
        #expect(SystemdUnit(output) == nil)
    }

    @Test(arguments: ["\"", "\\", "a=\"b c", "$'a=b\\", "= ="]) func testThatBrokenQuotesAreHarmless(text: String) {
        #expect(SystemdUnit("LoadState=loaded\nEnvironment=\(text)\n") != nil)
    }
}
