/// A letter or pair of letters with its value.
struct Sign {
    let value: Int
    let letters: String

    /// From the greatest to the least, in the order they are written.
    static let all = [
        Sign(value: 1000, letters: "M"), Sign(value: 900, letters: "CM"),
        Sign(value: 500, letters: "D"), Sign(value: 400, letters: "CD"),
        Sign(value: 100, letters: "C"), Sign(value: 90, letters: "XC"),
        Sign(value: 50, letters: "L"), Sign(value: 40, letters: "XL"),
        Sign(value: 10, letters: "X"), Sign(value: 9, letters: "IX"),
        Sign(value: 5, letters: "V"), Sign(value: 4, letters: "IV"),
        Sign(value: 1, letters: "I"),
    ]
}
