// ModelTests
