import Basics
import CustomDump
import Foundation
package import Testing

/// Expects two texts to be equal, and names the first line that differs.
package func expectEqualLines(
    _ actual: String, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
) {
    guard actual != expected else { return }
    let left = actual.split(separator: "\n", omittingEmptySubsequences: false)
    let right = expected.split(separator: "\n", omittingEmptySubsequences: false)
    let index =
        zip(left, right).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? min(left.count, right.count)
    func line(_ lines: [Substring]) -> String { index < lines.count ? "\"\(lines[index])\"" : "the end" }
    Issue.record(
        "line \(index + 1) is \(line(left)), expected \(line(right)) (\(left.count) and \(right.count) lines)\n\(actual)",
        sourceLocation: sourceLocation)
}

/// Expects two values to be equal, and names the parts that differ.
///
/// CustomDump's function of this name is not used. Without the library that joins it to Swift Testing, it prints the difference and passes.
package func expectNoDifference<Value: Equatable>(
    _ actual: Value, _ expected: Value, _ comment: String = "", sourceLocation: SourceLocation = #_sourceLocation
) {
    guard actual != expected else { return }
    Issue.record(
        "\(comment)\n\(diff(actual, expected) ?? "\(actual) is not \(expected)")\n(- is, + expected)",
        sourceLocation: sourceLocation)
}

/// Expects a text to contain another one.
package func expectContains(_ text: String, _ part: String, sourceLocation: SourceLocation = #_sourceLocation) {
    if !text.contains(part) {
        Issue.record("\"\(part)\" is not in:\n\(text.prefix(4000))", sourceLocation: sourceLocation)
    }
}

/// Expects that nothing is at a path, not even a dangling link.
package func expectNoFile(_ path: String, sourceLocation: SourceLocation = #_sourceLocation) {
    // An error means that there is no file.
    if let kind = try? FileManager.default.attributesOfItem(atPath: path)[.type] {
        Issue.record("\(path) exists (\(kind)), expected nothing", sourceLocation: sourceLocation)
    }
}

/// Expects a regular file with exactly this text.
package func expectFile(_ path: String, _ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
    do {
        let bytes = try WholeFile.read(path, limit: 64 << 20)
        expectEqualLines(String(decoding: bytes, as: UTF8.self), text, sourceLocation: sourceLocation)
    } catch {
        Issue.record(error, "expected a file", sourceLocation: sourceLocation)
    }
}

/// Expects an operation to be refused with an error of a type, of which a property has a value.
///
///     await expectRejection(FileError.self, \.code, .notBeneath) { try directory.read("link", limit: 9) }
///
/// - Returns: The error, for further expectations.
@discardableResult
package func expectRejection<Failure: Error, Property: Equatable, Value>(
    _ type: Failure.Type, _ property: (Failure) -> Property, _ expected: Property,
    sourceLocation: SourceLocation = #_sourceLocation, _ work: () async throws -> Value
) async -> Failure? {
    do {
        let value = try await work()
        Issue.record("returned \(value), expected the refusal \(expected)", sourceLocation: sourceLocation)
    } catch let error as Failure {
        if property(error) == expected { return error }
        Issue.record(
            "refused with \(property(error)), expected \(expected): \(error)", sourceLocation: sourceLocation)
    } catch {
        Issue.record(error, "expected \(type): \(expected)", sourceLocation: sourceLocation)
    }
    return nil
}
