// Bodies as values: JSON.

public import Foundation
public import Vow

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension Fetch {
    /// The promise of the value in the body. A body without such a value is ``FetchError/parseError(_:)``, an empty one
    /// ``FetchError/noData``, whatever the status.
    ///
    /// - Parameter executor: decodes the value.
    public static func json<Value: Decodable & Sendable>(
        _ request: URLRequest, as _: Value.Type = Value.self, session: URLSession = .shared,
        on executor: PromiseExecutor? = nil, cancelledBy token: CancellationToken? = nil,
        decoder: JSONDecoder = JSONDecoder()
    ) -> Promise<Value, FetchError> {
        fetch(request, session, token) { resolver, data in
            resolver.follow(
                Promise(on: executor ?? .current) { () throws(FetchError) in
                    try value(of: data, decoder)
                })
        }
    }

    /// The same for the contents of a URL.
    public static func json<Value: Decodable & Sendable>(
        _ url: URL, as type: Value.Type = Value.self, session: URLSession = .shared,
        on executor: PromiseExecutor? = nil, cancelledBy token: CancellationToken? = nil,
        decoder: JSONDecoder = JSONDecoder()
    ) -> Promise<Value, FetchError> {
        json(
            URLRequest(url: url), as: type, session: session, on: executor, cancelledBy: token,
            decoder: decoder)
    }

    /// The same for a text; a text that is no URL with a scheme is ``FetchError/invalidLink(_:)``.
    public static func json<Value: Decodable & Sendable>(
        _ text: String, as type: Value.Type = Value.self, session: URLSession = .shared,
        on executor: PromiseExecutor? = nil, cancelledBy token: CancellationToken? = nil,
        decoder: JSONDecoder = JSONDecoder()
    ) -> Promise<Value, FetchError> {
        guard let link = link(text) else { return .failure(.invalidLink(text)) }
        return json(
            link, as: type, session: session, on: executor, cancelledBy: token, decoder: decoder)
    }

    private static func value<Value: Decodable>(
        of data: Data, _ decoder: JSONDecoder
    ) throws(FetchError) -> Value {
        if data.isEmpty { throw .noData }
        do { return try decoder.decode(Value.self, from: data) } catch { throw .parseError(error) }
    }
}
