import Glibc
import JobProtocol
import TestSupport
import Testing

/// Requests of programs to the machine, which have the same results in a sandbox as outside of it.
@Suite(.program("bwrap")) struct SandboxToolTests {
    /// AddressSanitizer looks for leaks when a program exits, by a thread that traces the others.
    @Test(
        .proves(
            .jobs,
            "A job can trace its own processes and list network interfaces: the leak checker, debuggers and `getifaddrs` work"
        ), .program("cc"), arguments: JobUser.possible)
    func testThatTheLeakCheckerFindsWhatIsLeftAndPassesTheRest(
        user: JobUser
    ) async throws {
        try await withLaunched(as: user) { launched in
            // given
            try launched.directory.write(
                "workspace/leak.c",
                """
                #include <stdlib.h>
                void *volatile lost;
                int main(int count, char **arguments) { if (count > 1) { lost = malloc(77); lost = 0; } return 0; }

                """)
            try await runExpectingSuccess([
                "cc", "-g", "-fsanitize=address", "-o", launched.workspace + "/leak", launched.workspace + "/leak.c",
            ])
            // when
            let end = try await launched.run(
                launched.sandboxed("./leak && echo clean; ./leak more 2>&1 | grep -E 'ERROR|SUMMARY'"))
            // then
            let lines = end.log.split(separator: "\n")
            #expect(lines.first == "clean", "\(end.log)")
            expectContains(end.log, "LeakSanitizer: detected memory leaks")
            expectContains(end.log, "77 byte(s) leaked in 1 allocation(s)")
        }
    }

    @Test(
        .proves(
            .jobs,
            "A job can trace its own processes and list network interfaces: the leak checker, debuggers and `getifaddrs` work"
        ), .program("cc"), arguments: JobUser.possible)
    func testThatTheInterfacesOfItsNetworkAreListed(
        user: JobUser
    ) async throws {
        try await withLaunched(as: user) { launched in
            // given
            try launched.directory.write(
                "workspace/list.c",
                """
                #include <ifaddrs.h>
                #include <net/if.h>
                #include <stdio.h>
                int main(void) {
                    struct ifaddrs *first;
                    if (getifaddrs(&first) != 0) { perror("getifaddrs"); return 1; }
                    for (struct ifaddrs *one = first; one; one = one->ifa_next) {
                        if (one->ifa_addr && one->ifa_addr->sa_family == 2) puts(one->ifa_name);
                    }
                    struct if_nameindex *names = if_nameindex();
                    if (!names) { perror("if_nameindex"); return 1; }
                    for (; names->if_index; names++) printf("%u %s\\n", names->if_index, names->if_name);
                    return 0;
                }

                """)
            try await runExpectingSuccess([
                "cc", "-o", launched.workspace + "/list", launched.workspace + "/list.c",
            ])
            // when
            let end = try await launched.run(launched.sandboxed("./list"))
            // then: its own, not the machine's
            #expect(end.step(0) == "exit 0", "\(end.log)")
            #expect(end.log.hasPrefix("lo\n1 lo\n"), "\(end.log)")
            #expect(!end.log.contains("eth0"))
        }
    }

    @Test(
        .proves(
            .jobs,
            "Installed programs find their configuration and databases; keys, users and tokens are hidden; a step's user and host name are consistent"
        ), arguments: JobUser.possible)
    func testThatTheMachineAgreesWithItself(user: JobUser) async throws {
        try await withLaunched(as: user) { launched in
            // given
            let script = """
                test "$(hostname)" = "$(cat /etc/hostname)" || echo hostname
                getent hosts "$(hostname)" | grep -q '^127\\.' || echo hosts
                test "$(getent passwd "$(id -un)" | cut -d: -f3,4,6)" = "$(id -u):$(id -g):$HOME" || echo passwd
                test "$(getent group "$(id -g)" | cut -d: -f1)" = "$(id -gn)" || echo group
                test "$(hostname -f)" = martlet || echo canonical
                grep -qE '^[0-9a-f]{32}$' /etc/machine-id || echo machine-id
                test -d /var/run/ && test -d /var/tmp/ && test -r /etc/mtab && test -r /etc/os-release || echo links
                test "$(date +%Z)" = "$(TZ=:/etc/localtime date +%Z)" || echo zone
                for file in /etc/resolv.conf /etc/services /etc/protocols /etc/nsswitch.conf; do
                    test -r $file || echo $file
                done
                for place in /tmp /var/tmp /dev/shm ~; do touch $place/x || echo $place; done
                test "$(nproc)" -ge 1 && test -e /sys/devices/system/cpu/online || echo processors
                echo done
                """
            // when
            let end = try await launched.run(launched.sandboxed(script))
            // then
            #expect(end.log == "done\n")
        }
    }

    /// dpkg's database, alternatives, the list of file types: what Debian's packages have outside of /usr.
    @Test(
        .proves(
            .jobs,
            "Installed programs find their configuration and databases; keys, users and tokens are hidden; a step's user and host name are consistent"
        ), .enabled(if: access("/var/lib/dpkg/status", R_OK) == 0, "this machine has no dpkg"))
    func testThatThePackagesOfTheMachineAreFound() async throws {
        try await withLaunched { launched in
            let end = try await launched.run(
                launched.sandboxed(
                    """
                    dpkg-query -W -f '${Package}\\n' bash
                    test -e /etc/fonts || ! test -e /usr/bin/fc-match || echo fonts
                    test -d /etc/dpkg/origins || echo origins; touch /var/lib/dpkg/x 2>/dev/null && echo OPEN; true
                    """))
            #expect(end.log == "bash\n")
        }
    }

    /// The configuration of desktop and server programs in /etc belongs to the machine, and contains its secrets.
    @Test(
        .proves(
            .jobs,
            "Installed programs find their configuration and databases; keys, users and tokens are hidden; a step's user and host name are consistent"
        ))
    func testThatNothingOfTheConfigurationHoldsKeysOrUsers() async throws {
        try await withLaunched { launched in
            let hidden = [
                "shadow", "gshadow", "sudoers", "sudoers.d", "ssh", "ssl/private", "martlet", "gitconfig", "npmrc",
                "pip.conf", "wgetrc", "netrc", "environment", "profile.d", "apt", "maven/settings.xml", "subuid",
                "security", "pam.d", "NetworkManager", "wireguard", "letsencrypt", "krb5.keytab", "docker", "fstab",
                "crontab", "cron.d", "systemd", "mysql", "postgresql", "nginx", "apache2", "exim4", "ldap",
            ]
            let end = try await launched.run(
                launched.sandboxed(
                    hidden.map { "test -e /etc/\($0) && echo OPEN \($0)" }.joined(separator: "\n") + """

                        ls -A /sys /sys/devices /sys/devices/system /var/lib | grep -vE \
                        '^(/.*:|devices|system|cpu|node|alternatives|aspell|dpkg|gems|ghc|ghostscript|ispell|mecab|php|rpm|texmf|)$'
                        echo tried
                        """))
            #expect(end.log == "tried\n")
        }
    }
}
