import Foundation
import TestSupport
import Testing

/// Finds the query parameters that routes read, in the sources of `Web`: those that a handler reads itself, and those that the functions read
/// to which it passes the request.
struct RouteSources {
    /// A function: its file and its text up to the next function.
    private struct Function {
        let file: String
        let text: String
        /// The types that its file declares, `Site` if it extends that, and the one that it is named after.
        var types: Set<String> = []
    }

    private var functions: [String: [Function]] = [:]
    /// The text of each route's handler by its operation, with its file.
    private var handlers: [String: Function] = [:]
    /// The names of properties' types by file, such as `logs` and `LogServer`.
    private var properties: [String: [String: String]] = [:]

    /// Reads the sources of `Web`.
    init() throws {
        let root = Project.root + "/Sources/Web"
        let files = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        var texts: [String: String] = [:]
        for file in files where file.hasSuffix(".swift") && !file.hasPrefix("OpenAPI/") {
            texts[file] = try String(contentsOfFile: root + "/" + file, encoding: .utf8)
        }
        self.init(texts: texts)
    }

    /// - Parameter texts: Sources by file.
    init(texts: [String: String]) {
        for (file, text) in texts {
            // Parts of `Site` are in the files of the routes that need them.
            let declared = text.matches(of: /(?:struct|class|enum|actor|extension(?= Site\b)) (\w+)/).map {
                String($0.1)
            }
            for part in text.pieces("func ").dropFirst() {
                let name = String(part.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
                functions[name, default: []].append(
                    Function(file: file, text: String(part), types: Set(declared + [Self.type(of: file)])))
            }
            for match in text.matches(of: /let (\w+) = ([A-Z]\w*)\(/) {
                properties[file, default: [:]][String(match.1)] = String(match.2)
            }
            for match in text.matches(of: /let (\w+): (\w+)/) {
                properties[file, default: [:]][String(match.1)] = String(match.2)
            }
            for part in text.pieces("Route(").dropFirst() {
                guard let match = part.firstMatch(of: /\.described\(\s*"(\w+)"/) else { continue }
                handlers[String(match.1)] = Function(file: file, text: String(part[..<match.range.lowerBound]))
            }
        }
    }

    /// Returns the type that a file is named after: `Site` for `Files/Site+products.swift`.
    private static func type(of file: String) -> String {
        String((file.split(separator: "/").last ?? "").prefix { $0 != "+" && $0 != "." })
    }

    /// - Throws: If no route has this operation.
    func parameters(of operation: String) throws -> Set<String> {
        var seen: Set<String> = []
        return read(by: try #require(handlers[operation], "\(operation)"), &seen)
    }

    private func read(by function: Function, _ seen: inout Set<String>) -> Set<String> {
        var found: Set<String> = []
        for match in function.text.matches(of: /(?:query|flag|number|ref|word)\((?:call, )?"(\w+)"/) {
            found.insert(String(match.1))
        }
        // `call.page()`, `limit(usual)` within it, `Self.word(call, …)`, `logs.send($0)`.
        var calls: [(receiver: String?, name: String)] = []
        for match in function.text.matches(of: /(?:(\w+)\.)?(\w+)\([^()]*(?:\bcall\b|\$0)/) {
            calls.append((match.1.map { String($0) }, String(match.2)))
        }
        for match in function.text.matches(of: /call\.(page|attempt|limit)\(/) {
            calls.append(("AuthorizedRequest", String(match.1)))
        }
        if function.text.contains(/\blimit\((?:usual|50)\)/) { calls.append((nil, "limit")) }
        for (receiver, name) in calls {
            let type = receiver.map { properties[function.file]?[$0] ?? $0 }
            let candidates = functions[name] ?? []
            // In the file that is named after the type, otherwise in one that declares or extends it.
            let named = candidates.filter { Self.type(of: $0.file) == type }
            let ofType = named.isEmpty ? candidates.filter { type.map($0.types.contains) ?? false } : named
            let chosen = ofType.isEmpty ? candidates.filter { $0.file == function.file } : ofType
            for next in chosen where seen.insert("\(next.file) \(name) \(next.text.prefix(60))").inserted {
                found.formUnion(read(by: next, &seen))
            }
        }
        return found
    }
}
