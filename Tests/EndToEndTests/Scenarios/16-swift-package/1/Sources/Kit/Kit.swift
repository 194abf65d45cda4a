public func add(_ left: Int, _ right: Int) -> Int { left + right }
