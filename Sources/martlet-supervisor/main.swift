import Glibc
import Processes

// The roles of one small static program: the launcher, the supervisor of one attempt, and the first process in a sandbox. It holds secrets, so what
// runs in a job as a step's command is in martlet-tools. Exit statuses are those of sysexits.h.

let arguments = Array(CommandLine.arguments.dropFirst())
let usage = """
    usage: martlet-supervisor --listen SOCKET [--detach [--idle-limit SECONDS] | --attached]
           martlet-supervisor --probe-fence

    --listen starts one supervisor for each attempt that the daemon asks for. With LISTEN_FDS (systemd) the socket is the
    one that is passed; --detach returns once it listens, and the launcher ends by itself 300 s, or SECONDS, after its last job
    and the last process that asked for one, or where its directory is gone; --attached says "listening", ends with its standard input, and
    kills what it started. --probe-fence makes a sandbox and says, in JSON, whether that works here, why not, and what
    holds limits; it exits with 0 when it works, with 1 when not.

    """

func argument(after option: String) -> String? {
    guard let index = arguments.firstIndex(of: option), index + 1 < arguments.count else { return nil }
    return arguments[index + 1]
}

switch arguments.first {
case "--listen":
    guard let socket = argument(after: "--listen"), socket.hasPrefix("/") else {
        Console.own.complain("--listen needs the absolute path of a socket")
        exit(EX_USAGE)
    }
    let lifetime: Launcher.Lifetime =
        arguments.contains("--detach") ? .detached : arguments.contains("--attached") ? .attached : .own
    var launcher = Launcher(socket: socket, lifetime: lifetime)
    if let seconds = argument(after: "--idle-limit") {
        guard let seconds = Int64(seconds), (0...86_400).contains(seconds) else {
            Console.own.complain("--idle-limit needs a number of seconds, at most 86400")
            exit(EX_USAGE)
        }
        launcher.idleLimit = seconds * 1000
    }
    exit(launcher.run())
case "--attempt":
    guard let attempt = argument(after: "--attempt") else { exit(EX_USAGE) }
    exit(Supervisor.run(attempt: attempt, secretsFrom: argument(after: "--secrets-from").flatMap { Int32($0) }))
case "--wait":
    // Blocks in poll(2): a process of its own with one thread and no tasks. The launcher awaits its end, and its own ends this one.
    exit(Supervisor.wait())
case "--within-fence":
    exit(SandboxedStep().run())
case "--probe-fence":
    exit(SandboxProbe().run())
case "--help", "-h":
    Console.own.say(usage)
    exit(0)
default:
    Console.own.complain(usage)
    exit(EX_USAGE)
}
