import Glibc

// The roles of one small static program: the launcher, the supervisor of one attempt, the first process in a sandbox, and two commands that run in a
// Swift package's job. These are the analyzer of C sources and the archiver of products. Exit statuses are those of sysexits.h.

let arguments = Array(CommandLine.arguments.dropFirst())
let usage = """
    usage: martlet-supervisor --listen SOCKET [--detach [--idle-limit SECONDS] | --attached]
           martlet-supervisor --archive-products OUTPUT --scratch-path DIR --configuration debug|release
                              [--toolchain DIR] [-- FLAG…]
           martlet-supervisor --analyze-c OUTPUT --configuration debug|release
           martlet-supervisor --probe-fence

    --listen starts one supervisor for each attempt that the daemon asks for. With LISTEN_FDS (systemd) the socket is the
    one that is passed; --detach returns once it listens, and the launcher ends by itself 300 s, or SECONDS, after its last job
    and the last process that asked for one, or where its directory is gone; --attached says "listening", ends with its standard input, and
    kills what it started. --archive-products builds the Swift package in the current directory and assembles its
    products in OUTPUT/products. --analyze-c runs clang --analyze on the sources of its C targets and leaves one SARIF file
    for each in OUTPUT. --probe-fence makes a sandbox and says, in JSON, whether that works here, why not, and what holds
    limits; it exits with 0 when it works, with 1 when not.

    """

func argument(after option: String) -> String? {
    guard let index = arguments.firstIndex(of: option), index + 1 < arguments.count else { return nil }
    return arguments[index + 1]
}

switch arguments.first {
case "--listen":
    guard let socket = argument(after: "--listen"), socket.hasPrefix("/") else {
        Console.complain("--listen needs the absolute path of a socket")
        exit(EX_USAGE)
    }
    let lifetime: Launcher.Lifetime =
        arguments.contains("--detach") ? .detached : arguments.contains("--attached") ? .attached : .own
    var launcher = Launcher(socket: socket, lifetime: lifetime)
    if let seconds = argument(after: "--idle-limit") {
        guard let seconds = Int64(seconds), (0...86_400).contains(seconds) else {
            Console.complain("--idle-limit needs a number of seconds, at most 86400")
            exit(EX_USAGE)
        }
        launcher.idleLimit = seconds * 1000
    }
    exit(launcher.run())
case "--attempt":
    guard let attempt = argument(after: "--attempt") else { exit(EX_USAGE) }
    exit(Supervisor.run(attempt: attempt))
case "--wait":
    // Blocks in poll(2): a process of its own with one thread and no tasks. The launcher awaits its end, and its own ends this one.
    exit(Supervisor.wait())
case "--within-fence":
    exit(SandboxedStep().run())
case "--probe-fence":
    exit(SandboxProbe().run())
case "--archive-products":
    guard let order = ProductOrder(arguments: arguments) else {
        Console.complain(usage)
        exit(EX_USAGE)
    }
    exit(ProductArchiver(order: order).run())
case "--analyze-c":
    guard let output = argument(after: "--analyze-c"), let configuration = argument(after: "--configuration"),
        arguments.count == 4, ["debug", "release"].contains(configuration)
    else {
        Console.complain(usage)
        exit(EX_USAGE)
    }
    exit(CAnalyzer(output: output, configuration: configuration).run())
case "--help", "-h":
    Console.say(usage)
    exit(0)
default:
    Console.complain(usage)
    exit(EX_USAGE)
}
