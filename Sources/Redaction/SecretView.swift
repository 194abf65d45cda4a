/// One way to read a stream that is searched for secrets: literally, or with one kind of escapes decoded.
///
/// A view with escapes is active only from an escape on, until its last bytes equal the literal ones again. It takes no time in a stream without
/// escapes. Escapes are read from the left, as programs read them. If text ends with half of an escape just before a secret, such as `%2` before
/// `F/a`, the joined escape may be read instead.
struct SecretView: Sendable {
    /// The kind of escapes that is decoded; `nil` for the literal view.
    let escaping: Escaping?
    /// The view's bit in the marks of `HeldBytes`.
    private let bit: UInt16
    private(set) var state = 0
    /// The position in the stream at which the possible secret begins.
    private(set) var start = 0
    private(set) var isActive = false
    /// Bytes that may become an escape.
    private var pending: [UInt8] = []
    /// The position of the first escape that was read; `nil` if none is complete yet.
    private var firstRead: Int?
    /// Whether the last byte ended an escape, after which a quote may be skipped.
    private var hasJustRead = false

    /// The largest number of bytes of the stream for each byte of a secret. It limits the bytes between them, and so the bytes that are held.
    static let widthLimit = 64

    init(escaping: Escaping?) {
        self.escaping = escaping
        bit = escaping.map { 2 << UInt16(Escaping.allCases.firstIndex(of: $0) ?? 0) } ?? 1
    }

    /// Starts a search at the end of the held bytes.
    mutating func begin(at end: Int) { (state, start) = (0, end) }

    /// Follows a byte that is literal, or that an escape stands for.
    /// - Parameter rest: The number of held bytes after it that are not followed yet.
    /// - Returns: Whether a secret ended with the byte.
    mutating func follow(_ byte: UInt8, rest: Int = 0, _ automaton: SecretAutomaton, _ held: inout HeldBytes) -> Bool {
        var depth = automaton.depth(state) + 1
        move(to: automaton.next(state, byte), from: &depth, rest, automaton, held)
        let length = automaton.matched(state)
        if length > 0 {
            // With escapes, everything that may have been part of a longer secret is masked, because it begins at least one.
            if escaping == nil { held.mask(last: length) } else { held.mask(from: start) }
        }
        if automaton.isLeaf(state) { move(to: automaton.failure(state), from: &depth, rest, automaton, held) }
        return length > 0
    }

    /// Moves the start together with the state. Counts from the nearer end, so that a state that is copied and fails again and again does not cost
    /// its depth each time.
    private mutating func move(
        to next: Int, from depth: inout Int, _ rest: Int, _ automaton: SecretAutomaton, _ held: HeldBytes
    ) {
        let kept = automaton.depth(next)
        let dropped = depth - kept
        start =
            kept + rest < dropped
            ? held.position(ofLast: kept + rest, bit) : held.position(after: dropped, from: start, bit)
        (state, depth) = (next, kept)
    }

    /// Reads a byte of the stream, which is the last held byte.
    /// - Parameters:
    ///   - before: The literal view, before this byte.
    ///   - after: The literal view, after it.
    /// - Returns: Whether a secret ended with the byte.
    mutating func take(
        _ byte: UInt8, before: (state: Int, start: Int), after: (state: Int, start: Int), _ automaton: SecretAutomaton,
        _ held: inout HeldBytes
    ) -> Bool {
        guard let escaping else { return false }
        var hasFound = false
        let opensAgain = hasJustRead && escaping.opensAgain(byte)
        hasJustRead = false
        if opensAgain, isActive, pending.isEmpty {
            _ = held.join(last: 1, into: 0, bit)
            return rest(after, automaton, &held, hasFound)
        }
        if !pending.isEmpty {
            switch append(byte, escaping, automaton, &held, &hasFound) {
            case .more, .read: return rest(after, automaton, &held, hasFound)
            case .none: break
            }
            // Not an escape: its bytes are literal, and this byte may begin another escape.
            if firstRead != nil {
                followLiterals(count: pending.count - 1, rest: 1, automaton, &held, &hasFound)
            } else {
                isActive = false
            }
            pending.removeAll(keepingCapacity: true)
        }
        if escaping.opens(byte), mayOpen(byte, escaping, isActive ? state : before.state, automaton) {
            if !isActive { (state, start, firstRead, isActive) = (before.state, before.start, nil, true) }
            if append(byte, escaping, automaton, &held, &hasFound) != .none {
                return rest(after, automaton, &held, hasFound)
            }
            pending.removeAll(keepingCapacity: true)
        }
        guard isActive else { return hasFound }
        if follow(byte, automaton, &held) { hasFound = true }
        return rest(after, automaton, &held, hasFound)
    }

    /// Ends the stream: bytes that may have become an escape are literal.
    /// - Returns: Whether a secret ended.
    mutating func finish(_ automaton: SecretAutomaton, _ held: inout HeldBytes) -> Bool {
        var hasFound = false
        if isActive, firstRead != nil {
            followLiterals(count: pending.count, rest: 0, automaton, &held, &hasFound)
        }
        end(&held)
        return hasFound
    }

    // MARK: Escapes

    private func mayOpen(_ byte: UInt8, _ escaping: Escaping, _ state: Int, _ automaton: SecretAutomaton) -> Bool {
        !escaping.opensAhead(byte) || state == 0 && automaton.begins(with: Escaping.quote)
    }

    private enum Progress { case none, more, read }

    private mutating func append(
        _ byte: UInt8, _ escaping: Escaping, _ automaton: SecretAutomaton, _ held: inout HeldBytes,
        _ hasFound: inout Bool
    ) -> Progress {
        pending.append(byte)
        switch pending.withUnsafeBytes({ escaping.read($0) }) {
        case .none: return .none
        case .more: return .more
        case .byte(0x0A, _), .byte(0x0D, _), .scalar("\n", _), .scalar("\r", _):
            // A line end is skipped within a secret (`LogRedactor`); outside of a secret it is not an escape that matters.
            guard state != 0 else { return .none }
            join(into: 0, &held)
        case .byte(let byte, _):
            guard automaton.contains(byte) else { return .none }
            join(into: 1, &held)
            follow(CollectionOfOne(byte), automaton, &held, &hasFound)
        case .quotes(let count, _):
            guard automaton.contains(Escaping.quote) else { return .none }
            join(into: count, &held)
            follow(repeatElement(Escaping.quote, count: count), automaton, &held, &hasFound)
        case .scalar(let scalar, _):
            guard scalar.utf8.allSatisfy(automaton.contains) else { return .none }
            join(into: scalar.utf8.count, &held)
            follow(scalar.utf8, automaton, &held, &hasFound)
        case .literal(let count):
            followLiterals(count: count, rest: pending.count - count, automaton, &held, &hasFound)
            pending.removeFirst(count)
            return .more
        }
        hasJustRead = true
        pending.removeAll(keepingCapacity: true)
        return .read
    }

    /// Follows the bytes that an escape stands for, which is already held.
    private mutating func follow(
        _ bytes: some Collection<UInt8>, _ automaton: SecretAutomaton, _ held: inout HeldBytes,
        _ hasFound: inout Bool
    ) {
        for (index, byte) in bytes.enumerated() {
            hasFound = follow(byte, rest: bytes.count - 1 - index, automaton, &held) || hasFound
        }
    }

    /// Ends the view if it is no longer useful.
    private mutating func rest(
        _ plain: (state: Int, start: Int), _ automaton: SecretAutomaton, _ held: inout HeldBytes,
        _ hasFound: Bool
    ) -> Bool {
        let hasNothing = pending.isEmpty && (state == 0 || state == plain.state && start == plain.start)
        let width = (Self.widthLimit + 1) * (automaton.depth(state) + Escaping.longest)
        if hasNothing || held.end - start > width { end(&held) }
        return hasFound
    }

    /// Follows bytes that looked like an escape and are literal.
    private mutating func followLiterals(
        count: Int, rest: Int, _ automaton: SecretAutomaton, _ held: inout HeldBytes, _ hasFound: inout Bool
    ) {
        for index in 0..<count {
            hasFound = follow(pending[index], rest: count - 1 - index + rest, automaton, &held) || hasFound
        }
    }

    private mutating func join(into count: Int, _ held: inout HeldBytes) {
        let position = held.join(last: pending.count, into: count, bit)
        firstRead = firstRead ?? position
    }

    private mutating func end(_ held: inout HeldBytes) {
        // A literal secret may have begun within the escapes, and this view may continue from it.
        if isActive, let firstRead { held.separate(from: firstRead, bit) }
        (isActive, firstRead, hasJustRead) = (false, nil, false)
        pending.removeAll(keepingCapacity: true)
    }
}
