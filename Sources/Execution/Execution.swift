// Execution
