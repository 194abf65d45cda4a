/// The resolv.conf(5) of a network that is not the host's. It is the host's own, except for servers that only the host reaches: on its loopback
/// (systemd-resolved, dnsmasq), its link, or the addresses of a cloud. They are replaced by a server that asks the host.
package struct Resolvers: Sendable {
    package let text: String

    /// Creates the text.
    /// - Parameters:
    ///   - host: The host's resolv.conf.
    ///   - own: The address of the server that asks the host.
    package init(host: String, own: String) {
        var lines: [String] = []
        for line in host.split(separator: "\n") {
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.first == "nameserver" else {
                lines.append(String(line))
                continue
            }
            let server = words.dropFirst().first?.lowercased() ?? "::"
            let isHosts = Self.hostsOwn.contains { server.hasPrefix($0) }
            let written = "nameserver \(isHosts ? own : server)"
            if !lines.contains(written) { lines.append(written) }
        }
        // Without any server the host itself is asked.
        if !lines.contains(where: { $0.hasPrefix("nameserver ") }) { lines.append("nameserver \(own)") }
        text = lines.joined(separator: "\n") + "\n"
    }

    /// The beginnings of addresses that only the host reaches: loopback, "this host" (RFC 1122, section 3.2.1.3), link-local addresses (fe80::/10),
    /// and the addresses of clouds that `clinux_forbid_destinations` blocks.
    private static let hostsOwn = [
        "127.", "0.", "::", "fe8", "fe9", "fea", "feb", "169.254.", "168.63.129.16", "fd00:ec2:", "fd20:ce:",
    ]
}
