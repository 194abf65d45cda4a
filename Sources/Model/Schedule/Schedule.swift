extension BotSpecification {
    /// When a bot integrates its branches without an event, and which branches.
    package struct Schedule: Hashable, Sendable, Codable {
        /// The schedule as written: `daily 02:00`, `30 2 * * 1-5`.
        package var text: String
        package var times: CronExpression
        /// A name of the time zone database; `nil` means UTC.
        package var zone: String?
        /// The branches to integrate; `nil` means the default branch.
        package var branches: [RefPattern]?

        package init(text: String, times: CronExpression, zone: String? = nil, branches: [RefPattern]? = nil) {
            (self.text, self.times, self.zone, self.branches) = (text, times, zone, branches)
        }

        /// The form that was stored before cron expressions were supported.
        private enum Earlier: Codable {
            case daily(hour: Int, minute: Int)
            /// A weekly schedule; weekday 1 is Monday.
            case weekly(weekday: Int, hour: Int, minute: Int)
        }

        private enum CodingKeys: String, CodingKey { case text, times, zone, branches }

        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            if let times = try container.decodeIfPresent(CronExpression.self, forKey: .times) {
                self.init(
                    text: try container.decode(String.self, forKey: .text), times: times,
                    zone: try container.decodeIfPresent(String.self, forKey: .zone),
                    branches: try container.decodeIfPresent([RefPattern].self, forKey: .branches))
                return
            }
            let made: Schedule? =
                switch try Earlier(from: decoder) {
                case .daily(let hour, let minute): .daily(hour: hour, minute: minute)
                case .weekly(let weekday, let hour, let minute): .weekly(weekday: weekday, hour: hour, minute: minute)
                }
            guard let made else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "a schedule out of range"))
            }
            self = made
        }

        private static let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

        /// Creates a daily schedule.
        /// - Returns: `nil` if no day has such a time.
        package static func daily(hour: Int, minute: Int, zone: String? = nil) -> Schedule? {
            guard let times = try? CronExpression("\(minute) \(hour) * * *") else { return nil }
            return Schedule(text: "daily \(clock(hour, minute))", times: times, zone: zone)
        }

        /// Creates a weekly schedule.
        /// - Parameter weekday: 1 is Monday.
        /// - Returns: `nil` if there is no such weekday or time.
        package static func weekly(weekday: Int, hour: Int, minute: Int, zone: String? = nil) -> Schedule? {
            guard (1...7).contains(weekday), let times = try? CronExpression("\(minute) \(hour) * * \(weekday)") else {
                return nil
            }
            return Schedule(text: "weekly \(days[weekday - 1]) \(clock(hour, minute))", times: times, zone: zone)
        }

        /// Returns the number of a weekday by its name or the first three letters of it; Monday is 1. `nil` for other
        /// texts.
        package static func weekday(_ name: String) -> Int? {
            name.count < 3 ? nil : days.firstIndex { $0 == name || $0.prefix(3) == name }.map { $0 + 1 }
        }

        private static func clock(_ hour: Int, _ minute: Int) -> String {
            [hour, minute].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
        }

        /// The times, zone and branches as text for display.
        package var sentence: String {
            let branches = branches.map { " of " + $0.map(\.description).joined(separator: ", ") } ?? ""
            return "\(text) \(zone ?? "UTC")\(branches)"
        }

        /// Whether the schedule integrates a branch.
        package func covers(_ ref: RefName, defaultBranch: RefName?) -> Bool {
            guard let branches else { return ref == defaultBranch }
            return ref.branch.map { branch in branches.contains { $0.matches(branch) } } ?? false
        }
    }
}
