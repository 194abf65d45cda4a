import Glibc

/// Finds a text of bytes in another. It is memmem(3), which Swift cannot call.
package struct ByteSearch: Sendable {
    /// The text that is searched for.
    package let word: [UInt8]
    /// The place in the word of its rarest byte, which is searched for first.
    private let rarest: Int

    /// Letters of English from the most frequent one on. All other bytes are rarer.
    private static let frequent = Array(" etaoinsrhldcumfpgwybvkxjqz".utf8)

    /// - Parameter word: The text to search for. An empty one is nowhere.
    package init(_ word: some Sequence<UInt8>) {
        let bytes = Array(word)
        func rank(_ byte: UInt8) -> Int { Self.frequent.firstIndex(of: byte) ?? Self.frequent.count }
        rarest = bytes.indices.max { rank(bytes[$0]) < rank(bytes[$1]) } ?? 0
        self.word = bytes
    }

    /// Returns the place of the first occurrence that begins at `start` or later; `nil` if there is none.
    package func first(in text: UnsafeRawBufferPointer, from start: Int = 0) -> Int? {
        guard let base = text.baseAddress, !word.isEmpty, text.count >= word.count, start >= 0 else { return nil }
        let last = text.count - word.count
        var place = start
        while place <= last {
            let from = place + rarest
            guard let found = memchr(base + from, Int32(word[rarest]), last + rarest + 1 - from) else { return nil }
            place = UnsafeRawPointer(found) - base - rarest
            if memcmp(base + place, word, word.count) == 0 { return place }
            place += 1
        }
        return nil
    }

    /// Returns whether the text is somewhere in these bytes.
    package func isIn(_ text: UnsafeRawBufferPointer) -> Bool { first(in: text) != nil }
}
