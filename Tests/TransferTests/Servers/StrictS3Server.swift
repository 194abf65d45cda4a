import Foundation
import TestSupport
import Transfer

/// OpenStack Swift 2.30 with its S3 API on the loopback, which checks signatures and the digests of bodies. It has one bucket, `files`.
struct StrictS3Server: Sendable {
    let directory: TemporaryDirectory
    let port: Int

    static let accessKey = "test:tester"
    static let secret = "canary-secret"

    /// Returns the URL below which the files are.
    func url(port: Int? = nil, bucket: String = "files") -> String {
        "s3://\(bucket)/kit/{version}/?endpoint=http://127.0.0.1:\(port ?? self.port)"
    }

    var options: UploadOptions {
        var options = UploadOptions()
        options.credentials = .password(user: Self.accessKey, password: Self.secret)
        options.isPlainHTTPAllowed = true
        options.retries = .immediate
        return options
    }

    static func running(
        in directory: TemporaryDirectory, _ body: (StrictS3Server) async throws -> Void
    ) async throws {
        let programs = ["object", "container", "account", "proxy"]
        let ports = try programs.map { _ in try LoopbackSocket.freePort() }
        let cache = try LoopbackSocket.freePort()
        for name in ["srv/sdb1", "etc", "cache", "lock"] { try directory.makeDirectory(name) }
        let user = try await runExpectingSuccess(["id", "-un"]).split(separator: "\n")[0]
        for (program, port) in zip(programs, ports) {
            try directory.write(
                "etc/\(program)-server.conf",
                configuration(program, port: port, cache: cache, user: String(user), directory: directory.path))
            guard program != "proxy" else { continue }
            let ring = directory.path("etc/\(program).builder")
            for command in [["create", "4", "1", "1"], ["add", "r1z1-127.0.0.1:\(port)/sdb1", "1"], ["rebalance"]] {
                try await runExpectingSuccess(
                    ["env", "PATH=/usr/sbin:/usr/bin:/bin", "swift-ring-builder", ring] + command)
            }
        }
        try await ServerProcess.running(
            [
                TestTools.find("memcached") ?? "memcached", "-u", String(user), "-l", "127.0.0.1", "-p", "\(cache)",
                "-m", "16",
            ],
            log: directory.path("memcached.log"), isReady: { LoopbackSocket.isListening(cache) }
        ) {
            try await start(programs[...], ports[...], directory) {
                let server = StrictS3Server(directory: directory, port: ports[3])
                try await server.makeBucket("files")
                try await body(server)
            }
        }
    }

    private static func start(
        _ programs: ArraySlice<String>, _ ports: ArraySlice<Int>, _ directory: TemporaryDirectory,
        _ body: () async throws -> Void
    ) async throws {
        guard let program = programs.first, let port = ports.first else { return try await body() }
        try await ServerProcess.running(
            ["/usr/bin/swift-\(program)-server", directory.path("etc/\(program)-server.conf")],
            log: directory.path("\(program).log"), isReady: { LoopbackSocket.isListening(port) }
        ) {
            try await start(programs.dropFirst(), ports.dropFirst(), directory, body)
        }
    }

    private func makeBucket(_ name: String) async throws {
        _ = try await signed("PUT", "/\(name)")
    }

    /// Returns the keys in the bucket, and the number of unfinished uploads.
    func listing(_ bucket: String = "files") async throws -> (keys: [String], uploads: Int) {
        let keys = try await signed("GET", "/\(bucket)").split(separator: "<Key>").dropFirst()
            .map { String($0.prefix { $0 != "<" }) }
        // The parts of all uploads, finished or not, are in a second bucket.
        let uploads = try await signed("GET", "/\(bucket)?uploads=").split(separator: "<UploadId>").count - 1
        return (keys, uploads)
    }

    /// Sends a request with curl's own signature. libcurl 7.88 signs requests whose parameters have a value.
    private func signed(_ method: String, _ path: String) async throws -> String {
        try await runExpectingSuccess(
            TestTools.curl + [
                "-f", "-X", method, "--aws-sigv4", "aws:amz:us-east-1:s3", "-H",
                "x-amz-content-sha256: UNSIGNED-PAYLOAD",
                "http://\(Self.accessKey.replacing(":", with: "%3A")):\(Self.secret)@127.0.0.1:\(port)\(path)",
            ])
    }

    /// The time limits are longer than Swift's own, which begin at half a second; a busy machine gives a server no time for that long. No server is
    /// excluded after errors, because there is only one.
    private static func configuration(
        _ program: String, port: Int, cache: Int, user: String, directory: String
    ) -> String {
        let common = """
            [DEFAULT]
            bind_ip = 127.0.0.1
            bind_port = \(port)
            workers = 0
            user = \(user)
            swift_dir = \(directory)/etc
            log_address = /dev/null
            node_timeout = 60
            conn_timeout = 10
            container_update_timeout = 60

            """
        guard program == "proxy" else {
            return common + """
                devices = \(directory)/srv
                mount_check = false
                recon_cache_path = \(directory)/cache
                lock_path = \(directory)/lock
                disable_fallocate = true
                [pipeline:main]
                pipeline = \(program)-server
                [app:\(program)-server]
                use = egg:swift#\(program)

                """
        }
        let filters = ["catch_errors", "gatekeeper", "healthcheck", "listing_formats", "copy", "slo", "dlo"]
        return common + """
            [pipeline:main]
            pipeline = catch_errors gatekeeper healthcheck cache listing_formats s3api tempauth copy slo dlo proxy-server
            [app:proxy-server]
            use = egg:swift#proxy
            account_autocreate = true
            node_timeout = 60
            recoverable_node_timeout = 60
            conn_timeout = 10
            error_suppression_limit = 1000000
            [filter:tempauth]
            use = egg:swift#tempauth
            user_test_tester = \(secret) .admin
            [filter:s3api]
            use = egg:swift#s3api
            s3_acl = false
            location = us-east-1
            [filter:cache]
            use = egg:swift#memcache
            memcache_servers = 127.0.0.1:\(cache)
            connect_timeout = 10
            io_timeout = 10

            """ + filters.map { "[filter:\($0)]\nuse = egg:swift#\($0)\n" }.joined()
    }
}
