import Model

/// What is said where one process of tests crashed while several of them were running.
enum CrashedProcess {
    /// The name of the one test that has crashed where nothing says which it was.
    static let testName = "(process)"
    /// Of the others.
    static let notRun = "did not run to its end: the test process ended before it"
    /// Of those that it had not begun.
    static let neverBegun = "did not run: the test process ended before it began"
    /// How many names are told.
    private static let maximumNames = 20

    /// The crash, and which tests were running then.
    static func message(_ crash: String, running names: [String]) -> String {
        let more = names.count > maximumNames ? ", and \(names.count - maximumNames) others" : ""
        let list = names.prefix(maximumNames).map { TextLimit.cut($0, toBytes: 200) }.joined(separator: ", ")
        let text = "\(names.count.counting("test")) were running when their process ended: \(list)\(more)"
        return crash.isEmpty ? text : TextLimit.cut(crash + "\n" + text, toBytes: 8192)
    }
}
