import Model

extension TestRecord {
    /// Reads which tests ran and their outcomes. Durations and details are read only on demand.
    /// - Parameter profile: The profile against which the record was encoded. It is ignored for a record without a profile.
    /// - Throws: `RecordReader.Damaged` for bytes that `bytes(of:against:own:_:)` never writes for this profile.
    init(_ bytes: [UInt8], profile: TestColumns?, _ zstd: Zstd) throws {
        var reader = RecordReader(bytes[...])
        guard try reader.byte() == Self.version else { throw RecordReader.Damaged() }
        switch try reader.byte() {
        case 0: self.profile = TestColumns()
        case 1:
            guard let profile else { throw RecordReader.Damaged() }
            self.profile = profile
        default: throw RecordReader.Damaged()
        }
        count = try reader.count(limit: AttemptResults.maximumRows)
        var head = RecordReader(try RecordReader.expanded(try reader.section(), zstd))
        removed = try head.runs(limit: self.profile.ids.count)
        added = try head.runs(limit: count)
        let kept = self.profile.ids.count - removed.reduce(0) { $0 + $1.count }
        guard kept + added.reduce(0, { $0 + $1.count }) == count,
            removed.last?.upperBound ?? 0 <= self.profile.ids.count
        else { throw RecordReader.Damaged() }
        var outcomes: [(UInt8, Int)] = []
        var total = 0
        for _ in 0..<(try head.count(limit: count)) {
            let difference = try head.byte()
            let length = try head.count(limit: count - total)
            guard difference < TestResult.Outcome.codes else { throw RecordReader.Damaged() }
            outcomes.append((difference, length))
            total += length
        }
        guard total == count, head.isAtEnd else { throw RecordReader.Damaged() }
        self.outcomes = outcomes
        var blocks: [(Int, ArraySlice<UInt8>)] = []
        for _ in 0..<(count + Self.testsOfABlock - 1) / Self.testsOfABlock { blocks.append(try reader.section()) }
        self.blocks = blocks
        details = try reader.section()
        guard reader.isAtEnd else { throw RecordReader.Damaged() }
    }

    /// Returns all tests.
    /// - Parameters:
    ///   - durations: Whether durations are read; if not, no test has one.
    ///   - details: Whether details are read; if not, no test has any.
    func columns(durations wantsDurations: Bool, details wantsDetails: Bool, _ zstd: Zstd) throws -> TestColumns {
        var columns = TestColumns()
        let places = try fill(&columns)
        columns.outcomes.reserveCapacity(count)
        var place = 0
        for run in outcomes {
            for _ in 0..<run.count {
                columns.outcomes.append(try outcome(run.difference, profilePlace: places[place]))
                place += 1
            }
        }
        columns.durations = Array(repeating: DurationCode(nil), count: count)
        if wantsDurations {
            place = 0
            for block in blocks {
                var reader = RecordReader(try RecordReader.expanded(block, zstd))
                for _ in 0..<min(Self.testsOfABlock, count - place) {
                    columns.durations[place] = try duration(&reader, profilePlace: places[place])
                    place += 1
                }
            }
        }
        if wantsDetails { columns.details = try readDetails(places, zstd) }
        return columns
    }

    /// Returns whether a test ran. It reads only the record's head.
    func holds(_ id: Int64) -> Bool {
        if let found = profile.place(of: id), !removed.contains(where: { $0.contains(Int64(found)) }) { return true }
        return added.contains { $0.contains(id) }
    }

    /// Returns the index of a test in this record and in the profile (−1 if it is not there); `nil` if it was not run.
    private func place(of id: Int64) throws -> (own: Int, profile: Int)? {
        var found: (own: Int, profile: Int)
        if let old = profile.place(of: id), !removed.contains(where: { $0.contains(Int64(old)) }) {
            found = (old - removed.count(below: Int64(old)) + added.count(below: id), old)
        } else if added.contains(where: { $0.contains(id) }) {
            let before = profile.countOfIDs(below: id)
            found = (before - removed.count(below: Int64(before)) + added.count(below: id), -1)
        } else {
            return nil
        }
        guard found.own < count else { throw RecordReader.Damaged() }
        return found
    }

    /// Returns the details of a test without a row of its own; `nil` if it has none. It reads only the details that differ from the profile's.
    func detail(_ id: Int64, _ zstd: Zstd) throws -> TestColumns.Detail? {
        guard let place = try place(of: id) else { return nil }
        var found = place.profile < 0 ? nil : profile.details[place.profile]
        try readChanges(zstd) { changed, detail in
            if changed == place.own { found = detail }
        }
        return found
    }

    /// Returns one test; `nil` if it was not run. It expands only one block.
    func test(_ id: Int64, _ zstd: Zstd) throws -> (outcome: TestResult.Outcome, duration: DurationCode)? {
        guard let (place, profilePlace) = try place(of: id) else { return nil }
        var end = 0
        guard
            let run = outcomes.first(where: { run in
                end += run.count
                return place < end
            })
        else { throw RecordReader.Damaged() }
        var reader = RecordReader(try RecordReader.expanded(blocks[place / Self.testsOfABlock], zstd))
        for _ in 0..<place % Self.testsOfABlock { _ = try reader.difference() }
        return (
            try outcome(run.difference, profilePlace: profilePlace),
            try duration(&reader, profilePlace: profilePlace)
        )
    }

    private func outcome(_ difference: UInt8, profilePlace: Int) throws -> TestResult.Outcome {
        let expected = profilePlace < 0 ? 0 : profile.outcomes[profilePlace].code
        guard let outcome = TestResult.Outcome(code: (expected + difference) % TestResult.Outcome.codes) else {
            throw RecordReader.Damaged()
        }
        return outcome
    }

    private func duration(_ reader: inout RecordReader, profilePlace: Int) throws -> DurationCode {
        let expected = profilePlace < 0 ? 0 : Int(profile.durations[profilePlace].code)
        let (sum, isTooLarge) = expected.addingReportingOverflow(try reader.difference())
        guard !isTooLarge, let code = DurationCode(code: sum) else { throw RecordReader.Damaged() }
        return code
    }

    /// Fills in the ids.
    /// - Returns: The index of each test in the profile; −1 for a test that is not there.
    private func fill(_ columns: inout TestColumns) throws -> [Int] {
        if removed.isEmpty, added.isEmpty {
            columns.ids = profile.ids
            return Array(profile.ids.indices)
        }
        var places: [Int] = []
        places.reserveCapacity(count)
        columns.ids.reserveCapacity(count)
        var new = added.lazy.joined().makeIterator()
        var next = new.next()
        var gone = removed[...]
        for (place, id) in profile.ids.enumerated() {
            if let range = gone.first, range.contains(Int64(place)) {
                if Int64(place) + 1 == range.upperBound { gone = gone.dropFirst() }
                continue
            }
            while let value = next, value < id {
                columns.ids.append(value)
                places.append(-1)
                next = new.next()
            }
            columns.ids.append(id)
            places.append(place)
        }
        while let value = next {
            columns.ids.append(value)
            places.append(-1)
            next = new.next()
        }
        // An added test that is also in the profile would occur twice.
        for place in columns.ids.indices.dropFirst() where columns.ids[place - 1] >= columns.ids[place] {
            throw RecordReader.Damaged()
        }
        return places
    }

    private func readDetails(_ places: [Int], _ zstd: Zstd) throws -> [Int: TestColumns.Detail] {
        var found: [Int: TestColumns.Detail] = [:]
        if !profile.details.isEmpty {
            for (place, old) in places.enumerated() where old >= 0 { found[place] = profile.details[old] }
        }
        try readChanges(zstd) { place, detail in found[place] = detail }
        return found
    }

    /// Calls `body` for the details that differ from the profile's, with `nil` for details that are gone.
    private func readChanges(_ zstd: Zstd, _ body: (_ place: Int, _ detail: TestColumns.Detail?) -> Void) throws {
        var reader = RecordReader(try RecordReader.expanded(details, zstd))
        var paths: [String] = []
        for _ in 0..<(try reader.count(limit: count)) { paths.append(try reader.text()) }
        var place = -1
        for _ in 0..<(try reader.count(limit: count)) {
            place += try reader.count(limit: count) + 1
            guard place < count else { throw RecordReader.Damaged() }
            let path = try reader.count(limit: paths.count)
            let line = try reader.number(limit: UInt64(Int32.max))
            let message = try reader.optionalText()
            let detail = TestColumns.Detail(
                message: message, path: path == 0 ? nil : paths[path - 1], line: line == 0 ? nil : Int(line) - 1)
            body(place, detail.isEmpty ? nil : detail)
        }
        guard reader.isAtEnd else { throw RecordReader.Damaged() }
    }
}

extension [Range<Int64>] {
    /// Returns how many of the numbers in these runs are smaller than `limit`.
    fileprivate func count(below limit: Int64) -> Int {
        reduce(0) { $0 + Int(Swift.max(0, Swift.min($1.upperBound, limit) - $1.lowerBound)) }
    }
}
