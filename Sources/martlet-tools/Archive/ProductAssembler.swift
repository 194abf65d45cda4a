import CLinux
import Glibc
import JobProtocol
import Processes

/// Builds a Swift package and lays out its products, so that others can run and link them without its sources:
///
///     products/bin/<executable>            with the resource bundles that it looks for beside itself
///     products/lib/lib<Product>.a          every object of the product's targets and of what they need; the resource
///                                          bundles, to be put beside what links it
///     products/modules/<Module>.swiftmodule, .swiftdoc
///     products/include/<C target>/…        headers with their module map
///
/// A consumer compiles with `swiftc -I modules -L lib -l<Product>`, using the compiler that built the modules.
struct ProductAssembler {
    let order: ProductOrder

    func run() -> Int32 {
        do throws(JobCommand.Failure) {
            try archive()
            return 0
        } catch {
            Console.own.complain("archiving failed: \(error.message)")
            return error.status == 0 ? 1 : error.status
        }
    }

    private struct Product {
        let name: String
        let targets: [String]
        /// `automatic`, `static` or `dynamic`; `nil` for an executable.
        let linkage: String?
    }

    private var swift: String { order.toolchain.map { $0 + "/usr/bin/swift" } ?? "swift" }
    private var tool: PackageTool { PackageTool(swift: swift, options: ["--scratch-path", order.scratchPath]) }
    private var products: String { order.output + "/products" }

    private func archive() throws(JobCommand.Failure) {
        // Removes the products of an earlier run.
        try JobCommand.run(["rm", "-rf", products], isShown: false)
        let found = try declaredProducts()
        guard !found.isEmpty else {
            return Console.own.say("The package has neither executables nor libraries: there is nothing to archive.\n")
        }
        let build = [swift, "build", "-c", order.configuration, "--scratch-path", order.scratchPath] + order.flags
        try JobCommand.run(build)
        let path = try JobCommand.capture(build + ["--show-bin-path"])
        let built = String(decoding: path.split(separator: 0x0A).last ?? [], as: UTF8.self)
        let executables = found.filter { $0.linkage == nil }
        let libraries = found.filter { $0.linkage != nil }
        for product in executables {
            try copy("\(built)/\(product.name)", to: "bin", as: product.name)
        }
        if !libraries.isEmpty {
            let packages = try tool.manifests(scratch: order.scratchPath + "/manifests")
            for library in libraries { try archive(library, packages, built) }
        }
        let bundles = JobFiles.names(in: built).filter { $0.hasSuffix(".resources") }
        for bundle in bundles {
            if !executables.isEmpty { try copy("\(built)/\(bundle)", to: "bin", as: bundle) }
            if !libraries.isEmpty { try copy("\(built)/\(bundle)", to: "lib", as: bundle) }
        }
    }

    private func declaredProducts() throws(JobCommand.Failure) -> [Product] {
        let description = try tool.description()
        var found: [Product] = []
        for element in description["products"]?.elements ?? [] {
            guard let name = element["name"]?.text, let type = element["type"]?.members else { continue }
            let targets = (element["targets"]?.elements ?? []).compactMap(\.text)
            if type["executable"] != nil {
                found.append(Product(name: name, targets: targets, linkage: nil))
            } else if let linkage = type["library"]?.elements?.first?.text {
                found.append(Product(name: name, targets: targets, linkage: linkage))
            }
        }
        return found
    }

    private func archive(
        _ library: Product, _ packages: [PackageManifest], _ built: String
    ) throws(JobCommand.Failure) {
        let targets = packages.linkedTargets(of: library.targets)
        switch library.linkage {
        case "dynamic": try copy("\(built)/lib\(library.name).so", to: "lib", as: "lib\(library.name).so")
        case "static": try copy("\(built)/lib\(library.name).a", to: "lib", as: "lib\(library.name).a")
        default:
            let objects = targets.flatMap {
                JobFiles.files(beneath: "\(built)/\($0.module).build").filter { $0.hasSuffix(".o") }
            }
            guard !objects.isEmpty else {
                throw JobCommand.Failure(status: 1, message: "\(library.name) has no objects in \(built)")
            }
            try pack(objects, into: "lib\(library.name).a")
        }
        for target in targets { try copyInterface(of: target, built) }
    }

    /// Packs object files into a static library. `q` appends without comparing names, because two targets can have a file of the same name.
    private func pack(_ objects: [String], into name: String) throws(JobCommand.Failure) {
        try JobCommand.run(["mkdir", "-p", "\(products)/lib"], isShown: false)
        let list = order.scratchPath + "/" + name + ".objects"
        // Quoted as in GNU response files, because there are often more objects than a command line allows.
        let quoted = objects.map { "\"" + $0.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\"" }
        let file = clinux_open(list, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        defer { close(file) }
        let failure = Descriptor.writeAll(Array((quoted.joined(separator: "\n") + "\n").utf8), to: file)
        guard failure == 0 else {
            throw JobCommand.Failure(status: 1, message: "write \(list): \(SystemError(number: failure).text)")
        }
        Console.own.say("lib/\(name): \(objects.count) objects\n")
        try JobCommand.run([archiver, "qcs", "\(products)/lib/\(name)", "@" + list], isShown: false)
    }

    /// The path of the toolchain's own archiver beside its compiler. Another one may not understand its objects.
    private var archiver: String {
        let path = JobCommand.environment()["PATH"] ?? ""
        for place in order.toolchain.map({ [$0 + "/usr/bin"] }) ?? path.split(separator: ":").map(String.init) {
            guard let resolved = realpath(place + "/swift", nil) else { continue }
            defer { free(resolved) }
            let program = String(cString: resolved)
            let archiver = program[..<(program.lastIndex(of: "/") ?? program.startIndex)] + "/llvm-ar"
            if access(String(archiver), X_OK) == 0 { return String(archiver) }
        }
        return "llvm-ar"
    }

    /// Copies the files that a consumer's compiler reads.
    private func copyInterface(of target: PackageManifest.Target, _ built: String) throws(JobCommand.Failure) {
        let module = target.module
        if access("\(built)/Modules/\(module).swiftmodule", R_OK) == 0 {
            for suffix in ["swiftmodule", "swiftdoc"] where access("\(built)/Modules/\(module).\(suffix)", R_OK) == 0 {
                try copy("\(built)/Modules/\(module).\(suffix)", to: "modules", as: "\(module).\(suffix)")
            }
            return
        }
        guard target.type == "system" || access("\(built)/\(module).build", R_OK) == 0,
            let headers = target.headers.first(where: { access($0, R_OK) == 0 }),
            access("\(products)/include/\(module)", F_OK) != 0
        else { return }
        try copy(headers, to: "include", as: module)
        if let generated = SmallFile.read("\(built)/\(module).build/module.modulemap", limit: 1 << 20),
            access("\(headers)/module.modulemap", F_OK) != 0
        {
            // SwiftPM's generated module map contains paths of the checkout.
            let text = String(decoding: generated, as: UTF8.self)
                .replacing("\"\(headers)/", with: "\"").replacing("\"\(headers)\"", with: "\".\"")
            try write(text, to: "include/\(module)/module.modulemap")
        }
        // Makes `-I modules` sufficient: clang looks for a module in the directory of the same name.
        try JobCommand.run(["mkdir", "-p", "\(products)/modules/\(module)"], isShown: false)
        try write(
            "extern module \(module) \"../../include/\(module)/module.modulemap\"\n",
            to: "modules/\(module)/module.modulemap")
    }

    private func write(_ text: String, to name: String) throws(JobCommand.Failure) {
        let file = clinux_open("\(products)/\(name)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        defer { close(file) }
        let failure = Descriptor.writeAll(Array(text.utf8), to: file)
        guard failure == 0 else {
            throw JobCommand.Failure(status: 1, message: "write \(name): \(SystemError(number: failure).text)")
        }
    }

    /// Copies a file or directory. Links are followed, because only regular files are collected.
    private func copy(_ source: String, to place: String, as name: String) throws(JobCommand.Failure) {
        let target = "\(products)/\(place)/\(name)"
        if access(target, F_OK) == 0 { return }
        try JobCommand.run(["mkdir", "-p", "\(products)/\(place)"], isShown: false)
        Console.own.say("\(place)/\(name)\n")
        try JobCommand.run(["cp", "-RL", "--", source, target], isShown: false)
    }
}

/// The arguments of `--archive-products`.
struct ProductOrder {
    /// The directory whose subdirectory `products` will contain the products.
    let output: String
    /// A separate build directory, so that archiving neither uses nor changes the results of the build and test steps.
    let scratchPath: String
    let configuration: String
    /// A directory whose `usr/bin` has the compiler; `nil`: the compiler in PATH.
    let toolchain: String?
    /// Additional arguments of `swift build`.
    let flags: [String]

    /// Parses the arguments. Returns `nil` if an argument is missing, unknown or repeated.
    init?(arguments: [String]) {
        let parts = arguments.split(separator: "--", maxSplits: 1, omittingEmptySubsequences: false)
        let options = Array(parts.first ?? [])
        var values: [String: String] = [:]
        guard options.count % 2 == 0 else { return nil }
        for index in stride(from: 0, to: options.count, by: 2) {
            guard values.updateValue(options[index + 1], forKey: options[index]) == nil else { return nil }
        }
        let known = ["--archive-products", "--scratch-path", "--configuration", "--toolchain"]
        guard values.keys.allSatisfy(known.contains), let output = values["--archive-products"],
            let scratchPath = values["--scratch-path"], let configuration = values["--configuration"],
            ["debug", "release"].contains(configuration)
        else { return nil }
        self.output = output
        self.scratchPath = scratchPath
        self.configuration = configuration
        toolchain = values["--toolchain"]
        flags = parts.count > 1 ? Array(parts[1]) : []
    }
}
