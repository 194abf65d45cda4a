import Model

/// The texts for a test process that crashed while several tests were running.
enum CrashedProcess {
    /// The name of the test that stands for the crash if no output names the crashed test.
    static let testName = "(process)"
    /// The message of the other running tests.
    static let notRun = "did not run to its end: the test process ended before it"
    /// The message of tests that had not started.
    static let neverBegun = "did not run: the test process ended before it began"
    /// The most names that are listed.
    private static let maximumNames = 20

    /// Returns the message with the crash and the tests that were running.
    static func message(_ crash: String, running names: [String]) -> String {
        let more = names.count > maximumNames ? ", and \(names.count - maximumNames) others" : ""
        let list = names.prefix(maximumNames).map { TextLimit.cut($0, toBytes: 200) }.joined(separator: ", ")
        let text = "\(names.count.counting("test")) were running when their process ended: \(list)\(more)"
        return crash.isEmpty ? text : TextLimit.cut(crash + "\n" + text, toBytes: 8192)
    }
}
