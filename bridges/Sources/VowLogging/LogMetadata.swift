// What log lines say of the chain in which they are written.

public import Instrumentation
public import Logging
import VowInstrumentation

extension InstrumentationContext {
    /// What ``Logging/Logger/MetadataProvider/promises`` gives in this context.
    public var logMetadata: Logger.Metadata {
        get { self[LogMetadataKey.self] ?? [:] }
        set { self[LogMetadataKey.self] = newValue }
    }
}

private enum LogMetadataKey: InstrumentationContextKey {
    typealias Value = Logger.Metadata
    static var nameOverride: String? { "log-metadata" }
}

/// Calls `body`, in which loggers and the handlers that are attached say this as well, with a logger whose provider is
/// ``Logging/Logger/MetadataProvider/promises``.
///
/// ```swift
/// withLogMetadata(["request": "\(number)"]) {
///     fetchPage("/").done { page in logger.info("\(page.count) bytes") }  // request=7
/// }
/// ```
@discardableResult
public func withLogMetadata<Result, Failure: Error>(
    _ metadata: Logger.Metadata, _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    var context = InstrumentationContext.carried ?? .topLevel
    context.logMetadata.merge(metadata) { $1 }
    return try withCarriedContext(context, body)
}

extension Logger.MetadataProvider {
    /// The metadata of ``withLogMetadata(_:_:)``, in handlers that were attached there and in what runs there.
    public static let promises = Logger.MetadataProvider {
        InstrumentationContext.carried?.logMetadata ?? [:]
    }

    /// A provider that looks for the task's context, as those of tracers do, in the context of the handler that runs.
    public static func carried(_ provider: Logger.MetadataProvider) -> Logger.MetadataProvider {
        Logger.MetadataProvider { withCarriedContext { provider.get() } }
    }
}
