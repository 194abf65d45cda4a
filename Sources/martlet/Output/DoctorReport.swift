import API
import Foundation
import Model

/// The findings of `martlet doctor`. Each is printed when it is known, unless all are printed as JSON at the end.
struct DoctorReport {
    /// Where lines are printed; `nil` for JSON.
    private let terminal: Terminal?
    private var findings: [API.Diagnosis.Finding] = []

    init(terminal: Terminal?) { self.terminal = terminal }

    /// The number of problems.
    var problems: Int { findings.count { $0.state == "problem" } }

    /// Adds what works.
    mutating func fine(_ subject: String, _ text: String) { add("ok", subject, text, nil) }

    /// Adds a fact that is no problem: a setting that works, or one that does not apply yet.
    mutating func note(_ subject: String, _ text: String, remedy: String? = nil) { add("note", subject, text, remedy) }

    /// Adds a problem, with what to do about it.
    mutating func problem(_ subject: String, _ text: String, remedy: String) { add("problem", subject, text, remedy) }

    private mutating func add(_ state: String, _ subject: String, _ text: String, _ remedy: String?) {
        findings.append(.init(subject: subject, state: state, text: text, remedy: remedy))
        guard let terminal else { return }
        let mark = ["ok": "ok", "problem": "!!"][state] ?? "--"
        Output.print(
            terminal.table([[.result(mark), Cell(subject), Cell(text + (remedy.map { "; \($0)" } ?? ""))]]))
    }

    /// Prints the JSON, and reports whether there are problems.
    /// - Throws: `Failure` with the number of problems.
    func finish() throws {
        if terminal == nil {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            let json = try encoder.encode(API.Diagnosis(findings: findings, problems: problems))
            Output.print(Array(json) + [0x0A])
        }
        guard problems > 0 else { return }
        throw Failure(
            .no,
            problems.counting("problem")
                + (terminal == nil ? "; each has a remedy" : "; each line with !! says what to do"))
    }
}
