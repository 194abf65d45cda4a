package import Execution
import TestSupport

extension ReaderProgram {
    /// Returns the program that was built beside the tests.
    package static func built() throws -> ReaderProgram {
        ReaderProgram(path: try TestTools.builtProduct("martlet-reader"))
    }
}
