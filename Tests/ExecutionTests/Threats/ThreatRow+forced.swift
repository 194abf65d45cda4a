import Glibc
import TestSupport
import Testing

/// A listener on the host's loopback, for datagrams and for connections, at one port.
struct HostService {
    let port: Int
    private let connections: LoopbackSocket
    private let datagrams: Int32

    /// - Parameter place: An IPv4 or IPv6 address.
    init(at place: String) throws {
        connections = try LoopbackSocket(at: place)
        port = connections.port
        var hints = addrinfo()
        (hints.ai_flags, hints.ai_socktype) = (AI_NUMERICHOST, Int32(SOCK_DGRAM.rawValue))
        var found: UnsafeMutablePointer<addrinfo>?
        try #require(getaddrinfo(place, "\(port)", &hints, &found) == 0)
        defer { freeaddrinfo(found) }
        let address = try #require(found).pointee
        datagrams = socket(address.ai_family, address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
        try #require(bind(datagrams, address.ai_addr, address.ai_addrlen) == 0, "\(port) has no datagrams")
    }

    /// Says whether a connection or a datagram arrived; `nil` if neither did.
    var received: String? {
        var asked = pollfd(fd: datagrams, events: Int16(POLLIN), revents: 0)
        let words = [connections.hasCaller ? "a connection" : nil, poll(&asked, 1, 0) == 1 ? "a datagram" : nil]
        let said = words.compactMap { $0 }.joined(separator: " and ")
        return said.isEmpty ? nil : "the host received \(said)"
    }

    func stop() {
        connections.stop()
        close(datagrams)
    }
}

extension ThreatRow {
    /// A script that sends a datagram to an address, and connects to it. It uses each way in which an unprivileged program can choose the
    /// interface: SO_BINDTODEVICE, IP_UNICAST_IF, IPV6_UNICAST_IF, IPV6_PKTINFO (socket(7), ip(7), ipv6(7)), and IP_PKTINFO and IPV6_PKTINFO with a
    /// datagram. It prints nothing, and waits 2 s for a connection.
    static let forcing = #"""
        use Socket qw(:all); use IO::Handle;
        my ($host, $port) = @ARGV;
        my $six = $host =~ /:/;
        my $family = $six ? AF_INET6 : AF_INET;
        my $to = $six ? pack_sockaddr_in6($port, inet_pton(AF_INET6, $host)) : sockaddr_in($port, inet_aton($host));
        socket(my $asked, AF_INET, SOCK_DGRAM, 0) or die "$!";
        my $request = pack("a16 x24", "tap0");
        ioctl($asked, 0x8933, $request) or die "no tap0: $!";
        my $index = unpack("x16 i", $request);
        my @ways = (
            sub { setsockopt($_[0], SOL_SOCKET, 25, "tap0\0") },
            $six ? (sub { setsockopt($_[0], 41, 76, pack("N", $index)) }, sub { setsockopt($_[0], 41, 50, pack("a16 I", "", $index)) })
                 : (sub { setsockopt($_[0], 0, 50, pack("N", $index)) }),
        );
        my @open;
        for my $way (@ways) {
            socket(my $datagram, $family, SOCK_DGRAM, 0) or die "$!";
            send($datagram, "x", 0, $to) if $way->($datagram);
            socket(my $stream, $family, SOCK_STREAM, 0) or die "$!";
            $stream->blocking(0);
            connect($stream, $to) if $way->($stream);
            push @open, $datagram, $stream;
        }
        my $content = "x";
        my $vector = pack("P Q", $content, 1);
        my $control = $six ? pack("Q i i a16 I x4", 36, 41, 50, "", $index) : pack("Q i i i x8 x4", 28, 0, 8, $index);
        my $message = pack("P L x4 P Q P Q i x4", $to, length $to, $vector, 1, $control, length $control, 0);
        socket(my $datagram, $family, SOCK_DGRAM, 0) or die "$!";
        syscall(`uname -m` =~ /x86/ ? 46 : 211, fileno($datagram), $message, 0);
        select(undef, undef, undef, 2);

        """#

    /// A script that waits until the sandbox's IPv6 address is usable, after it is known to be unique (RFC 4862). In /proc/net/if_inet6 the fourth
    /// word is its scope, the fifth its flags.
    static let awaitingSix = #"""
        perl -e 'for (1..200) { open $list, "<", "/proc/net/if_inet6";
        exit if grep { /tap0/ && (split)[3] eq "00" && !(hex((split)[4]) & 0x40) } <$list>; select undef, undef, undef, 0.05 }'

        """#
}
