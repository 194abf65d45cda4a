// SourceControlTests
