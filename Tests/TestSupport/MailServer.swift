import Basics
import Foundation
import Glibc
package import Testing

/// A real Exim on the loopback that delivers into a directory. It accepts the user `ci` with the password `secret`. It refuses mail for `nobody@…`,
/// and defers mail for `grey@…` until `letIn()` is called.
package struct MailServer: Sendable {
    package let directory: TemporaryDirectory
    /// The port for SMTP, with STARTTLS if that is offered.
    package let port: Int
    /// The port for TLS from the first byte.
    package let tlsPort: Int

    package var plainURL: String { "smtp://127.0.0.1:\(port)" }
    package var tlsURL: String { "smtps://127.0.0.1:\(tlsPort)" }
    /// The certificate to trust.
    package var certificate: String { directory.path("certificate.pem") }

    /// Returns the mails that arrived, each with its envelope first, as Exim wrote it: lines end with `\n`.
    package func mails() throws -> [String] {
        // Exim writes each file as `temp.…` and renames it when it is complete.
        let names = try Directory(opening: directory.path("mail")).entries().map(\.name)
        return try names.filter { !$0.hasPrefix("temp.") }.sorted().map { name in
            try directory.text("mail/\(name)")
        }
    }

    /// Waits until `count` mails have arrived.
    package func mails(count: Int) async throws -> [String] {
        _ = try await until("\(count) mails") { try mails().count >= count }
        return try mails()
    }

    /// Returns Exim's log of accepted and refused connections and mails.
    package func log() throws -> String { try directory.text("mainlog") }

    /// From now on mail for `grey@…` is accepted.
    package func letIn() throws { try directory.write("again", "") }

    /// - Parameters:
    ///   - offersTLS: Whether STARTTLS is offered.
    ///   - needsUser: Whether mail needs authentication.
    ///   - mechanisms: The mechanisms of authentication: `PLAIN`, `LOGIN`.
    package static func running<Value>(
        in directory: TemporaryDirectory, offersTLS: Bool = true, needsUser: Bool = false,
        mechanisms: [String] = ["PLAIN", "LOGIN"],
        _ body: (MailServer) async throws -> Value
    ) async throws -> Value {
        let ports = [try LoopbackSocket.freePort(), try LoopbackSocket.freePort()]
        try await runExpectingSuccess([
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
            "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", directory.path("key.pem"), "-out",
            directory.path("certificate.pem"),
        ])
        for name in ["spool", "mail"] { try directory.makeDirectory(name) }
        try directory.write("mainlog", "")
        // Exim gives up root, and reads and writes as its own user.
        let paths = ["", "/spool", "/mail", "/mainlog", "/key.pem"].map { directory.path + $0 }
        try await runExpectingSuccess(["chown", "Debian-exim"] + paths)
        let file = try directory.write(
            "exim.conf",
            configuration(directory.path, ports, offersTLS: offersTLS, needsUser: needsUser, mechanisms: mechanisms))
        let server = MailServer(directory: directory, port: ports[0], tlsPort: ports[1])
        return try await ServerProcess.running(
            [TestTools.find("exim4") ?? "exim4", "-C", file, "-bdf", "-oP", directory.path("exim.pid")],
            log: directory.path("exim.log"), isReady: { ports.allSatisfy(LoopbackSocket.isListening) }
        ) {
            let value = try await body(server)
            // Exim's deliveries are processes of their own, which write until they have reported their end.
            _ = try await until("the end of Exim's deliveries") {
                let log = try server.log()
                return log.components(separatedBy: " Completed").count >= log.components(separatedBy: " <= ").count
            }
            return value
        }
    }

    private static func configuration(
        _ path: String, _ ports: [Int], offersTLS: Bool, needsUser: Bool, mechanisms: [String]
    ) -> String {
        """
        primary_hostname = mail.acme.example
        spool_directory = \(path)/spool
        log_file_path = \(path)/%slog
        keep_environment =
        add_environment = PATH=/usr/bin:/bin
        local_interfaces = 127.0.0.1
        daemon_smtp_ports = \(ports[0]) : \(ports[1])
        tls_on_connect_ports = \(ports[1])
        tls_advertise_hosts = \(offersTLS ? "*" : "")
        auth_advertise_hosts = *
        tls_certificate = \(path)/certificate.pem
        tls_privatekey = \(path)/key.pem
        deliver_drop_privilege = true
        received_header_text =
        acl_smtp_rcpt = recipient
        acl_smtp_data = accept
        acl_smtp_mail = accept
        begin acl
        recipient:
          deny condition = \(needsUser ? "yes" : "no")
              !authenticated = *
              message = say who you are first
          defer local_parts = grey
              condition = ${if !exists{\(path)/again}}
              message = greylisted, come again
          deny local_parts = nobody
              message = no such user here
          accept
        begin routers
        all:
          driver = accept
          transport = file
        begin transports
        file:
          driver = appendfile
          directory = \(path)/mail
          envelope_to_add
          return_path_add
        begin authenticators
        plain:
          driver = plaintext
          public_name = PLAIN
          server_advertise_condition = \(mechanisms.contains("PLAIN") ? "yes" : "no")
          server_prompts = :
          server_condition = ${if and{{eq{$auth2}{ci}}{eq{$auth3}{secret}}}}
          server_set_id = $auth2
        login:
          driver = plaintext
          public_name = LOGIN
          server_advertise_condition = \(mechanisms.contains("LOGIN") ? "yes" : "no")
          server_prompts = Username:: : Password::
          server_condition = ${if and{{eq{$auth1}{ci}}{eq{$auth2}{secret}}}}
          server_set_id = $auth1

        """
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test unless Exim is installed and this process is root: Exim lets only root listen with another configuration.
    package static var mailServer: Self {
        .enabled("exim4 is not installed, or this is not root") { TestTools.find("exim4") != nil && geteuid() == 0 }
    }
}
