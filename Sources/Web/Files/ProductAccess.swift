import Model
import Storage

/// Who may read which product.
struct ProductAccess: Sendable {
    /// What holds where no bot's file says otherwise.
    let anonymousMayRead: Bool
    let stated: [Name: Bool]

    /// Whether anybody may read it.
    func isPublic(_ product: Name) -> Bool { stated[product] ?? anonymousMayRead }

    /// Whether anybody may read what belongs to all of these, as a package does in a tree that was put together by hand: the strictest
    /// counts. What is nobody's is open as the service is.
    func arePublic(_ products: [Name]) -> Bool {
        products.isEmpty ? anonymousMayRead : products.allSatisfy(isPublic)
    }

    /// Whether there can be one that anybody may read.
    var hasPublic: Bool { anonymousMayRead || stated.values.contains(true) }

    /// Whether everybody sees the same of all products together.
    var isSame: Bool { anonymousMayRead && !stated.values.contains(false) }

    func mayRead(_ product: Name, _ caller: Caller) -> Bool { caller.role != nil || isPublic(product) }
}

/// What a route of products shows, as far as that decides who may read it: never a version or a file.
enum ProductScope: Hashable, Sendable {
    case product(Name)
    /// A package, by its `key`.
    case package(String)
    /// What is called as no product or package can be.
    case nobodys
    /// No product in particular: a listing.
    case all

    /// - Parameter parameters: Of the route.
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

    /// The products that a caller may read, by name.
    func products(for caller: Caller) async throws -> [Name] {
        let access = try await access()
        return try await store.products().filter { access.mayRead($0, caller) }
    }

    /// Whether what an integration archived needs a token: it may be the same bytes as a closed product's. Opening a product opens none of
    /// it where the rest is closed.
    func isClosed(_ id: IntegrationID) async throws -> Bool {
        let access = try await access()
        let products =
            try await store.products(madeBy: id)
            + [try await store.product(of: id.bot)].compactMap(\.self)
        return products.contains { !access.isPublic($0) }
    }

    /// Whether anybody may read what a route of products shows, and whether all are shown the same.
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
