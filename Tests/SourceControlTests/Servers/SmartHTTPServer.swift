import TestSupport
import Testing

/// git's own http-backend behind a real nginx: `/pub/` for every client, `/git/` for the user `ci` with `secret`.
struct SmartHTTPServer {
    /// The certificate that the server shows.
    struct TLS {
        var certificate: String
        var key: String
        var protocols = "TLSv1.2 TLSv1.3"
    }

    let port: Int
    let directory: TemporaryDirectory
    /// `http://127.0.0.1:PORT` or `https://localhost:PORT`.
    let origin: String

    static let isPossible = ["nginx", "fcgiwrap", "openssl"].allSatisfy { TestTools.find($0) != nil }

    /// Returns one line per request: status, path, and the header with the credentials, `-` for none.
    func log() throws -> [String] {
        try directory.text("http/access.log").split(separator: "\n").map(String.init)
    }

    /// Returns the requests with credentials.
    func authorized() throws -> [String] { try log().filter { !$0.hasSuffix(" -") } }

    /// - Parameter root: The directory of the repositories.
    static func serving(
        _ root: String, in directory: TemporaryDirectory, tls: TLS? = nil,
        _ body: (SmartHTTPServer) async throws -> Void
    ) async throws {
        let port = try LoopbackSocket.freePort()
        try directory.makeDirectory("http/tmp")
        let user = try await runExpectingSuccess(["id", "-un"]).split(separator: "\n")[0]
        let hash = try await runExpectingSuccess(["openssl", "passwd", "-apr1", "secret"]).split(separator: "\n")[0]
        try directory.write("http/passwords", "ci:\(hash)\n")
        let here = directory.path("http")
        let secure = tls.map {
            "ssl_certificate \($0.certificate); ssl_certificate_key \($0.key); ssl_protocols \($0.protocols); "
                + "ssl_ciphers DEFAULT:@SECLEVEL=0;"
        }
        let backend = """
            fastcgi_pass unix:\(here)/cgi; include /etc/nginx/fastcgi_params; fastcgi_read_timeout 600;
            fastcgi_param SCRIPT_FILENAME /usr/lib/git-core/git-http-backend; fastcgi_param GIT_HTTP_EXPORT_ALL 1;
            fastcgi_param GIT_PROJECT_ROOT \(root); fastcgi_param PATH_INFO $1;
            fastcgi_param GIT_PROTOCOL $http_git_protocol; fastcgi_param REMOTE_USER $remote_user;
            """
        try directory.write(
            "http/nginx.conf",
            """
            \(user == "root" ? "user root;" : "") worker_processes 1; daemon off; pid \(here)/nginx.pid;
            error_log \(here)/error.log;
            events { worker_connections 64; }
            http {
              log_format with_credentials '$status $request_uri $http_authorization';
              access_log \(here)/access.log with_credentials;
              client_body_temp_path \(here)/tmp/body; proxy_temp_path \(here)/tmp/proxy; fastcgi_temp_path \(here)/tmp/cgi;
              uwsgi_temp_path \(here)/tmp/uwsgi; scgi_temp_path \(here)/tmp/scgi; client_max_body_size 0;
              server {
                listen 127.0.0.1:\(port)\(secure == nil ? "" : " ssl"); \(secure ?? "")
                location ~ ^/pub(/.*)$ { \(backend) }
                location ~ ^/git(/.*)$ { auth_basic git; auth_basic_user_file \(here)/passwords; \(backend) }
                location ~ ^/moved/(.*)$ { return 301 $scheme://localhost:$server_port/pub/$1; }
              }
            }
            """)
        try directory.write("http/access.log", "")
        let gateway = "exec \(TestTools.find("fcgiwrap") ?? "fcgiwrap") -c 2 -s unix:\(here)/cgi"
        let nginx = "exec \(TestTools.find("nginx") ?? "nginx") -p \(here) -c nginx.conf -e \(here)/error.log"
        // Both are in one session, and are ended together.
        try await BackgroundServer.running("(\(gateway)) & \(nginx)", in: here, port: port) {
            await until("the gateway listens") { LoopbackSocket.isListening(here + "/cgi") }
            try await body(
                SmartHTTPServer(
                    port: port, directory: directory,
                    // libgit2's mbedTLS does not support addresses in certificates.
                    origin: tls == nil ? "http://127.0.0.1:\(port)" : "https://localhost:\(port)"))
        }
    }
}
