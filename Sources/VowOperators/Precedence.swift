// The operators and how tightly they bind.

/// Binding a callback: looser than composing, so that `fetch >- parse <- show` is `(fetch >- parse) <- show`.
precedencegroup VowBindPrecedence {
    associativity: left
    higherThan: DefaultPrecedence
}

/// Composing actions, from left to right.
precedencegroup VowComposePrecedence {
    associativity: left
    higherThan: VowBindPrecedence
}

infix operator >- : VowComposePrecedence
infix operator <- : VowBindPrecedence

/// Both, as a product.
infix operator &&& : MultiplicationPrecedence

/// One or the other, as a sum.
infix operator ||| : AdditionPrecedence
