import Model

/// The tests of one attempt in some bytes.
///
/// A record stands alone, or is written against a *profile*: the columns of an earlier attempt of the same configuration,
/// which is kept apart and belongs to no attempt. So a list that did not change costs nothing, a duration costs what it
/// differs, and nothing needs more than two records to be read, whatever was deleted between. Version 1 is
/// ```
/// byte version · byte 1 if against a profile · number of tests
/// section head:     runs of the profile's places that are left out · runs of ids that are added
///                   runs of (outcome − the profile's, modulo 6; a byte) with their length, which make up all tests
/// sections:         of 2048 tests each: the duration's code less the profile's, a test; so one test costs one block
/// section details:  paths (number, each with its size) · number of entries, each: places skipped since the one before,
///                   the path's number from 1, line + 1, the message's bytes + 1, message; 0 is none of it. Only what
///                   differs from the profile's; nothing at all for tests that have a row of their own
/// ```
/// A section is its size, its size as kept, and its bytes, compressed with zstd where that is smaller. Numbers are LEB128.
struct TestRecord {
    static let version: UInt8 = 1
    static let testsOfABlock = 2048
    /// A test with a longer message and path gets a row of its own, and so do those for which a record has no room. In bytes.
    static let maximumDetailBytes = 256
    static let maximumDetailsBytes = 2 << 20

    /// The profile's columns; empty for a record that stands alone.
    let profile: TestColumns
    /// Runs of the profile's places that are left out, and of ids that are added.
    let removed: [Range<Int64>]
    let added: [Range<Int64>]
    /// Differences from the profile's outcomes, with how many tests in a row have them.
    let outcomes: [(difference: UInt8, count: Int)]
    let count: Int
    let blocks: [(size: Int, kept: ArraySlice<UInt8>)]
    let details: (size: Int, kept: ArraySlice<UInt8>)

    /// - Parameters:
    ///   - own: Places of tests with a row of their own, whose details stand there.
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

    /// Where each test stands in the profile, −1 for one that does not; and the profile's places that are left out.
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
