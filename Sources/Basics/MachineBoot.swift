/// One boot of the machine: what is written during it is lost by no process's end, only by a stop of the machine.
package struct MachineBoot: Sendable, Equatable {
    /// 36 characters, the same for all of one boot and for no other; `nil` if the kernel does not say (random(4), `boot_id`).
    package let id: String?

    /// - Parameter id: Anything but such an id counts as unknown.
    package init(id: String?) {
        self.id = id.flatMap { $0.utf8.count == 36 && $0.allSatisfy { $0.isHexDigit || $0 == "-" } ? $0 : nil }
    }

    /// The boot of this machine; blocks for a read of `/proc`.
    package static func current() -> MachineBoot {
        // Unreadable in some containers: unknown.
        let bytes = try? WholeFile.read("/proc/sys/kernel/random/boot_id", limit: 100)
        return MachineBoot(id: bytes.map { String(decoding: $0.prefix { $0 != 0x0A }, as: UTF8.self) })
    }
}
