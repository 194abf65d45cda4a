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
            for part in text.pieces("func ").dropFirst() {
                let name = String(part.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
                functions[name, default: []].append(Function(file: file, text: String(part)))
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
        let calls =
            function.text.matches(of: /(?:(\w+)\.)?(\w+)\((?:of: )?(?:call|\$0)\b/).map {
                ($0.1.map(String.init), String($0.2))
            }
            + function.text.matches(of: /call\.(page|attempt|limit)\(/).map { (nil, String($0.1)) }
            + function.text.matches(of: /\blimit\((?:usual|50)\)/).map { _ in (nil, "limit") }
        for (receiver, name) in calls {
            let type = receiver.map { properties[function.file]?[$0] ?? $0 }
            let candidates = functions[name] ?? []
            let chosen =
                candidates.filter { candidate in type.map { candidate.file.hasSuffix("\($0).swift") } ?? false }
            let own = chosen.isEmpty ? candidates.filter { $0.file == function.file } : chosen
            let all = own.isEmpty && ["page", "attempt", "limit"].contains(name) ? candidates : own
            for next in all where seen.insert("\(next.file) \(name) \(next.text.prefix(60))").inserted {
                found.formUnion(read(by: next, &seen))
            }
        }
        return found
    }
}
