/// A search for places in a stream at which a secret may begin. Skips other bytes at some 1 GB a second.
struct SecretBeginnings: Sendable {
    private let automaton: SecretAutomaton
    private let escapings: [Escaping]
    /// For each pair of bytes, with the second one as the higher byte: 1 if they can begin a secret.
    private var pairs = [UInt8](repeating: 0, count: 1 << 16)
    /// For each byte: whether it can begin a secret if the next byte is unknown.
    private var firsts = [Bool](repeating: false, count: 256)
    /// For each byte: whether an escape may begin with it.
    private var openings = [Bool](repeating: false, count: 256)
    private let isBinary: Bool

    /// How many bytes a possible beginning is checked here before the automaton is used. Must be less than `LogRedactor.transparentLimit`.
    private static let peekLimit = 12

    /// Bytes that are skipped within a secret, or begin a skipped sequence.
    private static let betweens: [UInt8] = [0, 0x0A, 0x0D, 0x1B]

    init(_ automaton: SecretAutomaton, escapings: [Escaping], isBinary: Bool) {
        (self.automaton, self.escapings, self.isBinary) = (automaton, escapings, isBinary)
        for byte in UInt8.min...UInt8.max {
            openings[Int(byte)] = escapings.contains { $0.opens(byte) }
        }
        for first in UInt8.min...UInt8.max where automaton.begins(with: first) {
            let (isEnd, seconds) = automaton.second(after: first)
            if isEnd { add(first, before: UInt8.min...UInt8.max) }
            add(first, before: seconds)
            for escaping in escapings {
                add(first, before: seconds.flatMap { escaping.beginnings(of: $0).map(\.first) })
                // The beginnings of an escape of the first byte. Letters have only numeric escapes. Those are not searched for across lines, because
                // otherwise each line that ends with `%` or `\` would wait for the next line.
                let isWrapped = !Escaping.isAlphanumeric(first)
                for (opening, second) in escaping.beginnings(of: first) {
                    if let second {
                        add(opening, before: [second], isWrapped: isWrapped)
                    } else {
                        add(opening, before: UInt8.min...UInt8.max)
                    }
                }
            }
        }
    }

    /// Adds the beginnings of secrets with some first two bytes.
    /// - Parameter isWrapped: Whether a line end or a terminal escape may follow the first byte.
    private mutating func add(_ first: UInt8, before seconds: some Sequence<UInt8>, isWrapped: Bool = true) {
        firsts[Int(first)] = true
        for second in seconds { pairs[Int(first) | Int(second) << 8] = 1 }
        for second in Self.betweens where isWrapped && (second == 0x1B || isPassedOver(second)) {
            pairs[Int(first) | Int(second) << 8] = 1
        }
    }

    /// Whether an escape may begin with the byte.
    func mayOpen(_ byte: UInt8) -> Bool { openings[Int(byte)] }

    /// Returns the first place from `start` on at which a secret may begin, or the end.
    func next(in input: UnsafeRawBufferPointer, from start: Int) -> Int {
        pairs.withUnsafeBufferPointer { pairs in
            var position = start
            let last = input.count - 1
            while position < last {
                // Four at a time, so that their loads do not wait for each other.
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
            return position == last && !firsts[Int(input[last])] ? input.count : position
        }
    }

    /// Returns whether a secret may begin exactly here, after checking some bytes ahead. A secret that begins later is found later.
    private func mayBegin(_ input: UnsafeRawBufferPointer, at start: Int) -> Bool {
        var (state, position) = (0, start)
        while position < min(start + Self.peekLimit, input.count) {
            let byte = input[position]
            if state != 0 {
                if isPassedOver(byte) {
                    position += 1
                    continue
                }
                if byte == 0x1B { return true }
            }
            var next = (state: automaton.child(state, byte), position: position + 1)
            if openings[Int(byte)] {
                switch escape(after: state, input, at: position) {
                case .none: break
                case .one(let state, let width):
                    // If both the literal byte and the escape continue, the automaton must decide.
                    if next.state != 0 { return true }
                    next = (state, position + width)
                case .some: return true
                }
            }
            (state, position) = next
            if state == 0 { return false }
            if automaton.matched(state) > 0 { return true }
        }
        return true
    }

    /// The escapes at a place that continue what has begun.
    private enum Following { case none, one(state: Int, width: Int), some }

    private func escape(after state: Int, _ input: UnsafeRawBufferPointer, at position: Int) -> Following {
        let rest = UnsafeRawBufferPointer(rebasing: input[position...].prefix(Escaping.longest))
        var found: (state: Int, width: Int)?
        for escaping in escapings where escaping.opens(rest[0]) {
            var next: (state: Int, width: Int)
            switch escaping.read(rest) {
            case .none:
                // An escape that is wrapped by a line end is not read here, because it depends on more than the bytes before the line end.
                let end = rest.firstIndex { $0 == 0x1B || isPassedOver($0) }
                if let end, automaton.goesOnEscaped(state),
                    escaping.read(UnsafeRawBufferPointer(rebasing: rest[..<end])) == .more
                {
                    return .some
                }
                continue
            // A quote that reopens the string may follow.
            case .more, .quotes, .literal: return .some
            case .byte where escaping == .shell: return .some
            case .byte(0x0A, let width), .byte(0x0D, let width), .scalar("\n", let width), .scalar("\r", let width):
                next = (state, width)
            case .byte(let byte, let width): next = (automaton.child(state, byte), width)
            case .scalar(let scalar, let width):
                next = (state, width)
                for (index, byte) in scalar.utf8.enumerated() where index == 0 || next.state != 0 {
                    next.state = automaton.child(next.state, byte)
                }
            }
            if next.state == 0 { continue }
            // The escapes of a form are those of a URL, except for `+`.
            if let found, found != next { return .some }
            found = next
        }
        return found.map { .one(state: $0.state, width: $0.width) } ?? .none
    }

    /// Whether the byte is skipped within a secret.
    private func isPassedOver(_ byte: UInt8) -> Bool {
        byte == 0x0A || byte == 0x0D || isBinary && byte == 0
    }
}
