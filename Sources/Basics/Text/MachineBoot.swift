/// One boot of the machine. What is written during a boot survives the end of any process; only a stop of the machine can lose it.
package struct MachineBoot: Sendable, Equatable {
    /// The boot's identifier of 36 characters, unique to this boot (random(4), `boot_id`); `nil` if the kernel does not state it.
    package let id: String?

    /// Creates a boot from its identifier.
    /// - Parameter id: Text that is not such an identifier counts as unknown.
    package init(id: String?) {
        self.id = id.flatMap { $0.utf8.count == 36 && $0.allSatisfy { $0.isHexDigit || $0 == "-" } ? $0 : nil }
    }

    /// Returns the current boot of this machine. Blocks for one read of `/proc`.
    package static func current() -> MachineBoot {
        // The file cannot be read in some containers; the boot is unknown then.
        let bytes = try? WholeFile.read("/proc/sys/kernel/random/boot_id", limit: 100)
        return MachineBoot(id: bytes.map { String(decoding: $0.prefix { $0 != 0x0A }, as: UTF8.self) })
    }
}
