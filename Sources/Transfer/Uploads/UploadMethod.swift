/// The three steps of an upload, for one kind of target.
protocol UploadMethod: Sendable {
    /// Writes the file to a temporary part beside its target, and reads it back.
    /// - Returns: The part's URL, path or name; `nil` if the target already holds the same bytes.
    func stage(_ target: UploadTarget) async throws(TransferError) -> String?
    /// Moves the part to its final name. Never replaces a file that it can see: the target is checked directly before.
    func commit(_ target: UploadTarget, part: String) async throws(TransferError)
    /// Removes a part. Errors are ignored, because the upload has failed already.
    /// - Returns: Whether the server answered. If not, the caller does not ask for the next part.
    @discardableResult
    func discard(_ target: UploadTarget, part: String) async -> Bool
    /// Returns the parts that an upload of the same session may have left beside a target.
    func leftParts(_ target: UploadTarget) async -> [String]
}
