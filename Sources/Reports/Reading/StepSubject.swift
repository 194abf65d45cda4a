/// The parts of a step's console that are read.
package struct StepSubject: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Messages from the script of a usual command to the service.
    package static let words = StepSubject(rawValue: 1)
    /// All lines, which are stored.
    package static let lines = StepSubject(rawValue: 2)
    /// The names of the tests, which help to read the consoles of later steps.
    package static let testList = StepSubject(rawValue: 32)
    /// Linters' findings.
    package static let analysis = StepSubject(rawValue: 4)
    /// Compilers' messages, and the names of compiled files.
    package static let build = StepSubject(rawValue: 8)
    /// Tests, crashes and the reports of sanitizers.
    package static let tests = StepSubject(rawValue: 16)
}
