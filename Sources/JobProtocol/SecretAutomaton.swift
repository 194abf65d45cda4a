/// An Aho–Corasick automaton (Aho and Corasick 1975) over forms of secrets. After each byte its state is the longest beginning of a form that the
/// bytes so far end with. State 0 is the root: no form has begun.
struct SecretAutomaton: Sendable {
    private var bytes: [UInt8] = [0]
    /// Children are a linked list, since almost all states have one.
    private var firstChild: [Int32] = [0]
    private var sibling: [Int32] = [0]
    private var failure: [Int32] = [0]
    private var depth: [Int32] = [0]
    /// The longest form that ends in this state; 0 for none.
    private var matched: [Int32] = [0]
    private var rootChild = [Int32](repeating: 0, count: 256)
    /// The bytes that occur in forms.
    private var contained = [Bool](repeating: false, count: 256)

    init(forms: Set<[UInt8]>) {
        for form in forms { add(form) }
        connect()
    }

    /// Whether there is nothing to search for.
    var isEmpty: Bool { bytes.count == 1 }

    /// Whether a form begins with the byte.
    func begins(with byte: UInt8) -> Bool { rootChild[Int(byte)] != 0 }

    /// Whether a form has the byte. An escape for any other byte is ignored here.
    func contains(_ byte: UInt8) -> Bool { contained[Int(byte)] }

    /// How many bytes of a form the state stands for.
    func depth(_ state: Int) -> Int { Int(depth[state]) }

    /// How many bytes the longest form has that ends here; 0 when none does.
    func matched(_ state: Int) -> Int { Int(matched[state]) }

    /// The longest other beginning that the bytes so far end with and that goes on otherwise than this one.
    func failure(_ state: Int) -> Int { Int(failure[state]) }

    /// No form goes on from here.
    func isLeaf(_ state: Int) -> Bool { firstChild[state] == 0 }

    /// The state of one byte more of the same form; 0 when no form goes on so.
    func child(_ state: Int, _ byte: UInt8) -> Int {
        if state == 0 { return Int(rootChild[Int(byte)]) }
        var child = Int(firstChild[state])
        while child != 0, bytes[child] != byte { child = Int(sibling[child]) }
        return child
    }

    /// Whether a form can continue from here with a byte that is no letter and no digit.
    func goesOnEscaped(_ state: Int) -> Bool {
        var child = Int(firstChild[state])
        while child != 0 {
            if !Escaping.isAlphanumeric(bytes[child]) { return true }
            child = Int(sibling[child])
        }
        return false
    }

    /// The state after the byte.
    func next(_ state: Int, _ byte: UInt8) -> Int {
        var state = state
        while true {
            let next = child(state, byte)
            if next != 0 || state == 0 { return next }
            state = Int(failure[state])
        }
    }

    /// The bytes that can follow a form's first byte; empty if the byte is no form's first.
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
        shorten(queue)
    }

    /// Leaves out of each chain of failures what goes on with no byte that was not tried before it, as Knuth, Morris and Pratt do. Chains
    /// are then short for a secret that repeats itself, too. That matters to a `SecretView`, which takes over a state that was reached
    /// byte by byte, falls from it, and takes over the next.
    private mutating func shorten(_ states: [Int]) {
        // A state's failure comes before it, and is shortened.
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
