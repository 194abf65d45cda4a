import Encodings

extension JSON {
    /// The value as an integer; `nil` if it is no whole number below 9e15.
    var int: Int? {
        guard let double, double.rounded() == double, abs(double) < 9e15 else { return nil }
        return Int(double)
    }

    /// The value as a finite number.
    var double: Double? {
        guard let double = number.flatMap(Double.init), double.isFinite else { return nil }
        return double
    }
}
