import Foundation
import Glibc
import TestSupport

// The tests' fake forge over HTTP, for daemons that are started as in production.
//
//   ForgeServer KIND TOKEN [SECONDS]    prints its port; SECONDS is the delay of each answer
//
// Below /api it answers as the forge does. Below /control it is controlled: POST commit/SHA; answer/STATUS/RETRY-AFTER; lose (the next request is
// executed and never answered); silence (all requests are, until POST speak). GET history returns what happened.

let given = CommandLine.arguments
guard given.count >= 3, let kind = FakeForge.Kind(rawValue: given[1]) else {
    print("usage: ForgeServer KIND TOKEN [SECONDS]")
    exit(64)
}
do {
    let socket = try LoopbackSocket()
    let forge = FakeForge(kind, api: "http://127.0.0.1:\(socket.port)/api", token: given[2])
    let server = ForgeServer(forge: forge, delay: given.count > 3 ? Double(given[3]) ?? 0 : 0)
    // FileHandle writes at once, also into a pipe.
    FileHandle.standardOutput.write(Data("\(socket.port)\n".utf8))
    signal(SIGPIPE, SIG_IGN)
    while let connection = socket.accepted() {
        Thread.detachNewThread { server.serve(connection) }
    }
} catch {
    print("ForgeServer: \(error)")
    exit(1)
}
