// JobProtocolTests
