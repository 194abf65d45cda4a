import Jobs
import Model
import SourceControl
import Storage

/// A line of a file that an issue is about.
package struct SourcePlace: Hashable, Sendable {
    /// The path from the repository's root.
    package var path: String
    /// The line, counted from 1.
    package var line: Int

    package init(path: String, line: Int) {
        self.path = path
        self.line = line
    }
}

/// The lines of a commit's file around a place.
package struct SourceExcerpt: Hashable, Sendable {
    /// The number of the first line.
    package var first: Int
    /// The lines without their ends. Control characters are replaced, and longer lines are cut at `maximumLine` characters.
    package var lines: [String]

    /// The number of lines shown before a place, and after it.
    package static let margin = 3
    /// The most characters of a line.
    package static let maximumLine = 200
    /// The largest file, in bytes.
    package static let maximumFile = 512 * 1024
    /// The most places of one call.
    package static let maximumPlaces = 25
    /// How long files are read for one call. Excerpts that would take longer are left out.
    package static let patience = Duration.milliseconds(30)

    /// Cuts the excerpt out of a file.
    /// - Returns: `nil` if the file has no such line or is binary.
    package init?(of bytes: [UInt8], around line: Int) {
        guard (1...Self.maximumFile).contains(line), !bytes.contains(0) else { return nil }
        let wanted = max(1, line - Self.margin)...(line + Self.margin)
        var (number, start, lines) = (1, bytes.startIndex, [String]())
        while start < bytes.endIndex, number <= wanted.upperBound {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
            if wanted.contains(number) { lines.append(Self.shown(bytes[start..<end])) }
            (number, start) = (number + 1, end + 1)
        }
        guard number > line else { return nil }
        (first, self.lines) = (wanted.lowerBound, lines)
    }

    private static func shown(_ bytes: ArraySlice<UInt8>) -> String {
        var line = bytes
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        // This is enough bytes for the characters that remain.
        let text = String(decoding: line.prefix(maximumLine * 8), as: UTF8.self)
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isControl = scalar.properties.generalCategory == .control && scalar != "\t"
            scalars.append(isControl ? "\u{FFFD}" : scalar)
        }
        let shown = String(scalars)
        return shown.count > maximumLine ? shown.prefix(maximumLine) + "…" : shown
    }
}

extension IntegrationRunner {
    /// Returns the source at some places, from the mirror at the integration's commit. Places that the mirror does not have are left out.
    func excerpts(of record: IntegrationRecord, at places: [SourcePlace]) async -> [SourcePlace: SourceExcerpt] {
        let places = places.prefix(SourceExcerpt.maximumPlaces)
        guard !places.isEmpty, let reader = remotes.reader(of: record.repository) else { return [:] }
        let deadline = ContinuousClock.now + SourceExcerpt.patience
        var seen: Set<String> = []
        let files = await reader.files(
            places.map(\.path).filter { seen.insert($0).inserted }, at: record.commit,
            limit: SourceExcerpt.maximumFile
        ) { ContinuousClock.now > deadline }
        var excerpts: [SourcePlace: SourceExcerpt] = [:]
        for place in places {
            excerpts[place] = files[place.path].flatMap { SourceExcerpt(of: $0, around: place.line) }
        }
        return excerpts
    }
}
