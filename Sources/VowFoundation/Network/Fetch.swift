// Requests whose status counts: the body, or why there is none.

public import Foundation
public import Vow

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Fetches bodies over HTTP. A status of 400 or above is a failure, and so is an empty body where one was to come.
///
/// The request is cancelled when its promise is, or loses its last reader.
///
/// ```swift
/// Fetch.json("https://example.org/user/7", as: User.self)
///     .done(on: .main) { show($0) }
///     .catch(on: .main) { (error: FetchError) in show(error) }
/// ```
public enum Fetch {
    /// The promise of the body. It may be empty only where HTTP says that there is none: for the method HEAD and the
    /// statuses 204 and 205.
    public static func request(
        _ request: URLRequest, session: URLSession = .shared,
        cancelledBy token: CancellationToken? = nil
    ) -> Promise<Data, FetchError> {
        fetch(request, session, token) { resolver, body in resolver.fulfill(body) }
    }

    /// The same for the contents of a URL.
    public static func url(
        _ url: URL, session: URLSession = .shared, cancelledBy token: CancellationToken? = nil
    ) -> Promise<Data, FetchError> {
        request(URLRequest(url: url), session: session, cancelledBy: token)
    }

    /// The same for a text; a text that is no URL with a scheme is ``FetchError/invalidLink(_:)``.
    public static func url(
        _ text: String, session: URLSession = .shared, cancelledBy token: CancellationToken? = nil
    ) -> Promise<Data, FetchError> {
        guard let link = link(text) else { return .failure(.invalidLink(text)) }
        return url(link, session: session, cancelledBy: token)
    }

    static func link(_ text: String) -> URL? {
        guard let url = URL(string: text), url.scheme != nil else { return nil }
        return url
    }

    /// Settles by `use` of the body; rejects if there is no body.
    static func fetch<Value: Sendable>(
        _ request: URLRequest, _ session: URLSession, _ token: CancellationToken?,
        use: @escaping @Sendable (PromiseResolver<Value, FetchError>, Data) -> Void
    ) -> Promise<Value, FetchError> {
        let isHead = request.httpMethod == "HEAD"
        return transfer(cancelledBy: token) { _, handler in
            session.dataTask(with: request) { handler(answer($0, $1, $2)) }
        } settle: { resolver, answer in
            do throws(FetchError) {
                use(resolver, try body(of: answer, isHead: isHead))
            } catch .cancelled {
                resolver.cancel()
            } catch {
                resolver.reject(error)
            }
        }
    }

    private static func body(
        of answer: Answer<Data>, isHead: Bool
    ) throws(FetchError) -> Data {
        switch answer {
        case .failure(let error): throw FetchError(sessionError: error)
        case .success(let (data, response)):
            guard let response = response as? HTTPURLResponse else { throw .notHTTP }
            let status = response.statusCode
            if status >= 400 { throw .httpError(status) }
            if data.isEmpty && !isHead && status != 204 && status != 205 { throw .noData }
            return data
        }
    }
}
