import ServiceSupport

/// What a figure is to be, on the machine that the goals were set on, and so on any other: as many times what that machine takes for
/// one thing that both do.
struct Goal {
    /// With its unit, such as `≤ 6 ms`.
    let text: String
    let isMet: Bool
    /// The same as a ratio; `nil` if the goal does not depend on the machine.
    var relative: (text: String, isMet: Bool)?

    /// What it says at the end of a figure's line. The ratio decides where there is one: an absolute figure is the machine's, too.
    var words: String {
        guard let relative else { return "\(text): \(isMet ? "met" : "missed")" }
        return "\(text): \(isMet ? "yes" : "no"); \(relative.text): \(relative.isMet ? "met" : "missed")"
    }

    /// Milliseconds that the machine of the goals takes: to start a process and await its end, and for bubblewrap at most and at least, of
    /// which the stricter one counts.
    static let spawn = 0.42
    static let bubblewrap = 3.5

    /// - Parameters:
    ///   - milliseconds: What was measured, and what it is to be at most.
    ///   - unit: What this machine takes for one, with what the other takes, and what it is called.
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
