import Model
import Storage

/// A line of values over a bot's integrations, as SVG with axes: the oldest integration is on the left.
struct Plot {
    /// What the values are, which says how they are written and where the axis has its marks.
    enum Unit { case duration, count, percent }

    struct Point {
        let number: Int
        /// In seconds for durations; `nil` if the integration has no such value, and the line has a gap there.
        let value: Double?
        let result: IntegrationResult
    }

    let title: String
    let unit: Unit
    let points: [Point]

    private static let (width, height) = (420, 150)
    private static let (left, right, top, bottom) = (62, 8, 10, 24)

    /// Whether there is anything to draw: two values, one of which is not zero.
    var isWorthDrawing: Bool {
        let values = points.compactMap(\.value)
        return values.count > 1 && values.contains { $0 != 0 }
    }

    /// The newest value, in words.
    var latest: String? { points.last { $0.value != nil }?.value.map(text) }

    /// A sentence for those who do not see the plot.
    var summary: String {
        let values = points.compactMap(\.value)
        guard let first = values.first, let last = values.last, let least = values.min(), let most = values.max() else {
            return "\(title): no values"
        }
        return
            "\(title) of \(values.count) integrations: from \(text(first)) to \(text(last)), at least \(text(least)), at most \(text(most))"
    }

    var html: String {
        let scale = scale
        let (span, room) = (Self.width - Self.left - Self.right, Self.height - Self.top - Self.bottom)
        func x(_ place: Int) -> Int { Self.left + (points.count < 2 ? span / 2 : place * span / (points.count - 1)) }
        func y(_ value: Double) -> Int {
            let part = scale.most > scale.least ? (value - scale.least) / (scale.most - scale.least) : 0
            return Self.top + room - Int(clamping: (min(1, max(0, part)) * Double(room)).rounded())
        }
        var svg =
            "<svg class=\"plot\" viewBox=\"0 0 \(Self.width) \(Self.height)\" role=\"img\" aria-label=\"\(HTMLText.escape(summary))\">"
        for mark in scale.marks {
            svg += "<path class=\"mark\" d=\"M\(Self.left) \(y(mark))h\(span)\"/>"
            svg +=
                "<text class=\"y\" x=\"\(Self.left - 6)\" y=\"\(y(mark) + 4)\">\(HTMLText.escape(Self.mark(mark, unit) ?? text(mark)))</text>"
        }
        for place in Set([0, (points.count - 1) / 2, points.count - 1]).sorted() where points.indices.contains(place) {
            let end = place == 0 ? "start" : place == points.count - 1 ? "end" : "middle"
            svg += "<text class=\"x \(end)\" x=\"\(x(place))\" y=\"\(Self.height - 6)\">#\(points[place].number)</text>"
        }
        var (line, isOpen) = ("", false)
        var dots = ""
        for (place, point) in points.enumerated() {
            guard let value = point.value else {
                isOpen = false
                continue
            }
            line += "\(isOpen ? "L" : "M")\(x(place)) \(y(value))"
            isOpen = true
            let view = ResultView(point.result)
            dots +=
                "<circle class=\"\(view.tone.rawValue)\" cx=\"\(x(place))\" cy=\"\(y(value))\" r=\"\(view.tone == .good ? 2 : 3)\">"
                + "<title>#\(point.number): \(HTMLText.escape(text(value))), \(view.word)</title></circle>"
        }
        return svg + "<path class=\"line\" d=\"\(line)\"/>" + dots + "</svg>"
    }

    // MARK: The axis

    private struct Scale {
        var least: Double
        var most: Double
        var marks: [Double]
    }

    /// The distances of marks on an axis of seconds.
    private static let paces: [Double] = [
        0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200,
        86_400,
    ]

    /// Returns at most four marks that include all values. Counts and durations begin at zero.
    private var scale: Scale {
        let values = points.compactMap(\.value)
        let most = values.max() ?? 0
        let base = unit == .percent ? values.min() ?? 0 : 0
        let pace = Self.pace(for: max(most - base, unit == .percent ? 0.2 : 0), unit)
        let least = (base / pace).rounded(.down) * pace
        let count = max(1, Int(clamping: ((most - least) / pace).rounded(.up)))
        return Scale(
            least: least, most: least + Double(count) * pace, marks: (0...count).map { least + Double($0) * pace })
    }

    private static func pace(for range: Double, _ unit: Unit) -> Double {
        let wanted = range / 3
        switch unit {
        case .duration: return paces.first { $0 >= wanted } ?? (wanted / 86_400).rounded(.up) * 86_400
        case .count, .percent:
            var power = unit == .count ? 1.0 : 0.1
            while power * 10 < wanted { power *= 10 }
            return [1, 2, 5, 10].map { $0 * power }.first { $0 >= wanted } ?? power * 10
        }
    }

    /// Returns a whole number of minutes or hours in the shortest form: `5 min`, `2 h`; `nil` for other values.
    private static func mark(_ value: Double, _ unit: Unit) -> String? {
        guard unit == .duration, value >= 60, value.truncatingRemainder(dividingBy: 60) == 0 else { return nil }
        let minutes = Int(clamping: value / 60)
        return minutes.isMultiple(of: 60) ? "\(minutes / 60) h" : minutes < 60 ? "\(minutes) min" : nil
    }

    func text(_ value: Double) -> String {
        switch unit {
        case .duration: value == 0 ? "0" : PageText.duration(.milliseconds(Int64(clamping: (value * 1000).rounded())))
        case .count: PageText.number(Int(clamping: value.rounded()))
        case .percent: Self.percent(value)
        }
    }

    /// Returns a percentage with one digit after the point, if it is not zero: `87.5 %`, `100 %`.
    static func percent(_ value: Double) -> String {
        let tenths = Int(clamping: (value * 10).rounded())
        return tenths.isMultiple(of: 10) ? "\(tenths / 10) %" : "\(tenths / 10).\(tenths % 10) %"
    }
}

extension Plot {
    /// Returns the plots of a trend that have something to show.
    static func all(of trend: [TrendPoint]) -> [Plot] {
        func plot(_ title: String, _ unit: Unit, _ value: (TrendPoint) -> Double?) -> Plot {
            Plot(
                title: title, unit: unit,
                points: trend.map { Point(number: $0.number, value: value($0), result: $0.result) })
        }
        return [
            plot("Duration", .duration) { $0.duration?.seconds },
            plot("Waiting time", .duration) { $0.waited?.seconds },
            plot("Tests", .count) { ($0.summary?.testCount).map(Double.init) },
            plot("Failing tests", .count) { ($0.summary?.failingTestCount).map(Double.init) },
            plot("Coverage of lines", .percent) { $0.coverage },
            plot("Errors, warnings and findings", .count) { ($0.summary?.counts.findings).map(Double.init) },
        ].filter(\.isWorthDrawing)
    }
}

extension Counts {
    /// The errors, warnings and findings of analyzers together.
    var findings: Int { errors + warnings + analyzerWarnings }
}
