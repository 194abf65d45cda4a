import Testing

@testable import Reports

@Suite struct SignalNameTests {
    /// signal(7), "Signal numbering for standard signals", x86 and ARM.
    @Test(arguments: [
        (1, "signal 1 (SIGHUP)"), (7, "signal 7 (SIGBUS)"), (10, "signal 10 (SIGUSR1)"), (12, "signal 12 (SIGUSR2)"),
        (14, "signal 14 (SIGALRM)"), (16, "signal 16 (SIGSTKFLT)"), (25, "signal 25 (SIGXFSZ)"),
        (26, "signal 26 (SIGVTALRM)"), (31, "signal 31 (SIGSYS)"), (32, "signal 32"), (0, "signal 0"),
        (-1, "signal -1"),
    ]) func testThatItIsNamedAsInTheManual(number: Int, text: String) {
        #expect(SignalName.text(number) == text)
    }
}
