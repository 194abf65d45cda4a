import Foundation
package import Model

/// The time zone database of Foundation (Unicode's ICU). It is part of the program, so the machine's tzdata is not needed.
package enum TimeZones {
    /// Zones without a region in their name, which `knownTimeZoneIdentifiers` does not list.
    private static let others: Set = [
        "UTC", "GMT", "CET", "EET", "MET", "WET", "EST", "MST", "HST", "EST5EDT", "CST6CDT", "MST7MDT", "PST8PDT",
        "Cuba", "Egypt", "Eire", "GB", "GB-Eire", "Greenwich", "Hongkong", "Iceland", "Iran", "Israel", "Jamaica",
        "Japan", "Kwajalein", "Libya", "NZ", "NZ-CHAT", "Navajo", "PRC", "Poland", "Portugal", "ROC", "ROK",
        "Singapore", "Turkey", "UCT", "Universal", "W-SU", "Zulu",
    ]

    /// Returns a zone's rules. The first call of a process takes 0.1 s, because the database is opened.
    /// - Returns: `nil` for a name that the database does not have. Abbreviations such as `IST` have several meanings and are no names.
    package static func rules(of name: String) -> ZoneRules? {
        if name == "UTC" { return .utc }
        // Foundation also accepts names with a NUL at the end, and other spellings of offsets.
        guard name.contains("/") || names.contains(name), !name.utf8.contains(0), let zone = TimeZone(identifier: name),
            zone.identifier == name
        else { return nil }
        return ZoneRules { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0))) }
    }

    /// Every name of a region's zone and of `others`, for suggestions.
    static let names: Set<String> = others.union(TimeZone.knownTimeZoneIdentifiers)
}
