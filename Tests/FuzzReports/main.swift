import Foundation

// FuzzReports table DIRECTORY…: prints the result of reading each report file in the directories.
// FuzzReports fuzz COUNT DIRECTORY…: runs each reader with COUNT mutated inputs, made from the files in the directories.
// FuzzReports grow: measures inputs that are made to be slow, and inputs of twice the length.
let arguments = CommandLine.arguments.dropFirst()
switch arguments.first {
case "table": FileTable.print(Array(arguments.dropFirst()))
case "fuzz":
    guard arguments.count > 2, let count = Int(arguments[arguments.startIndex + 1]) else { fallthrough }
    exit(Fuzzing.run(count: count, directories: Array(arguments.dropFirst(2))) ? 0 : 1)
case "grow": exit(Growth.run() ? 0 : 1)
default:
    print("usage: FuzzReports table DIRECTORY… | fuzz COUNT DIRECTORY… | grow")
    exit(64)
}
