// JobProtocol
