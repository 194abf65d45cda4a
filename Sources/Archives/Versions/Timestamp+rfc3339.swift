import Model

extension Timestamp {
    /// Parses the form that `description` writes, `2026-03-01T12:00:00.250Z`.
    /// - Returns: `nil` for other texts.
    init?(rfc3339 text: String) {
        let bytes = Array(text.utf8)
        let form = Array("dddd-dd-ddTdd:dd:dd.dddZ".utf8)
        guard bytes.count == form.count else { return nil }
        var numbers: [Int64] = [0]
        for (byte, expected) in zip(bytes, form) {
            if expected == UInt8(ascii: "d") {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int64(byte - UInt8(ascii: "0"))
            } else {
                guard byte == expected else { return nil }
                numbers.append(0)
            }
        }
        // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`.
        let year = numbers[1] <= 2 ? numbers[0] - 1 : numbers[0]
        let era = year / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (numbers[1] + (numbers[1] > 2 ? -3 : 9)) + 2) / 5 + numbers[2] - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        let seconds = days * 86_400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
        self.init(millisecondsSinceEpoch: seconds * 1000 + numbers[6])
        // An invalid date, such as 30 February, has another description.
        guard description == text else { return nil }
    }
}
