/// How far an upload is.
package struct UploadProgress: Sendable, Hashable {
    /// What is done with the file.
    package enum Phase: String, Sendable, CaseIterable {
        /// Reading what the target holds, if anything.
        case looking
        case sending
        case readingBack = "reading back"
        /// After something broke; `interruption` says what.
        case waiting
        /// Giving it its name.
        case moving
    }

    package var phase: Phase
    package var file: String
    /// Which of the files, from 1 on.
    package var number: Int
    /// How many files there are.
    package var count: Int
    /// Of the file, handed over so far; when it goes on where it broke off, with what was there before.
    package var bytes: Int64
    /// The file's.
    package var size: Int64
    /// Which try at the file, from 1 on.
    package var attempt: Int
    /// Why the try before ended, or, while waiting, this one.
    package var interruption: String?

    package init(
        phase: Phase, file: String, number: Int, count: Int, bytes: Int64, size: Int64, attempt: Int,
        interruption: String? = nil
    ) {
        self.phase = phase
        self.file = file
        self.number = number
        self.count = count
        self.bytes = bytes
        self.size = size
        self.attempt = attempt
        self.interruption = interruption
    }
}

/// Tells how far one file is.
struct UploadCourse: Sendable {
    let file: String
    let size: Int64
    let number: Int
    let count: Int
    let tell: (@Sendable (UploadProgress) -> Void)?

    func say(_ phase: UploadProgress.Phase, bytes: Int64 = 0, _ tries: UploadTries) {
        tell?(
            UploadProgress(
                phase: phase, file: file, number: number, count: count, bytes: bytes, size: size,
                attempt: tries.attempt, interruption: tries.interruption))
    }

    /// Says `sending` as bytes go out.
    /// - Parameter base: What is there before.
    func sending(after base: Int64, _ tries: UploadTries) -> (@Sendable (Int64) -> Void)? {
        guard tell != nil else { return nil }
        return { bytes in say(.sending, bytes: base + bytes, tries) }
    }
}
