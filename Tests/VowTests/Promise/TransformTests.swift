// Tests Promise+Transform.swift and Promise+Filter.swift.

import Vow
import XCTest

private struct Refusal: PromiseFailure, Equatable {
    let text: String

    init(_ text: String) { self.text = text }
    init(promiseError error: any Error) { text = "library: \(error)" }
}

final class TransformTests: VowTest {
    private let three = Promise<Int, any Error>.value(3)
    private let failed = Promise<Int, any Error>.failure(TestError.one)

    func testAResultBecomesAValue() throws {
        let turned = failed.transform { result in
            switch result {
            case .success: "a value"
            case .failure(let error): "\(error)"
            }
        }
        XCTAssertEqual(try turned.wait(), "one")
        XCTAssertEqual(try three.transform { try $0.get() + 1 }.wait(), 4)
    }

    func testAResultBecomesAPromise() throws {
        let turned: Promise<Int, any Error> = failed.transform {
            (result: Result<Int, any Error>) -> Promise<Int, any Error> in
            guard case .failure = result else { return .failure(TestError.two) }
            return .value(5)
        }
        XCTAssertEqual(try turned.wait(), 5)
    }

    func testAFailureChangesItsType() {
        let typed: Promise<Int, Refusal> = failed.mapError { Refusal("\($0)") }
        XCTAssertEqual(typed.wait(for: Refusal.self), Refusal("one"))
    }

    func testAnErasedFailureIsTheSamePromise() throws {
        let typed = Promise<Int, Refusal>.failure(Refusal("x"))
        XCTAssertEqual(failure(of: typed.eraseFailure()) as? Refusal, Refusal("x"))
        XCTAssertEqual(
            try Guarantee.value(1).setFailureType(to: Refusal.self).map { $0 + 1 }.wait(), 2)
    }

    func testFilterValidateAndCompactMapRejectWhatDoesNotFit() throws {
        XCTAssertEqual(try three.filter { $0 > 2 }.wait(), 3)
        guard
            case PromiseError.noSuchElement? = failure(of: three.filter { $0 > 3 }) as? PromiseError
        else { return XCTFail("another failure") }
        XCTAssertEqual(
            failure(of: three.filter(orThrow: TestError.two) { $0 > 3 }) as? TestError, .two)
        XCTAssertEqual(try three.compactMap { Optional($0) }.wait(), 3)
        guard
            case PromiseError.noSuchElement? = failure(of: three.compactMap { _ in Int?.none })
                as? PromiseError
        else { return XCTFail("another failure") }
        XCTAssertEqual(failure(of: failed.filter { _ in true }) as? TestError, .one)
        try three.asVoid().wait()
    }

    func testATypedFailureStandsForTheLibrarysOwn() {
        let (promise, resolver) = Promise<Int, Refusal>.pending()
        withExtendedLifetime(resolver) { _ = promise.cancel() }
        XCTAssertEqual(promise.error?.text, "library: CancellationError()")
        let broken = Promise<Int, Refusal> { _ in }
        XCTAssertTrue(broken.error?.text.contains("without resolving") ?? false)
    }
}

extension Promise {
    fileprivate func wait(for _: Failure.Type) -> Failure? {
        _ = try? wait()
        return error
    }
}
