/// A run of a trigger.
package struct TriggerRun: Codable, Hashable, Sendable {
    /// The trigger's name.
    package var name: String
    /// The attempt's number, counted from 1.
    package var attempt: Int
    /// The integration's run that the attempt belongs to, counted from 1.
    package var run: Int
    /// `before` or `after` the jobs.
    package var phase: String
    /// `running`, `succeeded`, `failed` or `skipped`.
    package var state: String
    /// The result in words; `nil` if the state explains itself.
    package var reason: String?
    /// When it was started.
    package var started: Time
    /// When it ended; `nil` until then.
    package var ended: Time?
    /// How long it took, in seconds; `nil` until it ended.
    package var duration: Double?
    /// The progress of an upload; `nil` unless one is running.
    package var upload: Upload?

    /// The progress of an upload.
    package struct Upload: Codable, Hashable, Sendable {
        /// `looking`, `sending`, `reading back`, `waiting` or `moving`.
        package var phase: String
        /// The file.
        package var file: String
        /// The number of the file among all files, counted from 1.
        package var number: Int
        /// The number of files.
        package var count: Int
        /// The number of the file's bytes that were sent.
        package var bytes: Int64
        /// The file's size in bytes.
        package var size: Int64
        /// The number of the try for this file, counted from 1.
        package var attempt: Int
        /// Why the previous try ended; `nil` if there was none.
        package var interruption: String?
        /// The progress in words.
        package var text: String

        /// Creates a value from all its properties.
        package init(
            phase: String, file: String, number: Int, count: Int, bytes: Int64, size: Int64, attempt: Int,
            interruption: String?, text: String
        ) {
            self.phase = phase
            self.file = file
            self.number = number
            self.count = count
            self.bytes = bytes
            self.size = size
            self.attempt = attempt
            self.interruption = interruption
            self.text = text
        }
    }

    /// Creates a value from all its properties.
    package init(
        name: String, attempt: Int, run: Int, phase: String, state: String, reason: String?, started: Time,
        ended: Time?, duration: Double?, upload: Upload?
    ) {
        self.name = name
        self.attempt = attempt
        self.run = run
        self.phase = phase
        self.state = state
        self.reason = reason
        self.started = started
        self.ended = ended
        self.duration = duration
        self.upload = upload
    }
}
