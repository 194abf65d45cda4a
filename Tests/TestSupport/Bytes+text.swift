import Glibc

extension [UInt8] {
    /// Whether the bytes contain a text. It uses memchr(3) and memcmp(3), because tests search whole databases, and Swift's own search takes
    /// seconds for each in a debug build.
    package func contains(_ text: some StringProtocol) -> Bool {
        let text = [UInt8](text.utf8)
        guard let first = text.first else { return true }
        return withUnsafeBytes { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while rest.count >= text.count, let base = rest.baseAddress,
                let found = memchr(base, Int32(first), rest.count - text.count + 1)
            {
                if memcmp(found, text, text.count) == 0 { return true }
                rest = UnsafeRawBufferPointer(rebasing: rest[(UnsafeRawPointer(found) - base + 1)...])
            }
            return false
        }
    }
}
