import Model
import Storage

/// The products' read permissions.
struct ProductAccess: Sendable {
    /// The permission of products for which no bot's file has a setting.
    let anonymousMayRead: Bool
    let stated: [Name: Bool]

    /// Returns whether anybody may read a product.
    func isPublic(_ product: Name) -> Bool { stated[product] ?? anonymousMayRead }

    /// Returns whether anybody may read something that belongs to all of these products, such as a package that several products have published. All
    /// of them must be public. If there is no product, the service's own setting applies.
    func arePublic(_ products: [Name]) -> Bool {
        products.isEmpty ? anonymousMayRead : products.allSatisfy(isPublic)
    }

    /// Whether a product can be public.
    var hasPublic: Bool { anonymousMayRead || stated.values.contains(true) }

    /// Whether everybody sees the same list of products.
    var isSame: Bool { anonymousMayRead && !stated.values.contains(false) }
}

/// The part of a products' route that decides who may read it: the product, never a version or a file.
enum ProductScope: Hashable, Sendable {
    case product(Name)
    /// A package, identified by its `key`.
    case package(String)
    /// A name that no product or package can have.
    case nobodys
    /// No particular product: a listing.
    case all

    /// Determines the scope of a request.
    /// - Parameter parameters: The parameters of the route's path.
    init(_ parameters: [String: String]) {
        if let text = parameters["product"] {
            self = Name(text).map(Self.product) ?? .nobodys
        } else if let scope = parameters["scope"], let name = parameters["name"] {
            let package = PackageIdentifier(scope: scope, name: RegistryRoutes.without(".json", name))
            self = package.map { .package($0.key) } ?? .nobodys
        } else {
            self = .all
        }
    }
}

extension Site {
    func access() async throws -> ProductAccess {
        ProductAccess(anonymousMayRead: configuration.anonymousMayRead, stated: try await store.statedAccess())
    }

    /// Returns the products that a caller may read, sorted by name.
    func products(for caller: Caller) async throws -> [Name] {
        let access = try await access()
        var readable: [Name] = []
        for product in try await store.products() where try await mayRead([product], caller, access) {
            readable.append(product)
        }
        return readable
    }

    /// Returns whether a caller may read something that belongs to all of these products: they are public, or the caller has a role on every bot that
    /// makes them.
    func mayRead(_ products: [Name], _ caller: Caller, _ access: ProductAccess) async throws -> Bool {
        if caller.role != nil || access.arePublic(products) { return true }
        guard caller.isKnown else { return false }
        return caller.rights.role(on: try await makers(of: products)) != nil
    }

    /// Returns the bots that make a product or package; empty for a listing, and for what nobody makes.
    func makers(_ scope: ProductScope) async throws -> [Name] {
        switch scope {
        case .product(let name): return try await makers(of: [name])
        case .package(let text):
            guard let package = PackageIdentifier(text) else { return [] }
            return try await makers(of: try await store.products(of: package))
        case .nobodys, .all: return []
        }
    }

    private func makers(of products: [Name]) async throws -> [Name] {
        var makers: Set<Name> = []
        for product in products { makers.formUnion(try await store.makers(of: product)) }
        return makers.sorted()
    }

    /// Returns whether the files that an integration archived require a token: they may be the same bytes as those of a closed product. The archive
    /// stays closed while any product of the integration or of its bot is closed.
    func isClosed(_ id: IntegrationID) async throws -> Bool {
        let access = try await access()
        let products =
            try await store.products(madeBy: id)
            + [try await store.product(of: id.bot)].compactMap(\.self)
        return products.contains { !access.isPublic($0) }
    }

    /// Returns whether anybody may read what a route of products shows, and whether all callers are shown the same.
    func openness(_ scope: ProductScope) async throws -> (mayRead: Bool, isSame: Bool) {
        let access = try await access()
        let isPublic: Bool
        switch scope {
        case .product(let name): isPublic = access.isPublic(name)
        case .package(let text):
            var products: [Name] = []
            if let package = PackageIdentifier(text) { products = try await store.products(of: package) }
            isPublic = access.arePublic(products)
        case .nobodys: isPublic = access.anonymousMayRead
        case .all: return (access.hasPublic, access.isSame)
        }
        return (isPublic, isPublic)
    }
}
