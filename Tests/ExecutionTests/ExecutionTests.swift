// ExecutionTests
