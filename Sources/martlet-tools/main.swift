import Glibc
import Processes

// A job's own helpers: the commands of steps that Martlet plans for a Swift package. They run with the rights of the job, in its sandbox and below
// its root, and know no secret. Exit statuses are those of sysexits.h.

extension Console {
    /// The tools' standard output and standard error.
    static let own = Console(program: "martlet-tools")
}

let arguments = Array(CommandLine.arguments.dropFirst())
let usage = """
    usage: martlet-tools --archive-products OUTPUT --scratch-path DIR --configuration debug|release
                         [--toolchain DIR] [-- FLAG…]
           martlet-tools --analyze-c OUTPUT --configuration debug|release

    --archive-products builds the Swift package in the current directory and assembles its products in OUTPUT/products.
    --analyze-c runs clang --analyze on the sources of its C targets and leaves one SARIF file for each in OUTPUT.

    """

switch arguments.first {
case "--archive-products":
    guard let order = ProductOrder(arguments: arguments) else {
        Console.own.complain(usage)
        exit(EX_USAGE)
    }
    exit(ProductAssembler(order: order).run())
case "--analyze-c":
    guard arguments.count == 4, arguments[2] == "--configuration", ["debug", "release"].contains(arguments[3]) else {
        Console.own.complain(usage)
        exit(EX_USAGE)
    }
    exit(CAnalyzer(output: arguments[1], configuration: arguments[3]).run())
case "--help", "-h":
    Console.own.say(usage)
    exit(0)
default:
    Console.own.complain(usage)
    exit(EX_USAGE)
}
