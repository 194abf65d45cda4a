package import Execution
import TestSupport

extension ReaderProgram {
    /// The program beside the tests.
    package static func built() throws -> ReaderProgram {
        ReaderProgram(path: try TestTools.builtProduct("martlet-reader"))
    }
}
