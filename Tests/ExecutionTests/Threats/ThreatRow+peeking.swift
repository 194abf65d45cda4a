import Execution
import Glibc
import JobProtocol
import TestSupport

extension ThreatRow {
    /// B7: things that do not belong to a job.
    static let peeking: [ThreatRow] = [
        script("B7.state", "the job directory, the launcher's socket, other workspaces") { launched in
            """
            for path in \(launched.directory.path) \(launched.attempt().paths.job) \(launched.socket) \(launched.workspace) \
                /tmp/martlet-* /var/lib/martlet /etc/martlet /etc/shadow /root /home/[!m]* /boot /srv /opt; do
                ls $path > /dev/null 2>&1 && echo OPEN $path
            done
            """
        },
        script("B7.machine", "the identifier of the machine, and of its hardware") { _ in
            let own = String(decoding: SmallFile.read("/etc/machine-id", limit: 64) ?? [], as: UTF8.self)
            return """
                test "$(cat /etc/machine-id)" = "\(own.split(separator: "\n").first ?? "none")" && echo OPEN
                ls /sys/class /sys/devices/virtual /sys/firmware /sys/block > /dev/null 2>&1 && echo OPEN /sys; true
                """
        },
        script("B7.sockets", "sockets of the machine's services") { _ in
            """
            for path in /run/* /var/run/* /run/docker.sock /run/dbus/system_bus_socket /run/systemd/private \
                /run/credentials /run/user; do
                test -e $path && echo OPEN $path
            done
            test -n "$SSH_AUTH_SOCK$DBUS_SESSION_BUS_ADDRESS$DISPLAY$CREDENTIALS_DIRECTORY$NOTIFY_SOCKET" && echo OPEN environment
            """
        },
        ThreatRow(id: "B7.abstract", what: "abstract sockets of the host", outcome: .denied) { launched in
            // given
            let name = "martlet-test-\(getpid())-\(launched.directory.path.hashValue)"
            let listener = try AbstractSocket(name)
            defer { listener.close() }
            // when
            let end = try await launched.run(launched.sandboxed(connect(abstract: name)))
            return end.log == "tried\n" ? nil : end.log
        },
        ThreatRow(
            id: "B7.git", what: "the machine's settings of git, which can hold tokens", outcome: .denied,
            skipped: { _ in access("/etc/gitconfig", F_OK) == 0 ? nil : "this machine has no /etc/gitconfig" }
        ) { launched in
            let end = try await launched.run(launched.sandboxed("test -e /etc/gitconfig && echo OPEN; echo tried"))
            return end.log == "tried\n" ? nil : end.log
        },
        script("B7.descriptors", "descriptors above 2") { _ in
            "perl -e 'for (3..1023) { print \"OPEN $_\\n\" if open F, \"<&=$_\" }'"
        },
        script("B7.processes", "other processes") { _ in
            "test $(ls -d /proc/[0-9]* | wc -l) -le 5 || echo OPEN; kill -0 2 2>/dev/null && test $$ != 2 && echo OPEN; true"
        },
        script("B7.environment", "the environment of what started it") { _ in
            "cat /proc/1/environ 2>/dev/null && echo OPEN; env | grep -vE '^(HOME|PATH|PWD|MARTLET_TEST_CANARY)=' && echo OPEN; true"
        },
    ]

    /// B8: a step without a network.
    static let network: [ThreatRow] = [
        ThreatRow(id: "B8.loopback", what: "what listens on the host's loopback", outcome: .denied) { launched in
            let listener = try LoopbackSocket()
            defer { listener.stop() }
            let end = try await launched.run(launched.sandboxed(connect(["127.0.0.1", "127.1.2.3"], listener.port)))
            return end.log == "tried\n" ? nil : end.log
        },
        script("B8.machines", "metadata service, local network, name servers") { _ in
            connect(["169.254.169.254", "10.0.0.1", "192.168.0.1", "172.17.0.1", "8.8.8.8", "1.1.1.1"], 80)
                + connect(["8.8.8.8", "127.0.0.53"], 53)
        },
        script("B8.datagrams", "names through datagrams") { _ in
            """
            perl -MSocket -e 'socket(S, PF_INET, SOCK_DGRAM, 0);
            defined send(S, "x", 0, sockaddr_in(53, inet_aton("8.8.8.8"))) and print "OPEN\\n"'
            getent hosts example.com && echo OPEN name; true
            """
        },
        script("B8.interfaces", "interfaces but its own loopback") { _ in
            "tail -n +3 /proc/net/dev | grep -v '^ *lo:' && echo OPEN; ip link add x type dummy 2>/dev/null && echo OPEN; true"
        },
    ]

    /// B8: a step with a network of its own.
    static let ownNetwork: [ThreatRow] = [
        ownLoopback(
            "B8.own-loopback", "what listens on the host's loopback, with the network", at: "127.0.0.1"
        ) { connect(["127.0.0.1", "127.1.2.3", "0.0.0.0", "10.0.2.2", "10.0.2.3", "10.0.2.100"], $0) },
        ownLoopback(
            "B8.own-loopback6", "what listens on the host's loopback of version 6, with the network", at: "::1"
        ) { connect6(["::1", "::", "::ffff:127.0.0.1", "fd00::2", "fd00::3", "fe80::2%tap0"], $0) },
        ownNetwork("B7.own-abstract", "abstract sockets of the host, with the network") { launched in
            let name = "martlet-test-own-\(launched.directory.path.split(separator: "/").last ?? "")"
            let abstract = try AbstractSocket(name)
            defer { abstract.close() }
            return try await launched.run(launched.sandboxed(connect(abstract: name), network: .full))
        },
        ownNetwork("B3.own-network", "processes of its network, which are not the job's") { launched in
            let limits = JobDescription.Limits(graceMilliseconds: 200, processes: 2)
            // Long enough for them to be counted.
            let job = launched.sandboxed("sleep 0.6; echo tried", network: .full, limits: limits)
            return try await launched.run(job)
        },
        ownNetwork("B8.own-interfaces", "other packets than its own, with the network") { launched in
            let script = """
                ip link set lo down 2>/dev/null && echo OPEN; ip addr add 127.9.9.9/8 dev tap0 2>/dev/null && echo OPEN
                perl -MSocket -e 'socket(S, PF_INET, SOCK_RAW, 1) and print "OPEN raw\n"; socket(S, 17, SOCK_RAW, 0) and print "OPEN packet\n"'
                echo tried
                """
            return try await launched.run(launched.sandboxed(script, network: .full))
        },
    ]

    /// - Parameter script: Tries to connect to a port, and prints `tried`.
    private static func ownLoopback(
        _ id: String, _ what: String, at place: String, _ script: @escaping @Sendable (Int) -> String
    ) -> ThreatRow {
        ownNetwork(id, what) { launched in
            let service = try HostService(at: place)
            defer { service.stop() }
            try launched.directory.write("workspace/forcing.pl", forcing)
            let forced = "\(awaitingSix)perl forcing.pl \(place) \(service.port)\n"
            var end = try await launched.run(launched.sandboxed(forced + script(service.port), network: .full))
            if let received = service.received { end.log += received }
            return end
        }
    }

    private static func ownNetwork(
        _ id: String, _ what: String, _ end: @escaping @Sendable (Launched) async throws -> Ended
    ) -> ThreatRow {
        var row = ThreatRow(id: id, what: what, outcome: .denied) { launched in
            let end = try await end(launched)
            return end.log == "tried\n" ? nil : "\(end.reason ?? ""): \(end.log)"
        }
        row.skipped = { launched in
            try await finding(for: launched).networkReason == nil
                ? nil : "this user's sandboxes have no network of their own"
        }
        return row
    }

    static func connect(abstract name: String) -> String {
        """
        perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0);
        connect(S, pack("S a*", AF_UNIX, "\\0\(name)")) and print "OPEN\\n"; print "tried\\n"'
        """
    }

    /// - Parameter seconds: The time to wait for each; longer if one must answer.
    static func connect(_ addresses: [String], _ port: Int, within seconds: Int = 2) -> String {
        """
        perl -MSocket -e 'for (@ARGV) { socket(S, PF_INET, SOCK_STREAM, 0); $SIG{ALRM} = sub {}; alarm \(seconds);
        connect(S, sockaddr_in(\(port), inet_aton($_))) and print "OPEN $_\\n" } print "tried\\n"' \(addresses.joined(separator: " "))

        """
    }

    /// - Parameter seconds: As for `connect`.
    static func connect6(_ addresses: [String], _ port: Int, within seconds: Int = 2) -> String {
        """
        perl -MIO::Socket::IP -e 'for (@ARGV) { IO::Socket::IP->new(PeerHost => $_, PeerPort => \(port), Timeout => \(seconds)) and print "OPEN $_\\n" }
        print "tried\\n"' \(addresses.joined(separator: " "))
        """
    }
}
