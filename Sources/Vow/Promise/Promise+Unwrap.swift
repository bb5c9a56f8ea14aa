// Going on only with a value that is there: unwrap.

extension Promise where Failure == any Error {
    /// The value that is there, or this failure instead of nil.
    public func unwrap<Wrapped>(
        orError failure: any Error = PromiseError.noSuchElement
    ) -> Promise<Wrapped, any Error> where Success == Wrapped? {
        map(on: .inline) { value in
            guard let value else { throw failure }
            return value
        }
    }
}

extension Promise {
    /// The value that is there, or `value` instead of nil.
    public func unwrap<Wrapped: Sendable>(
        orReplace replacement: Wrapped
    ) -> Promise<Wrapped, Failure> where Success == Wrapped? {
        mapped { $0 ?? replacement }
    }
}
