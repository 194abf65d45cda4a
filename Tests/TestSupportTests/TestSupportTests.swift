// TestSupportTests
