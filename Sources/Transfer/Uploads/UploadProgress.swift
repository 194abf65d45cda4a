/// The progress of an upload.
package struct UploadProgress: Sendable, Hashable {
    /// The current step.
    package enum Phase: String, Sendable, CaseIterable {
        /// Reading the content of the target, if it exists.
        case looking
        case sending
        case readingBack = "reading back"
        /// Waiting after an interruption; see `interruption`.
        case waiting
        /// Moving the file to its name.
        case moving
    }

    package var phase: Phase
    package var file: String
    /// The number of the file among all files, counted from 1.
    package var number: Int
    /// The number of files.
    package var count: Int
    /// The number of the file's bytes that were sent. After an interruption it includes the bytes that the server
    /// already had.
    package var bytes: Int64
    /// The file's size in bytes.
    package var size: Int64
    /// The number of the try for this file, counted from 1.
    package var attempt: Int
    /// Why the previous try ended or, while waiting, why this one did.
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

/// A reporter of the progress of one file.
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

    /// Returns a function that reports the phase `sending` with the number of bytes sent; `nil` if progress is not
    /// reported.
    /// - Parameter base: The number of bytes that were there before.
    func sending(after base: Int64, _ tries: UploadTries) -> (@Sendable (Int64) -> Void)? {
        guard tell != nil else { return nil }
        return { bytes in say(.sending, bytes: base + bytes, tries) }
    }
}
