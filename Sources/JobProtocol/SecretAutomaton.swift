/// An Aho–Corasick automaton (Aho and Corasick 1975) over forms of secrets: after each byte its state is the longest
/// beginning of a form that the bytes so far end with. State 0 is the root, where nothing has begun.
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

    init(forms: Set<[UInt8]>) {
        for form in forms { add(form) }
        connect()
    }

    /// There is nothing to look for.
    var isEmpty: Bool { bytes.count == 1 }

    /// Whether a form begins with the byte.
    func begins(with byte: UInt8) -> Bool { rootChild[Int(byte)] != 0 }

    /// How many bytes of a form the state stands for.
    func depth(_ state: Int) -> Int { Int(depth[state]) }

    /// How many bytes the longest form has that ends here; 0 when none does.
    func matched(_ state: Int) -> Int { Int(matched[state]) }

    /// The longest other beginning that the bytes so far end with.
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

    /// The state after the byte.
    func next(_ state: Int, _ byte: UInt8) -> Int {
        var state = state
        while true {
            let next = child(state, byte)
            if next != 0 || state == 0 { return next }
            state = Int(failure[state])
        }
    }

    /// Every pair of bytes that can begin a form, also with one of `others` after the first byte.
    func forEachPair(orBefore others: [UInt8], _ body: (UInt8, UInt8) -> Void) {
        for first in UInt8.min...UInt8.max where begins(with: first) {
            let state = Int(rootChild[Int(first)])
            for second in UInt8.min...UInt8.max
            where matched[state] > 0 || others.contains(second) || child(state, second) != 0 {
                body(first, second)
            }
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
