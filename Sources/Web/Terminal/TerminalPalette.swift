import Glibc

/// The colors of terminals as a style sheet. The pages' policy forbids inline styles, so each color of the palette of 256 is a class, and a color of
/// 24 bits becomes the nearest of these.
enum TerminalPalette {
    /// The colors 0 to 15 as a background (xterm's defaults).
    private static let basic: [[Int]] = [
        [0, 0, 0], [205, 0, 0], [0, 205, 0], [205, 205, 0], [0, 0, 238], [205, 0, 205], [0, 205, 205], [229, 229, 229],
        [127, 127, 127], [255, 0, 0], [0, 255, 0], [255, 255, 0], [92, 92, 255], [255, 0, 255], [0, 255, 255],
        [255, 255, 255],
    ]
    private static let levels = [0, 95, 135, 175, 215, 255]
    /// The colors 0 to 7 as text: the pages' own, which are readable in both color schemes. 8 to 15 are the same.
    private static let words = ["soft", "bad", "good", "warn", "busy", "ours", "busy", "ink"]
    /// The background of a log, `--card`, in the light and in the dark scheme.
    static let lightCard = [0xFF, 0xFF, 0xFF]
    static let darkCard = [0x1B, 0x1E, 0x22]
    /// The least contrast of text (WCAG 2.1, 1.4.3, asks for 4.5). It is more, because lines with errors have a tint.
    static let contrast = 5.6

    /// The style sheet: about 15 KiB, the same for all logs.
    static let styleSheet: [UInt8] = {
        var sheet = "/* The colors of terminals: text is darkened or lightened until it can be read. */\n"
        for index in 0..<16 { sheet += ".f\(index){color:var(--\(words[index % 8]))}" }
        for index in 16..<256 { sheet += ".f\(index){color:\(readable(UInt8(index), on: lightCard))}" }
        sheet += "\n@media (prefers-color-scheme:dark){"
        for index in 16..<256 { sheet += ".f\(index){color:\(readable(UInt8(index), on: darkCard))}" }
        sheet += "}\n"
        for index in 0..<256 {
            let color = color(UInt8(index))
            let isLight = ratio(color, [0, 0, 0]) > ratio(color, [255, 255, 255])
            sheet += ".b\(index){background:\(text(color));color:\(isLight ? "#000" : "#fff")}"
        }
        return Array((sheet + "\n").utf8)
    }()

    /// Returns red, green and blue of a color of the palette, 0 to 255 each: 0–15 as above, a cube of 6×6×6, and 24 grays
    /// (xterm's `256colres.pl`).
    static func color(_ index: UInt8) -> [Int] {
        switch index {
        case 0..<16: return basic[Int(index)]
        case 16..<232:
            let number = Int(index) - 16
            return [levels[number / 36], levels[number / 6 % 6], levels[number % 6]]
        default: return Array(repeating: 8 + 10 * (Int(index) - 232), count: 3)
        }
    }

    /// Returns the color of the cube or the grays that is nearest to a color of 24 bits.
    /// - Parameter parts: Red, green and blue.
    /// - Returns: `nil` unless these are three numbers from 0 to 255.
    static func nearest(_ parts: [Int]) -> UInt8? {
        guard parts.count == 3, parts.allSatisfy({ (0...255).contains($0) }) else { return nil }
        let steps = parts.map { part in
            levels.indices.min { abs(levels[$0] - part) < abs(levels[$1] - part) } ?? 0
        }
        let cube = 16 + 36 * steps[0] + 6 * steps[1] + steps[2]
        let gray = 232 + min(23, max(0, (parts.reduce(0, +) / 3 - 3) / 10))
        func distance(_ index: Int) -> Int {
            zip(color(UInt8(index)), parts).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
        }
        return UInt8(distance(gray) < distance(cube) ? gray : cube)
    }

    /// Returns a color that has enough contrast on a background: the given one, mixed with as much black or white as needed.
    private static func readable(_ index: UInt8, on background: [Int]) -> String {
        let wanted = color(index)
        let end = luminance(background) > 0.5 ? 0 : 255
        for step in 0...20 {
            let mixed = wanted.map { $0 + (end - $0) * step / 20 }
            if ratio(mixed, background) >= contrast { return text(mixed) }
        }
        return text([end, end, end])
    }

    /// Returns the contrast ratio of two colors, 1 to 21 (WCAG 2.1, "contrast ratio").
    static func ratio(_ one: [Int], _ other: [Int]) -> Double {
        let (light, dark) = (max(luminance(one), luminance(other)), min(luminance(one), luminance(other)))
        return (light + 0.05) / (dark + 0.05)
    }

    /// Returns the relative luminance of a color, 0 to 1 (WCAG 2.1, "relative luminance").
    private static func luminance(_ color: [Int]) -> Double {
        let parts = color.map { part -> Double in
            let share = Double(part) / 255
            return share > 0.03928 ? pow((share + 0.055) / 1.055, 2.4) : share / 12.92
        }
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }

    private static func text(_ color: [Int]) -> String {
        let digits = color.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        // #aabbcc is #abc.
        let isShort = digits.allSatisfy { $0.first == $0.last }
        return "#" + digits.map { isShort ? String($0.prefix(1)) : $0 }.joined()
    }
}
