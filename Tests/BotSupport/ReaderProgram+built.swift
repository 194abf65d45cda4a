package import Execution
import TestSupport

extension ReaderProgram {
    /// The one that lies beside the tests.
    package static func built() throws -> ReaderProgram {
        ReaderProgram(path: try TestTools.builtProduct("martlet-reader"))
    }
}
