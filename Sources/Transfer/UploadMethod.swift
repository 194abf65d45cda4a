/// The three moves of an upload, for one kind of target.
protocol UploadMethod: Sendable {
    /// Writes the file beside its target and reads it back.
    /// - Returns: The part's URL, path or name; nothing when the target holds the very same bytes.
    func stage(_ target: UploadTarget) async throws(TransferError) -> String?
    /// Gives the part its name, never over something.
    func commit(_ target: UploadTarget, part: String) async throws(TransferError)
    /// Removes a part; what fails is left, since an error is under way already.
    func discard(_ target: UploadTarget, part: String) async
    /// The parts that an upload of the same session may have left beside a target.
    func leftParts(_ target: UploadTarget) async -> [String]
}
