struct ProductArchiver {
    let order: ProductOrder
    func run() -> Int32 { 0 }
}
