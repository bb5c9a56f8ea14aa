// Callbacks of every shape, as a resolver takes them.

extension PromiseResolver where Failure == any Error {
    /// Settles from a callback with a value and an error, of which one is nil. The error decides;
    /// both nil is ``PromiseError/neitherValueNorError``.
    @discardableResult
    @inlinable
    public func settle(_ value: Success?, _ error: (any Error)?) -> Bool {
        if let error { return reject(error) }
        guard let value else { return reject(PromiseError.neitherValueNorError) }
        return fulfill(value)
    }

    /// The same in the other order.
    @discardableResult
    @inlinable
    public func settle(_ error: (any Error)?, _ value: Success?) -> Bool { settle(value, error) }

    /// Settles from a callback whose value is always there.
    @discardableResult
    @inlinable
    public func settle(_ value: Success, _ error: (any Error)?) -> Bool {
        if let error { return reject(error) }
        return fulfill(value)
    }
}

extension PromiseResolver where Success == Void, Failure == any Error {
    /// Settles from a callback with an error or nil.
    @discardableResult
    @inlinable
    public func settle(_ error: (any Error)?) -> Bool {
        if let error { return reject(error) }
        return fulfill()
    }
}
