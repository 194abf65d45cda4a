import Model
import Testing

@testable import Reports

@Suite struct BaselineTests {}
