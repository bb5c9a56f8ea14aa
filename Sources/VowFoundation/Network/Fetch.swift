// Requests whose status counts: the body, or why there is none.

public import Foundation
public import Vow

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Fetches bodies over HTTP. A status of 400 or above is a failure, and so is an empty body where one was to come.
///
/// The request is cancelled when its promise is, and when nobody is left who could read it.
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
        session.promise(for: request, cancelledBy: token)
            .transform(on: .inline) { result throws(FetchError) in
                switch result {
                case .success(let (data, response)):
                    try body(data, of: response, isHead: request.httpMethod == "HEAD")
                case .failure(let error): throw FetchError(sessionError: error)
                }
            }
    }

    /// The same for the contents of a URL.
    public static func url(
        _ url: URL, session: URLSession = .shared, cancelledBy token: CancellationToken? = nil
    ) -> Promise<Data, FetchError> {
        request(URLRequest(url: url), session: session, cancelledBy: token)
    }

    /// The same for a text, which ``FetchError/invalidLink(_:)`` tells if it is no URL with a scheme.
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

    private static func body(
        _ data: Data, of response: URLResponse, isHead: Bool
    ) throws(FetchError) -> Data {
        guard let response = response as? HTTPURLResponse else { throw .notHTTP }
        let status = response.statusCode
        if status >= 400 { throw .httpError(status) }
        if data.isEmpty && !isHead && status != 204 && status != 205 { throw .noData }
        return data
    }
}
