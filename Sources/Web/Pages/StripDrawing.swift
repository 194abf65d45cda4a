import Model
import Storage

/// The last results of a branch as a row of bars: the tone says the result, the height the duration. The newest is on the right.
struct StripDrawing {
    private static let (step, width, height) = (7, 6, 20)
    /// The lowest bar; a result that never began has it.
    private static let lowest = 3

    let items: [ResultStrip.Item]

    /// Returns the drawing as SVG; `nil` without results.
    var html: String? {
        guard !items.isEmpty else { return nil }
        let longest = items.compactMap(\.duration).max() ?? .zero
        var paths: [ResultView.Tone: String] = [:]
        let start = ResultStrip.length - items.count
        for (place, item) in items.enumerated() {
            let view = ResultView(item.result)
            let x = (start + place) * Self.step
            let bar = height(of: item.duration, longest: longest)
            paths[view.tone, default: ""] += "M\(x) \(Self.height)v-\(bar)h\(Self.width)v\(bar)z"
            // What is not good has a foot, too, for those who do not see its color.
            if view.tone != .good { paths[view.tone, default: ""] += "M\(x) 22h\(Self.width)v2h-\(Self.width)z" }
        }
        let drawn = paths.sorted { $0.key.rawValue < $1.key.rawValue }.map { tone, path in
            "<path class=\"\(tone.rawValue)\" d=\"\(path)\"/>"
        }
        return
            "<svg class=\"bars\" viewBox=\"0 0 \(ResultStrip.length * Self.step - 1) 24\" width=\"139\" height=\"24\" "
            + "role=\"img\" aria-label=\"\(HTMLText.escape(label))\">\(drawn.joined())</svg>"
    }

    private func height(of duration: Duration?, longest: Duration) -> Int {
        guard let duration, longest > .zero else { return Self.lowest }
        let room = Double(Self.height - Self.lowest)
        return Self.lowest + Int(clamping: (duration / longest * room).rounded())
    }

    /// A text such as `Last 20: 17 succeeded, 3 test-failures; median 4 min 05 s`.
    var label: String {
        var counts: [(word: String, count: Int)] = []
        for item in items {
            let word = ResultView(item.result).word
            if let index = counts.firstIndex(where: { $0.word == word }) {
                counts[index].count += 1
            } else {
                counts.append((word, 1))
            }
        }
        let words = counts.sorted { $0.count > $1.count }.map { "\($0.count) \($0.word)" }
        let median = items.compactMap(\.duration).median.map { "; median \(PageText.duration($0))" } ?? ""
        return "Last \(items.count): \(words.joined(separator: ", "))\(median)"
    }
}

extension ResultView {
    init(_ result: IntegrationResult) {
        switch result {
        case .verdict(let verdict): self.init(verdict)
        case .triggerError: self.init(.completed(.succeeded, triggerFailed: true))
        }
    }
}
