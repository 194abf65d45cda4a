extension StringProtocol where SubSequence == Substring {
    func trimmingPrefix(while isDropped: (Character) -> Bool) -> Substring { self[...].drop(while: isDropped) }

    func trimmingSuffix(while isDropped: (Character) -> Bool) -> Substring {
        var rest = self[...]
        while let last = rest.last, isDropped(last) { rest.removeLast() }
        return rest
    }
}
