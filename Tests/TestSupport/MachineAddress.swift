import Glibc
package import Testing

/// An address of this machine that is not on its loopback.
package enum MachineAddress {
    /// The address in four numbers; `nil` if the machine has no other address.
    package static let found: String? = {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            guard entry.ifa_flags & UInt32(IFF_LOOPBACK) == 0, entry.ifa_flags & UInt32(IFF_UP) != 0,
                let address = entry.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET)
            else { continue }
            var text = [CChar](repeating: 0, count: Int(INET_ADDRSTRLEN))
            var number = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_addr }
            guard inet_ntop(AF_INET, &number, &text, socklen_t(text.count)) != nil else { continue }
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        return nil
    }()
}

extension Trait where Self == ConditionTrait {
    /// Skips the test, with that reason, if the machine has only its loopback's addresses.
    package static var machineAddress: Self {
        .enabled(if: MachineAddress.found != nil, "this machine has no address but its loopback's")
    }
}
