import Basics
import Foundation
import Model
import Storage

/// The places at which the sources let tests stop a process (`Failpoint`), by name.
struct SourceFailpoints {
    private(set) var names: Set<String> = []
    /// The calls whose names cannot be determined here.
    private(set) var unknown: [String] = []

    /// The names that are composed of a state machine's words.
    private static let words: [String: [String]] = [
        #""integration.\(record.state.step.rawValue)""#: IntegrationStep.allCases.map { "integration.\($0.rawValue)" },
        #""attempt.\(step?.rawValue ?? record.state.word)""#: JobStep.allCases.map { "attempt.\($0.rawValue)" }
            + [AttemptState.queued, .running(.building), .ended, .processed(.succeeded)].map { "attempt.\($0.word)" },
        #""trigger.\(record.state.rawValue)""#: TriggerState.allCases.map { "trigger.\($0.rawValue)" },
        #""outbox.\(state.rawValue)""#: OutboxMessage.State.allCases.map { "outbox.\($0.rawValue)" },
    ]

    /// - Throws: Errors of the file system.
    init(beneath root: String) throws {
        let files = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        for file in files.sorted() where file.hasSuffix(".swift") {
            let text = String(decoding: try WholeFile.read("\(root)/\(file)", limit: 4 << 20), as: UTF8.self)
            read(text, file: file)
        }
    }

    init(_ text: String, file: String) { read(text, file: file) }

    private mutating func read(_ text: String, file: String) {
        for call in text.matches(of: /(func )?(?:passes|Failpoint\.pass|clinux_failpoint)\(/) where call.1 == nil {
            let argument = Self.argument(in: text[call.range.upperBound...])
            let literals = argument.matches(of: /"([a-z]+\.[a-z-]+)"/).map { String($0.1) }
            if let known = Self.words[argument] {
                names.formUnion(known)
            } else if argument.hasPrefix("Self.name(of:") {
                names.formUnion(text.matches(of: /case \.\w+: "([a-z]+\.[a-z-]+)"/).map { String($0.1) })
            } else if !literals.isEmpty {
                names.formUnion(literals)
            } else if argument != "name" {
                // `name` is an argument whose values were recorded at its definition.
                unknown.append("\(file): \(argument)")
            }
        }
    }

    /// Returns a call's first argument.
    private static func argument(in text: Substring) -> String {
        var (depth, isQuoted) = (0, false)
        let argument = text.prefix { character in
            switch character {
            case "\"" where depth == 0: isQuoted.toggle()
            case "(": depth += 1
            case ")" where depth > 0: depth -= 1
            case ")", ",": return depth > 0 || isQuoted
            default: break
            }
            return true
        }
        return argument.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
