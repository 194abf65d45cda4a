// BasicsTests
