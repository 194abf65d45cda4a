/// An Aho–Corasick automaton (Aho and Corasick 1975) over forms of secrets. After each byte its state is the longest beginning of a form that is a
/// suffix of the bytes so far. State 0 is the root: no form has begun.
struct SecretAutomaton: Sendable {
    private var bytes: [UInt8] = [0]
    /// The first child of each state. Children are a linked list, because almost all states have only one.
    private var firstChild: [Int32] = [0]
    private var sibling: [Int32] = [0]
    private var failure: [Int32] = [0]
    private var depth: [Int32] = [0]
    /// The length of the longest form that ends in each state; 0 if none does.
    private var matched: [Int32] = [0]
    private var rootChild = [Int32](repeating: 0, count: 256)
    /// The bytes that occur in forms.
    private var contained = [Bool](repeating: false, count: 256)

    init(forms: Set<[UInt8]>) {
        for form in forms { add(form) }
        connect()
    }

    /// Whether there are no forms to search for.
    var isEmpty: Bool { bytes.count == 1 }

    /// Whether a form begins with the byte.
    func begins(with byte: UInt8) -> Bool { rootChild[Int(byte)] != 0 }

    /// Whether a form contains the byte. Escapes of other bytes are ignored.
    func contains(_ byte: UInt8) -> Bool { contained[Int(byte)] }

    /// Returns the number of bytes of a form that the state represents.
    func depth(_ state: Int) -> Int { Int(depth[state]) }

    /// Returns the length of the longest form that ends in the state; 0 if none does.
    func matched(_ state: Int) -> Int { Int(matched[state]) }

    /// Returns the next shorter beginning that is a suffix of the bytes so far and has a continuation that this state does not have.
    func failure(_ state: Int) -> Int { Int(failure[state]) }

    /// Whether no form continues from the state.
    func isLeaf(_ state: Int) -> Bool { firstChild[state] == 0 }

    /// Returns the state after one more byte of the same form; 0 if no form continues with that byte.
    func child(_ state: Int, _ byte: UInt8) -> Int {
        if state == 0 { return Int(rootChild[Int(byte)]) }
        var child = Int(firstChild[state])
        while child != 0, bytes[child] != byte { child = Int(sibling[child]) }
        return child
    }

    /// Whether a form can continue from here with a byte that is not a letter or a digit.
    func goesOnEscaped(_ state: Int) -> Bool {
        var child = Int(firstChild[state])
        while child != 0 {
            if !Escaping.isAlphanumeric(bytes[child]) { return true }
            child = Int(sibling[child])
        }
        return false
    }

    /// Returns the state after a byte.
    func next(_ state: Int, _ byte: UInt8) -> Int {
        var state = state
        while true {
            let next = child(state, byte)
            if next != 0 || state == 0 { return next }
            state = Int(failure[state])
        }
    }

    /// Returns the bytes that can follow a form's first byte, and whether a form ends with it. The array is empty if no form begins with the byte.
    func second(after first: UInt8) -> (isEnd: Bool, bytes: [UInt8]) {
        let state = Int(rootChild[Int(first)])
        guard state != 0 else { return (false, []) }
        var seconds: [UInt8] = []
        var child = Int(firstChild[state])
        while child != 0 {
            seconds.append(bytes[child])
            child = Int(sibling[child])
        }
        return (matched[state] > 0, seconds)
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
                contained[Int(byte)] = true
            }
            state = next
        }
        matched[state] = depth[state]
    }

    /// Computes the failure links and the longest form that ends in each state, breadth first.
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
        shorten(queue)
    }

    /// Shortens each chain of failures, as Knuth, Morris and Pratt do: leaves out states that continue only with bytes that were already tried.
    /// Chains are then short even for a secret that repeats itself. That matters to a `SecretView`, which repeatedly takes over a state from the
    /// literal view and fails from it.
    private mutating func shorten(_ states: [Int]) {
        // The failure of a state comes before the state and is already shortened.
        for state in states where failure[state] != 0 && !goesOnOtherwise(Int(failure[state]), than: state) {
            failure[state] = failure[Int(failure[state])]
        }
    }

    private func goesOnOtherwise(_ other: Int, than state: Int) -> Bool {
        var child = Int(firstChild[other])
        while child != 0 {
            if self.child(state, bytes[child]) == 0 { return true }
            child = Int(sibling[child])
        }
        return false
    }
}
