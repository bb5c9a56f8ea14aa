// A span that ends with its promise.

public import Tracing
public import Vow
public import VowInstrumentation

/// Begins a span, calls `body` here and now, and ends the span when the promise that it makes is settled. What a failure
/// is, is recorded; one that is no cancellation is the span's status.
///
/// Handlers that are attached in `body` carry the span's context, so spans that begin in them are its children, on
/// whatever thread they run.
///
/// ```swift
/// withPromiseSpan("load page") { span in
///     fetchPage("/").then { page in
///         withPromiseSpan("store") { _ in store(page) }  // A child of "load page".
///     }
/// }
/// ```
///
/// - Parameters:
///   - context: of the parent; as it stands, that of the handler that runs here, or of the task.
///   - body: what it throws rejects, as with `firstly`.
/// - Returns: a promise that settles as that of `body` does, when the span has ended.
public func withPromiseSpan<Success, Failure>(
    _ operationName: String, context: InstrumentationContext? = .carried,
    ofKind kind: SpanKind = .internal, function: String = #function, file: String = #fileID,
    line: UInt = #line, _ body: (any Span) -> Promise<Success, Failure>
) -> Promise<Success, Failure> {
    let span = startSpan(
        operationName, context: context ?? .topLevel, ofKind: kind, function: function, file: file,
        line: line)
    return withCarriedContext(span.context) { body(span) }.ending(span)
}

/// The same of a `body` that throws.
public func withPromiseSpan<Success, Failure>(
    _ operationName: String, context: InstrumentationContext? = .carried,
    ofKind kind: SpanKind = .internal, function: String = #function, file: String = #fileID,
    line: UInt = #line, _ body: (any Span) throws -> Promise<Success, Failure>
) -> Promise<Success, any Error> {
    withPromiseSpan(
        operationName, context: context, ofKind: kind, function: function, file: file, line: line
    ) { (span: any Span) -> Promise<Success, any Error> in
        firstly { () throws -> Promise<Success, Failure> in try body(span) }
    }
}

extension Promise {
    fileprivate func ending(_ span: any Span) -> Promise {
        tap(on: .inline) { result in
            guard case .failure(let error) = result else { return }
            span.recordError(error)
            if error is CancellationError { return }
            if let error = error as? any CancellableError, error.isCancelled { return }
            span.setStatus(SpanStatus(code: .error))
        }
        .finally(on: .inline) { span.end() }
    }
}
