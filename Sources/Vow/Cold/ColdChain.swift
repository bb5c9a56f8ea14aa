// The parts of cold types: a beginning, and any number of links one behind the other.

/// A promise on its way from link to link, which alone know its type.
typealias CarriedPromise = Promise<Void, any Error>

/// Work that is described and not begun. Running and freeing it take constant stack, however long it is.
final class ColdChain<Input: Sendable>: Sendable {
    private enum Part {
        case beginning(@Sendable (Input) -> CarriedPromise)
        case link(@Sendable (CarriedPromise) -> CarriedPromise)
    }

    private let part: Part

    // Unsafe by its type only: never changed but where the last reference goes away.
    private nonisolated(unsafe) var former: ColdChain?

    init<Output>(_ begin: @escaping @Sendable (Input) -> Promise<Output, any Error>) {
        part = .beginning { begin($0).asVoid() }
    }

    private init(
        after former: ColdChain, _ link: @escaping @Sendable (CarriedPromise) -> CarriedPromise
    ) {
        part = .link(link)
        self.former = former
    }

    /// This chain and one more link.
    func appending<Output, NewOutput>(
        _ link: @escaping @Sendable (Promise<Output, any Error>) -> Promise<NewOutput, any Error>
    ) -> ColdChain {
        ColdChain(after: self) { link($0.retyped()).asVoid() }
    }

    /// Begins a run.
    func run<Output>(_ input: Input) -> Promise<Output, any Error> {
        var links: [@Sendable (CarriedPromise) -> CarriedPromise] = []
        var place = self
        while true {
            switch place.part {
            case .link(let link): links.append(link)
            case .beginning(let begin):
                return links.reversed().reduce(begin(input)) { $1($0) }.retyped()
            }
            guard let former = place.former else { fatalError("a chain without a beginning") }
            place = former
        }
    }

    deinit {
        // One by one: each link would else free the link before it inside of itself.
        var rest = former.take()
        while rest != nil, isKnownUniquelyReferenced(&rest) { rest = rest?.former.take() }
    }
}
