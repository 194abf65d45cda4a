/// The only comparison for secrets: signatures, tokens and their hashes.
package enum ConstantTime {
    /// Returns whether two byte strings are equal. The time depends only on their lengths, which are not secret.
    @inline(never)
    package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in left.indices { difference |= left[index] ^ right[index] }
        return difference == 0
    }
}
