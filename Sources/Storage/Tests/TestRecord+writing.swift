import Model

/// The encoded tests of one attempt.
///
/// A record stands alone, or is encoded against a *profile*: the columns of an earlier attempt of the same configuration. The profile is stored
/// separately and belongs to no attempt. An unchanged list of tests then costs no space, and a duration costs only its difference. Reading a test
/// needs at most two records, even if earlier attempts were deleted. The format of version 1 is
/// ```
/// byte version · byte 1 if against a profile · number of tests
/// section head:     runs of the profile's indexes that are left out · runs of ids that are added
///                   runs of (outcome − the profile's, modulo 6; a byte) with their length, which together cover all tests
/// sections:         of 2048 tests each: for each test the duration's code less the profile's; so one test costs one block
/// section details:  paths (number, each with its size) · number of entries, each: indexes skipped since the last entry,
///                   the path's number from 1, line + 1, the message's bytes + 1, message; 0 means `nil`. Only details that
///                   differ from the profile's; no entry for tests that have a row of their own
/// ```
/// A section is its size, its stored size, and its bytes, compressed with zstd if that is smaller. Numbers are LEB128.
struct TestRecord {
    static let version: UInt8 = 1
    static let testsOfABlock = 2048
    /// The longest message and path of a test without a row of its own, in bytes. Tests for which a record has no room get a row as well.
    static let maximumDetailBytes = 256
    static let maximumDetailsBytes = 2 << 20

    /// The profile's columns; empty for a record that stands alone.
    let profile: TestColumns
    /// The runs of the profile's indexes that are left out, and of ids that are added.
    let removed: [Range<Int64>]
    let added: [Range<Int64>]
    /// The differences from the profile's outcomes, each with the number of consecutive tests that have it.
    let outcomes: [(difference: UInt8, count: Int)]
    let count: Int
    let blocks: [(size: Int, kept: ArraySlice<UInt8>)]
    let details: (size: Int, kept: ArraySlice<UInt8>)

    /// Returns the encoded record.
    /// - Parameters:
    ///   - own: The indexes of tests with a row of their own, which contains their details.
    static func bytes(
        of columns: TestColumns, against profile: TestColumns?, own: Set<Int>, _ zstd: Zstd
    ) throws -> [UInt8] {
        var writer = RecordWriter()
        writer.byte(version)
        writer.byte(profile == nil ? 0 : 1)
        writer.number(columns.ids.count)
        let base = profile ?? TestColumns()
        let (places, removed) = placesInProfile(columns, base)

        var head = RecordWriter()
        head.runs(removed)
        head.runs(zip(columns.ids, places).lazy.filter { $0.1 < 0 }.map(\.0))
        var runs: [(difference: UInt8, count: Int)] = []
        for (place, outcome) in columns.outcomes.enumerated() {
            let expected = places[place] < 0 ? 0 : base.outcomes[places[place]].code
            let difference = (outcome.code + TestResult.Outcome.codes - expected) % TestResult.Outcome.codes
            if runs.last?.difference == difference {
                runs[runs.count - 1].count += 1
            } else {
                runs.append((difference, 1))
            }
        }
        head.number(runs.count)
        for run in runs {
            head.byte(run.difference)
            head.number(run.count)
        }
        try writer.section(head.bytes, zstd)

        for start in stride(from: 0, to: columns.ids.count, by: testsOfABlock) {
            var block = RecordWriter()
            for place in start..<min(start + testsOfABlock, columns.ids.count) {
                let expected = places[place] < 0 ? 0 : Int(base.durations[places[place]].code)
                block.difference(Int(columns.durations[place].code) - expected)
            }
            try writer.section(block.bytes, zstd)
        }
        try writer.section(detailBytes(of: columns, places, base, own: own), zstd)
        return writer.bytes
    }

    /// Returns the index of each test in the profile, −1 for a test that is not there, and the profile's indexes that are left out.
    private static func placesInProfile(_ columns: TestColumns, _ profile: TestColumns) -> ([Int], [Int64]) {
        var places: [Int] = []
        var removed: [Int64] = []
        places.reserveCapacity(columns.ids.count)
        var next = 0
        for id in columns.ids {
            while next < profile.ids.count, profile.ids[next] < id {
                removed.append(Int64(next))
                next += 1
            }
            if next < profile.ids.count, profile.ids[next] == id {
                places.append(next)
                next += 1
            } else {
                places.append(-1)
            }
        }
        return (places, removed + (next..<profile.ids.count).map(Int64.init))
    }

    private static func detailBytes(
        of columns: TestColumns, _ places: [Int], _ profile: TestColumns, own: Set<Int>
    ) -> [UInt8] {
        var paths: [String: Int] = [:]
        var (names, entries) = (RecordWriter(), RecordWriter())
        var (last, number) = (-1, 0)
        guard !columns.details.isEmpty || !profile.details.isEmpty else { return [0, 0] }
        for place in columns.ids.indices where !own.contains(place) {
            let detail = columns.details[place]
            guard detail != (places[place] < 0 ? nil : profile.details[places[place]]) else { continue }
            entries.number(place - last - 1)
            var path = 0
            if let text = detail?.path {
                path = paths[text] ?? 0
                if path == 0 {
                    path = paths.count + 1
                    paths[text] = path
                    names.text(text)
                }
            }
            entries.number(path)
            entries.number(detail?.line.map { $0 + 1 } ?? 0)
            if let message = detail?.message {
                entries.number(message.utf8.count + 1)
                entries.raw(message)
            } else {
                entries.byte(0)
            }
            (last, number) = (place, number + 1)
        }
        var whole = RecordWriter()
        whole.number(paths.count)
        whole.append(names)
        whole.number(number)
        whole.append(entries)
        return whole.bytes
    }
}
