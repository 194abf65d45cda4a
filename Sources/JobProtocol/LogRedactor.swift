/// Replaces secrets by `***` in a stream of bytes, whichever way the stream is cut into pieces: a log, or a report.
///
/// Bytes that cannot begin a secret are passed over by a table of pairs, some 1 GB a second; from a byte that can, the
/// automaton of all `SecretForms` decides. The time is linear in the bytes, whatever they are. Only bytes that may be the
/// beginning of a secret are held back. Line ends and terminal escapes (ECMA-48 CSI, as in colors; ECMA-35 designations, as `tput sgr0`
/// prints) within a secret count for nothing, so a wrapped or colored one is masked too. A secret with an ESC of its own is not found.
package struct LogRedactor: Sendable {
    /// The most bytes of all secrets of one attempt together; bounds the automaton: some 36 MB for one ASCII secret of one line, 70
    /// for one of many lines, whose lines have forms of their own, 100 for bytes that percent-encode, 180 for quotation marks, which XML
    /// escapes in many ways (21 bytes a node, computed).
    package static let secretsLimit = 128 * 1024
    /// The most bytes that count for nothing in a row within a secret.
    private static let transparentLimit = 64
    /// How far a possible beginning is followed in place before the automaton takes it; below `transparentLimit`.
    private static let peekLimit = 12
    private static let mask = Array("***".utf8)

    private let automaton: SecretAutomaton
    /// By two bytes, the second one the higher: 1 where they can begin a secret.
    private let pairs: [UInt8]
    /// Whether the stream is no text: its length is kept, and NULs within a secret count for nothing.
    private let isBinary: Bool

    private var state = 0
    private(set) var held = HeldBytes()
    private var escape = Escape.none
    private var transparentRun = 0
    private var wroteMask = false
    /// Whether a secret was in the stream.
    package private(set) var hasMasked = false

    private enum Escape { case none, begun, sequence, designation }

    /// - Parameter secrets: Values. Empty ones are passed over.
    package init(secrets: some Sequence<String>) {
        var forms: Set<[UInt8]> = []
        for secret in secrets { forms.formUnion(SecretForms.all(of: secret)) }
        self.init(SecretAutomaton(forms: forms), isBinary: false)
    }

    private init(_ automaton: SecretAutomaton, isBinary: Bool) {
        var pairs: [UInt8] = []
        if !automaton.isEmpty {
            pairs = [UInt8](repeating: 0, count: 1 << 16)
            automaton.forEachPair(orBefore: [0x0A, 0x0D, 0x1B] + (isBinary ? [0] : [])) {
                pairs[Int($0) | Int($1) << 8] = 1
            }
        }
        (self.automaton, self.pairs, self.isBinary) = (automaton, pairs, isBinary)
    }

    /// One for bytes that are no text: each byte of a secret becomes `*`, so that whatever counts bytes can still be read, and NULs
    /// between a secret's bytes are passed over, as UTF-16 has them between those of ASCII.
    package var forBinary: LogRedactor { LogRedactor(automaton, isBinary: true) }

    /// There is nothing to look for.
    package var isIdle: Bool { automaton.isEmpty }

    /// Whether a secret is in some bytes.
    package func finds(in bytes: [UInt8]) -> Bool {
        var other = self
        _ = other.redact(bytes)
        return other.hasMasked
    }

    /// What of `input`, and of what was held back before it, can be shown.
    package mutating func redact(_ input: some Sequence<UInt8>) -> [UInt8] {
        var output: [UInt8] = []
        Array(input).withUnsafeBytes { redact($0, into: &output) }
        return output
    }

    /// The same, added to `output`, whose room is used again by a caller that empties it in between.
    package mutating func redact(_ input: UnsafeRawBufferPointer, into output: inout [UInt8]) {
        guard !automaton.isEmpty else { return output.append(contentsOf: input) }
        var position = 0
        while position < input.count {
            if held.isEmpty {
                let start = position
                position = nextBeginning(in: input, from: position)
                if position > start {
                    output.append(contentsOf: UnsafeRawBufferPointer(rebasing: input[start..<position]))
                    wroteMask = false
                }
                guard position < input.count else { return }
            }
            repeat {
                take(input[position], into: &output)
                position += 1
            } while position < input.count && !held.isEmpty
        }
    }

    /// Whether bytes are held back that may be the beginning of a secret.
    package var isHolding: Bool { !held.isEmpty }

    /// What was held back to the end.
    package mutating func finish() -> [UInt8] {
        var output: [UInt8] = []
        state = 0
        escape = .none
        release(keeping: 0, into: &output)
        return output
    }

    // MARK: Most bytes

    /// The first place from `start` on at which a secret may begin, or the end.
    private func nextBeginning(in input: UnsafeRawBufferPointer, from start: Int) -> Int {
        pairs.withUnsafeBufferPointer { pairs in
            var position = start
            let last = input.count - 1
            while position < last {
                // Four at a time: the loads of one do not wait for the others.
                while position + 4 < input.count {
                    let first = pairs[Int(input[position]) | Int(input[position + 1]) << 8]
                    let second = pairs[Int(input[position + 1]) | Int(input[position + 2]) << 8]
                    let third = pairs[Int(input[position + 2]) | Int(input[position + 3]) << 8]
                    let fourth = pairs[Int(input[position + 3]) | Int(input[position + 4]) << 8]
                    if first | second | third | fourth != 0 { break }
                    position += 4
                }
                guard position < last else { break }
                if pairs[Int(input[position]) | Int(input[position + 1]) << 8] != 0, mayBegin(input, at: position) {
                    return position
                }
                position += 1
            }
            return position == last && !automaton.begins(with: input[last]) ? input.count : position
        }
    }

    /// Looks some bytes ahead. No when no secret begins just here; one that begins further on has its own turn.
    private func mayBegin(_ input: UnsafeRawBufferPointer, at start: Int) -> Bool {
        var state = 0
        for position in start..<min(start + Self.peekLimit, input.count) {
            let byte = input[position]
            if state != 0 {
                if byte == 0x0A || byte == 0x0D || isBinary && byte == 0 { continue }
                if byte == 0x1B { return true }
            }
            state = automaton.child(state, byte)
            if state == 0 { return false }
            if automaton.matched(state) > 0 { return true }
        }
        return true
    }

    // MARK: What may be a secret

    private mutating func take(_ byte: UInt8, into output: inout [UInt8]) {
        guard !isTransparent(byte) else {
            held.append(byte, isSignificant: false)
            return
        }
        held.append(byte, isSignificant: true)
        state = automaton.next(state, byte)
        let length = automaton.matched(state)
        if length > 0 {
            held.mask(last: length)
            hasMasked = true
        }
        if automaton.isLeaf(state) { state = automaton.failure(state) }
        release(keeping: automaton.depth(state), into: &output)
    }

    /// Whether the byte counts for nothing: only within what may be a secret, and only so many in a row.
    private mutating func isTransparent(_ byte: UInt8) -> Bool {
        guard state != 0 else {
            escape = .none
            transparentRun = 0
            return false
        }
        transparentRun += 1
        guard transparentRun <= Self.transparentLimit else {
            escape = .none
            transparentRun = 0
            return false
        }
        switch (escape, byte) {
        case (.none, 0x0A), (.none, 0x0D): return true
        case (.none, 0) where isBinary: return true
        case (.none, 0x1B):
            escape = .begun
            return true
        case (.begun, UInt8(ascii: "[")):
            escape = .sequence
            return true
        case (.begun, 0x20...0x2F):
            escape = .designation
            return true
        case (.designation, 0x20...0x2F): return true
        case (.designation, 0x30...0x7E):
            escape = .none
            return true
        case (.sequence, 0x20...0x3F): return true
        case (.sequence, 0x40...0x7E):
            escape = .none
            return true
        default:
            escape = .none
            transparentRun = 0
            return false
        }
    }

    /// Gives out all held bytes but those from the `count`th last significant one on.
    private mutating func release(keeping count: Int, into output: inout [UInt8]) {
        while let (byte, isMasked) = held.removeFirst(keeping: count) {
            if !isMasked {
                output.append(byte)
            } else if isBinary {
                output.append(Self.mask[0])
            } else if !wroteMask {
                output += Self.mask
            }
            wroteMask = isMasked
        }
    }
}
