import Execution
import JobProtocol
