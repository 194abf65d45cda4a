import Foundation

// FuzzReports table DIRECTORY…: what each report file beneath is read as.
// FuzzReports fuzz COUNT DIRECTORY…: so many mutated inputs for each reader, made of the files beneath.
// FuzzReports grow: what inputs made to be slow cost, and twice as long ones.
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
