import Kit

/// `1994` becomes `MCMXCIV`, and `XLII` becomes `42`.
func translation(of argument: String) -> String? {
    if let number = Int(argument) {
        return RomanNumeral(number)?.description
    }
    return RomanNumeral(argument).map { String($0.value) }
}

let arguments = CommandLine.arguments.dropFirst()
if arguments.isEmpty {
    print("usage: kit-tool NUMBER…, such as: kit-tool 1994 XLII")
}
for argument in arguments {
    print("\(argument) = \(translation(of: argument) ?? "neither a number nor a numeral")")
}
