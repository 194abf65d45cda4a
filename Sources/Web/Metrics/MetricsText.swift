/// Prometheus's text format 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats).
struct MetricsText: Sendable {
    private(set) var text = ""

    /// A value with its labels.
    struct Sample: Sendable {
        let labels: [(name: String, value: String)]
        let value: Double

        init(_ value: Double, _ labels: (name: String, value: String)...) {
            (self.labels, self.value) = (labels, value)
        }
        init(_ value: Int, _ labels: (name: String, value: String)...) {
            (self.labels, self.value) = (labels, Double(value))
        }
    }

    enum Kind: String { case gauge, counter, histogram }

    /// Adds a metric.
    /// - Parameter help: One sentence.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
        begin(name, kind, help)
        for sample in samples { write(name, sample.labels, sample.value) }
    }

    /// Adds a histogram: for each label set its buckets, which are cumulative, its sum and its count.
    mutating func add(
        _ name: String, _ help: String, _ figures: [(labels: [(name: String, value: String)], histogram: Histogram)]
    ) {
        begin(name, .histogram, help)
        for (labels, histogram) in figures {
            var total = 0
            for (limit, count) in zip(Histogram.limits, histogram.counts) {
                total += count
                write(name + "_bucket", labels + [("le", Self.number(limit))], Double(total))
            }
            write(name + "_bucket", labels + [("le", "+Inf")], Double(histogram.count))
            write(name + "_sum", labels, histogram.sum)
            write(name + "_count", labels, Double(histogram.count))
        }
    }

    private mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    private mutating func write(_ name: String, _ labels: [(name: String, value: String)], _ value: Double) {
        text += name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",") + "}"
        }
        text += " \(Self.number(value))\n"
    }

    private static func number(_ value: Double) -> String {
        Int64(exactly: value).map { String($0) } ?? String(value)
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}

/// Durations, counted by size.
struct Histogram: Sendable, Hashable {
    /// The largest seconds of each bucket: from a step that does nothing to a job of hours.
    static let limits: [Double] = [0.5, 1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200]

    /// The number in each bucket alone.
    private(set) var counts = [Int](repeating: 0, count: Self.limits.count)
    private(set) var sum = 0.0
    private(set) var count = 0

    /// - Parameter seconds: A negative one, after a clock that was set back, counts as 0.
    mutating func observe(_ seconds: Double) {
        let seconds = max(0, seconds)
        if let bucket = Self.limits.firstIndex(where: { seconds <= $0 }) { counts[bucket] += 1 }
        sum += seconds
        count += 1
    }
}
