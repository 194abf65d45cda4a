/// What a step's console is searched for.
package struct StepSubject: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Messages from the script of a usual command to the service.
    package static let words = StepSubject(rawValue: 1)
    /// All lines; they are kept.
    package static let lines = StepSubject(rawValue: 2)
    /// The lines are the names of the tests, by which the consoles of later steps are read.
    package static let testList = StepSubject(rawValue: 32)
    /// Findings as linters print them.
    package static let analysis = StepSubject(rawValue: 4)
    /// Compilers' messages, and the files that they compiled.
    package static let build = StepSubject(rawValue: 8)
    /// Tests, crashes and the reports of sanitizers.
    package static let tests = StepSubject(rawValue: 16)
}
