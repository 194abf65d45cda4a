/// A filter that replaces secrets by `***` in a stream of bytes (a log or a report), however the stream is split into pieces.
///
/// Bytes that cannot begin a secret are skipped (`SecretBeginnings`). From a byte that can, the automaton of all `SecretForms` decides, for the
/// literal bytes and for each kind of `Escaping` (`SecretView`). The time is linear in the number of bytes for any content. Only bytes that may begin
/// a secret are held back.
///
/// Line ends and terminal escapes (ECMA-48 CSI, as in colors; ECMA-35 designations, as `tput sgr0` prints) within a secret are skipped, so a
/// wrapped or colored secret is masked, too. A secret that contains ESC is not found.
package struct LogRedactor: Sendable {
    /// The size limit in bytes of all secrets of one attempt together, which limits the automaton. It needs some 36 MB for one secret of one line. A
    /// secret of many lines needs 70 MB, because its lines have their own forms (21 bytes a node, computed).
    package static let secretsLimit = 128 * 1024
    /// The largest number of consecutive skipped bytes within a secret.
    private static let transparentLimit = SecretView.widthLimit
    private static let mask = Array("***".utf8)

    private let automaton: SecretAutomaton
    private let beginnings: SecretBeginnings?
    /// Whether the stream is binary. Its length is then kept, and NULs within a secret are skipped.
    private let isBinary: Bool

    /// The literal view.
    private var plain = SecretView(escaping: nil)
    /// The views that decode escapes.
    private var views: [SecretView]
    /// Whether one of them is active.
    private var isReading = false
    private(set) var held = HeldBytes()
    private var escape = Escape.none
    private var transparentRun = 0
    private var wroteMask = false
    /// Whether the stream contained a secret.
    package private(set) var hasMasked = false

    private enum Escape { case none, begun, sequence, designation }

    /// Creates a redactor.
    /// - Parameter secrets: The values. Empty ones are ignored.
    package init(secrets: some Sequence<String>) {
        var forms: Set<[UInt8]> = []
        for secret in secrets { forms.formUnion(SecretForms.all(of: secret)) }
        self.init(SecretAutomaton(forms: forms), isBinary: false)
    }

    private init(_ automaton: SecretAutomaton, isBinary: Bool) {
        let escapings = Escaping.allCases.filter { $0.matters(automaton.contains) }
        views = escapings.map(SecretView.init)
        beginnings = automaton.isEmpty ? nil : SecretBeginnings(automaton, escapings: escapings, isBinary: isBinary)
        (self.automaton, self.isBinary) = (automaton, isBinary)
    }

    /// A redactor for binary streams. Each byte of a secret becomes `*`, so that offsets in the stream stay valid. NULs between the bytes of a secret
    /// are skipped, as in UTF-16.
    package var forBinary: LogRedactor { LogRedactor(automaton, isBinary: true) }

    /// Whether there are no secrets to search for.
    package var isIdle: Bool { automaton.isEmpty }

    /// Returns whether some bytes contain a secret.
    package func finds(in bytes: [UInt8]) -> Bool {
        var other = self
        _ = other.redact(bytes)
        return other.hasMasked
    }

    /// Returns a complete text with its secrets masked.
    package func masked(_ text: String) -> String {
        guard let beginnings else { return text }
        var text = text
        let isClean = text.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            return beginnings.next(in: bytes, from: 0) == bytes.count
        }
        if isClean { return text }
        var other = self
        let shown = other.redact(text.utf8) + other.finish()
        return other.hasMasked ? String(decoding: shown, as: UTF8.self) : text
    }

    /// Returns the part of `input`, and of the bytes held back before it, that is certain not to contain a secret. Secrets are masked.
    package mutating func redact(_ input: some Sequence<UInt8>) -> [UInt8] {
        var output: [UInt8] = []
        Array(input).withUnsafeBytes { redact($0, into: &output) }
        return output
    }

    /// Does the same, but appends to `output`, so that the caller can reuse its memory.
    package mutating func redact(_ input: UnsafeRawBufferPointer, into output: inout [UInt8]) {
        guard let beginnings else { return output.append(contentsOf: input) }
        var position = 0
        while position < input.count {
            if held.isEmpty {
                let start = position
                position = beginnings.next(in: input, from: position)
                if position > start {
                    output.append(contentsOf: UnsafeRawBufferPointer(rebasing: input[start..<position]))
                    wroteMask = false
                }
                guard position < input.count else { return }
            }
            repeat {
                take(input[position], mayOpen: beginnings.mayOpen(input[position]), into: &output)
                position += 1
            } while position < input.count && !held.isEmpty
        }
    }

    /// Whether bytes are held back that may be the beginning of a secret.
    package var isHolding: Bool { !held.isEmpty }

    /// Returns the bytes that are still held back at the end of the stream.
    package mutating func finish() -> [UInt8] {
        var output: [UInt8] = []
        for index in views.indices where views[index].finish(automaton, &held) { hasMasked = true }
        plain.begin(at: held.end)
        isReading = false
        escape = .none
        release(before: held.end, into: &output)
        return output
    }

    // MARK: Possible secrets

    private mutating func take(_ byte: UInt8, mayOpen: Bool, into output: inout [UInt8]) {
        guard !isTransparent(byte) else {
            held.append(byte, isSignificant: false)
            return
        }
        if plain.state == 0 { plain.begin(at: held.end) }
        let before = (plain.state, plain.start)
        held.append(byte, isSignificant: true)
        if plain.follow(byte, automaton, &held) { hasMasked = true }
        let after = (plain.state, plain.start)
        var needed = plain.start
        if mayOpen || isReading {
            isReading = false
            for index in views.indices {
                if views[index].take(byte, before: before, after: after, automaton, &held) { hasMasked = true }
                guard views[index].isActive else { continue }
                isReading = true
                needed = min(needed, views[index].start)
            }
        }
        release(before: needed, into: &output)
    }

    /// Whether the byte is skipped. Bytes are skipped only within a possible secret, and only a limited number in a row.
    private mutating func isTransparent(_ byte: UInt8) -> Bool {
        guard plain.state != 0 || isReading else {
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

    /// Appends the held bytes before a position to the output, with secrets masked.
    private mutating func release(before position: Int, into output: inout [UInt8]) {
        while let (byte, isMasked) = held.removeFirst(before: position) {
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
