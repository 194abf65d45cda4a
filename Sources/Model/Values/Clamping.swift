extension FixedWidthInteger {
    /// Converts a fraction of unknown origin, such as one in a report. The fraction is rounded toward zero. A number out of range becomes the
    /// nearest one in range, and NaN becomes 0. `Int(_:)` would end the process for these.
    package init(clamping value: Double) {
        if let exact = Self(exactly: value.rounded(.towardZero)) {
            self = exact
        } else {
            self = value.isNaN ? 0 : value < 0 ? .min : .max
        }
    }
}

extension Int64 {
    /// Returns the sum, or the nearest representable number.
    package static func clampedSum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, hasOverflowed) = left.addingReportingOverflow(right)
        return hasOverflowed ? (right < 0 ? .min : .max) : sum
    }

    /// Returns the difference, or the nearest representable number.
    static func clampedDifference(_ left: Int64, _ right: Int64) -> Int64 {
        let (difference, hasOverflowed) = left.subtractingReportingOverflow(right)
        return hasOverflowed ? (right < 0 ? .max : .min) : difference
    }
}
