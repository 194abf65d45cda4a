/// The one comparison for secrets: signatures, tokens and their hashes.
package enum ConstantTime {
    /// Whether two byte strings are equal, in a time that depends on their lengths alone. Lengths are not secret.
    @inline(never)
    package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in left.indices { difference |= left[index] ^ right[index] }
        return difference == 0
    }
}
