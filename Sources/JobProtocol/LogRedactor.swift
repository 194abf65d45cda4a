/// Replaces secrets by `***` in a stream of bytes, whichever way the stream is cut into pieces.
///
/// An Aho–Corasick automaton (Aho and Corasick 1975) over all `SecretForms`: the time is linear in the bytes, whatever they
/// are. Only bytes that may be the beginning of a secret are held back. Line ends and terminal escapes (ECMA-48 CSI, as in
/// colors) within a secret count for nothing, so a wrapped or colored one is masked too.
package struct LogRedactor: Sendable {
    /// The most bytes of all secrets of one attempt together; bounds the automaton at some 40 MiB.
    package static let secretsLimit = 128 * 1024
    /// The most bytes that count for nothing in a row within a secret.
    private static let transparentLimit = 64
    private static let mask = Array("***".utf8)

    /// The automaton, state by state; state 0 is the root. Children are a linked list, since almost all states have one.
    private var bytes: [UInt8] = [0]
    private var firstChild: [Int32] = [0]
    private var sibling: [Int32] = [0]
    private var failure: [Int32] = [0]
    private var depth: [Int32] = [0]
    /// The longest form that ends in this state; 0 for none.
    private var matched: [Int32] = [0]
    private var rootChild = [Int32](repeating: 0, count: 256)

    private var state = 0
    private var held: [UInt8] = []
    private var isSignificant: [Bool] = []
    private var isMasked: [Bool] = []
    private var escape = Escape.none
    private var transparentRun = 0
    private var wroteMask = false

    private enum Escape { case none, begun, sequence }

    /// - Parameter secrets: Values. Empty ones are passed over.
    package init(secrets: some Sequence<String>) {
        for secret in secrets { for form in SecretForms.all(of: secret) { add(form) } }
        connect()
    }

    /// What of `input`, and of what was held back before it, can be shown.
    package mutating func redact(_ input: some Sequence<UInt8>) -> [UInt8] {
        if bytes.count == 1 { return Array(input) }
        var output: [UInt8] = []
        for byte in input { take(byte, into: &output) }
        return output
    }

    /// What was held back to the end.
    package mutating func finish() -> [UInt8] {
        var output: [UInt8] = []
        state = 0
        escape = .none
        release(keeping: 0, into: &output)
        return output
    }

    private mutating func take(_ byte: UInt8, into output: inout [UInt8]) {
        // Almost all bytes are no beginning of a secret.
        if held.isEmpty, rootChild[Int(byte)] == 0 {
            output.append(byte)
            wroteMask = false
            return
        }
        held.append(byte)
        isMasked.append(false)
        guard !isTransparent(byte) else {
            isSignificant.append(false)
            if state == 0 { release(keeping: 0, into: &output) }
            return
        }
        isSignificant.append(true)
        state = next(state, byte)
        let length = Int(matched[state])
        if length > 0 { maskLast(length) }
        if firstChild[state] == 0 { state = Int(failure[state]) }
        release(keeping: Int(depth[state]), into: &output)
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
        case (.none, 0x1B):
            escape = .begun
            return true
        case (.begun, UInt8(ascii: "[")):
            escape = .sequence
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

    private mutating func maskLast(_ length: Int) {
        var left = length
        var index = held.count
        while left > 0, index > 0 {
            index -= 1
            if isSignificant[index] { left -= 1 }
            isMasked[index] = true
        }
    }

    /// Gives out all held bytes but those from the `count`th last significant one on.
    private mutating func release(keeping count: Int, into output: inout [UInt8]) {
        var start = held.count
        var left = count
        while left > 0, start > 0 {
            start -= 1
            if isSignificant[start] { left -= 1 }
        }
        guard start > 0 else { return }
        for index in 0..<start {
            if !isMasked[index] { output.append(held[index]) } else if !wroteMask { output += Self.mask }
            wroteMask = isMasked[index]
        }
        held.removeFirst(start)
        isSignificant.removeFirst(start)
        isMasked.removeFirst(start)
    }

    // MARK: The automaton

    private func child(_ state: Int, _ byte: UInt8) -> Int {
        if state == 0 { return Int(rootChild[Int(byte)]) }
        var child = Int(firstChild[state])
        while child != 0, bytes[child] != byte { child = Int(sibling[child]) }
        return child
    }

    private func next(_ state: Int, _ byte: UInt8) -> Int {
        var state = state
        while true {
            let next = child(state, byte)
            if next != 0 || state == 0 { return next }
            state = Int(failure[state])
        }
    }

    private mutating func add(_ form: [UInt8]) {
        var state = 0
        for byte in form {
            var next = child(state, byte)
            if next == 0 {
                next = bytes.count
                bytes.append(byte)
                firstChild.append(0)
                sibling.append(firstChild[state])
                failure.append(0)
                depth.append(depth[state] + 1)
                matched.append(0)
                firstChild[state] = Int32(next)
                if state == 0 { rootChild[Int(byte)] = Int32(next) }
            }
            state = next
        }
        matched[state] = depth[state]
    }

    /// Breadth first: failure links, and the longest form that ends in each state.
    private mutating func connect() {
        var queue: [Int] = [0]
        var position = 0
        while position < queue.count {
            let state = queue[position]
            position += 1
            var child = Int(firstChild[state])
            while child != 0 {
                if state != 0 { failure[child] = Int32(next(Int(failure[state]), bytes[child])) }
                if matched[child] == 0 { matched[child] = matched[Int(failure[child])] }
                queue.append(child)
                child = Int(sibling[child])
            }
        }
    }
}
