// ReportsTests
