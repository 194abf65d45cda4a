import Processes

extension Console {
    /// The supervisor's standard output and standard error.
    static let own = Console(program: "martlet-supervisor")
}
