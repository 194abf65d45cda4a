import Model

/// The tests of an attempt, with one column per property. The same index in each column is one test.
struct TestColumns: Equatable {
    /// The location and message of a test without a row of its own.
    struct Detail: Hashable {
        var message: String?
        var path: String?
        var line: Int?

        var isEmpty: Bool { message == nil && path == nil && line == nil }
    }

    /// Rows of `test_names`, in ascending order.
    var ids: [Int64] = []
    var outcomes: [TestResult.Outcome] = []
    var durations: [DurationCode] = []
    /// The details by index, without empty ones.
    var details: [Int: Detail] = [:]

    /// Returns the index of a test; `nil` if it was not run.
    func place(of id: Int64) -> Int? {
        let place = countOfIDs(below: id)
        return place < ids.count && ids[place] == id ? place : nil
    }

    func countOfIDs(below id: Int64) -> Int {
        var (low, high) = (0, ids.count)
        while low < high {
            let middle = (low + high) / 2
            if ids[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension TestResult.Outcome {
    /// The outcome's code in records. It never changes.
    var code: UInt8 {
        switch self {
        case .passed: 0
        case .failed: 1
        case .skipped: 2
        case .crashed: 3
        case .flaky: 4
        case .knownIssue: 5
        }
    }

    init?(code: UInt8) {
        switch code {
        case 0: self = .passed
        case 1: self = .failed
        case 2: self = .skipped
        case 3: self = .crashed
        case 4: self = .flaky
        case 5: self = .knownIssue
        default: return nil
        }
    }

    /// The number of codes.
    static let codes: UInt8 = 6
}

/// A duration with three significant digits: 1.23 ms, 12.3 s. Finer digits are noise, and would take twice the space.
struct DurationCode: Hashable {
    /// The code. 0: no duration; 1 to 1000: the microseconds plus one; above that, 900 codes for each power of ten.
    let code: UInt16

    /// The largest code: 9.99e18 microseconds.
    static let maximum: UInt16 = 1001 + 900 * 16 - 1

    /// Fails for a code that no duration has.
    init?(code: Int) {
        guard (0...Int(Self.maximum)).contains(code) else { return nil }
        self.code = UInt16(code)
    }

    init(_ duration: Duration?) {
        guard let duration else {
            code = 0
            return
        }
        let microseconds = duration.microseconds
        guard microseconds >= 1000 else {
            code = UInt16(microseconds + 1)
            return
        }
        var (digits, power) = (microseconds, 0)
        while digits >= 10_000 {
            digits /= 10
            power += 1
        }
        // One digit more than is stored, so that the value is rounded only once.
        digits = (digits + 5) / 10
        power += 1
        if digits == 1000 { (digits, power) = (100, power + 1) }
        code = min(UInt16(1001 + (power - 1) * 900 + Int(digits) - 100), Self.maximum)
    }

    var duration: Duration? {
        if code == 0 { return nil }
        if code <= 1000 { return .microseconds(Int64(code) - 1) }
        let (power, digits) = (Int(code) - 1001).quotientAndRemainder(dividingBy: 900)
        var value = Int64(digits) + 100
        for _ in 0...power {
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            if isTooLarge { return .microseconds(Int64.max) }
            value = product
        }
        return .microseconds(value)
    }
}

extension Duration {
    /// The whole microseconds; 0 for a negative duration, and at most those of 285,000 years.
    var microseconds: Int64 {
        let seconds = min(components.seconds, 9_000_000_000_000)
        return seconds < 0 ? 0 : max(0, seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000)
    }
}
