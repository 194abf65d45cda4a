import ServiceSupport

/// The goal of a figure. It is absolute for the machine that the goals were set on. For other machines it is a multiple of the time of something
/// that both do.
struct Goal {
    /// The goal with its unit, such as `≤ 6 ms`.
    let text: String
    let isMet: Bool
    /// The same as a ratio; `nil` for a goal without such a unit.
    var relative: (text: String, isMet: Bool)?

    /// The text at the end of a figure's line. If there is a ratio, it decides, because an absolute figure depends on the machine.
    var words: String {
        guard let relative else { return "\(text): \(isMet ? "met" : "missed")" }
        return "\(text): \(isMet ? "yes" : "no"); \(relative.text): \(relative.isMet ? "met" : "missed")"
    }

    /// Milliseconds on the machine of the goals: for starting a process and awaiting its exit, and for bubblewrap at most and at least, of which
    /// the stricter one counts.
    static let spawn = 0.42
    static let bubblewrap = 3.5

    /// - Parameters:
    ///   - milliseconds: The measured time, and its limit.
    ///   - unit: The time of the unit on this machine and on the goals' machine, and its name.
    init(_ milliseconds: Double, atMost goal: Double, _ text: String, unit: (here: Double, there: Double, name: String))
    {
        self.text = text
        isMet = milliseconds <= goal
        let (ratio, limit) = (milliseconds / unit.here, goal / unit.there)
        relative = (
            "\(ratio.text) × \(unit.name), ≤ \(limit.text) as where that takes \(unit.there.text) ms", ratio <= limit
        )
    }

    init(_ text: String, isMet: Bool) { (self.text, self.isMet) = (text, isMet) }
}
