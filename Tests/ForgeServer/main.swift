import Foundation
import Glibc
import TestSupport

// The fake forge of the tests over HTTP, for daemons that are started as in use.
//
//   ForgeServer KIND TOKEN [SECONDS]    prints the port it took; each answer takes so long
//
// Beneath /api it answers as the forge does; beneath /control it is told what is to happen: POST commit/SHA, answer/STATUS/RETRY-AFTER, lose (the
// next request is done and never answered), silence (all are, until POST speak), and GET history.

let given = CommandLine.arguments
guard given.count >= 3, let kind = FakeForge.Kind(rawValue: given[1]) else {
    print("usage: ForgeServer KIND TOKEN [SECONDS]")
    exit(64)
}
do {
    let socket = try LoopbackSocket()
    let forge = FakeForge(kind, api: "http://127.0.0.1:\(socket.port)/api", token: given[2])
    let server = ForgeServer(forge: forge, delay: given.count > 3 ? Double(given[3]) ?? 0 : 0)
    // At once, also into a pipe.
    FileHandle.standardOutput.write(Data("\(socket.port)\n".utf8))
    signal(SIGPIPE, SIG_IGN)
    while let connection = socket.accepted() {
        Thread.detachNewThread { server.serve(connection) }
    }
} catch {
    print("ForgeServer: \(error)")
    exit(1)
}
