/// The three moves of an upload, for one kind of target.
protocol UploadMethod: Sendable {
    /// Writes the file beside its target and reads it back.
    /// - Returns: The part's URL, path or name; nothing when the target holds the very same bytes.
    func stage(_ target: UploadTarget) async throws(TransferError) -> String?
    /// Gives the part its name, and never over something that it can see: it looks right before.
    func commit(_ target: UploadTarget, part: String) async throws(TransferError)
    /// Removes a part; what fails is left, since an error is under way already.
    /// - Returns: Whether the server answered; where not, it is not asked for the next one.
    @discardableResult
    func discard(_ target: UploadTarget, part: String) async -> Bool
    /// The parts that an upload of the same session may have left beside a target.
    func leftParts(_ target: UploadTarget) async -> [String]
}
