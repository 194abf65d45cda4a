import Encodings

/// A reader of webhooks' bodies, with their limits.
enum ForgeJSONReader {
    /// The most levels of arrays and objects; GitHub's deepest body has 9.
    static let maximumDepth = 256
    /// The longest text that counts, in bytes before unescaping.
    static let maximumStringBytes = 4096
    /// The most values, each of which takes 16 bytes while the body is read. A push of the maximum number of refs has about 12 values for each ref.
    static let maximumValues = 2_000_000

    /// Reads a JSON text.
    /// - Throws: `.invalid` with the line if it is no JSON; `.tooLarge` if it has more than `maximumValues` values.
    static func read(_ bytes: [UInt8]) throws(ForgeError) -> ForgeJSON {
        do throws(JSON.Failure) {
            return .value(try JSON.parse(bytes, values: maximumValues, depth: maximumDepth))
        } catch {
            throw ForgeError(error.code == .tooManyValues ? .tooLarge : .invalid, "the body is \(error.text)")
        }
    }
}
