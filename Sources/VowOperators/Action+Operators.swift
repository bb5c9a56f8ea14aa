// Actions: >- composes, <- binds a callback.

public import Vow

/// An action that calls `left` and then, with its output, `right`. As `left.then(right)`.
public func >- <Input, Middle, Output>(
    left: Action<Input, Middle>, right: Action<Middle, Output>
) -> Action<Input, Output> {
    left.then(right)
}

/// The function that calls the action and has `callback` called with each output. As `action.bind(callback)`.
public func <- <Input, Output>(
    action: Action<Input, Output>, callback: @escaping @Sendable (Output) -> Void
) -> @Sendable (Input) -> Void {
    action.bind(callback)
}
