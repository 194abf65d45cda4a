extension [Duration] {
    /// The middle value, or the mean of the two in the middle; `nil` for an empty array.
    package var median: Duration? {
        guard !isEmpty else { return nil }
        let sorted = sorted()
        return count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2
    }
}
