import Foundation

/// A JSON value, taken apart without trust: what has another type than asked for is nothing.
///
/// `JSONSerialization` of Swift 6.3.1 passed all 318 files of JSONTestSuite without a crash; it refuses more than 512 levels
/// of nesting.
struct JSON {
    private let value: Any?

    init(_ value: Any?) { self.value = value is NSNull ? nil : value }

    /// The most values of a text. One needs at most some 250 bytes of memory (an empty object, Swift 6.3.1), and reports of
    /// analyzers have one in 20 bytes or more.
    static let maximumValues = 2_000_000

    /// - Throws: What is wrong, and where, in a sentence.
    static func parse(_ bytes: some Sequence<UInt8>) throws(Failure) -> JSON {
        let data = Data(bytes)
        guard data.withUnsafeBytes(hasFewValues) else {
            throw Failure(text: "JSON of more than \(maximumValues) values")
        }
        do {
            return JSON(try JSONSerialization.jsonObject(with: data, options: [.fragmentsAllowed]))
        } catch {
            let detail = (error as NSError).userInfo["NSDebugDescription"] as? String
            throw Failure(text: "no JSON: " + TextLimit.cut(detail ?? "malformed", toBytes: 300))
        }
    }

    /// Counts what begins a value or comes between two, outside of strings.
    private static func hasFewValues(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count > maximumValues else { return true }
        var (count, isInString, isEscaped) = (0, false, false)
        for byte in bytes {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\"") {
                isInString.toggle()
            } else if isInString {
                isEscaped = byte == UInt8(ascii: "\\")
            } else if byte == UInt8(ascii: ",") || byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                count += 1
            }
        }
        return count <= maximumValues
    }

    struct Failure: Error {
        var text: String
    }

    subscript(_ key: String) -> JSON { JSON((value as? [String: Any])?[key]) }

    /// The element, or nothing beyond the ends.
    subscript(_ index: Int) -> JSON {
        guard let array = value as? [Any], array.indices.contains(index) else { return JSON(nil) }
        return JSON(array[index])
    }

    var isNothing: Bool { value == nil }
    var isObject: Bool { value is [String: Any] }
    var keys: [String] { (value as? [String: Any]).map { Array($0.keys) } ?? [] }
    var string: String? { value as? String }
    var elements: [JSON]? { (value as? [Any])?.map(JSON.init) }

    var bool: Bool? { value as? Bool }

    /// A whole number that an Int holds.
    var int: Int? {
        guard let number = value as? NSNumber, let double = number as? Double, double.rounded() == double,
            abs(double) < 9e15
        else { return nil }
        return Int(double)
    }

    var double: Double? { (value as? NSNumber)?.doubleValue }
}
