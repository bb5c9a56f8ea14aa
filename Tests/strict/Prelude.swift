// What the programs in the tables beside this file take for granted.

import Dispatch
import Foundation
import Synchronization
import Vow
import VowFoundation

enum MyErr: PromiseFailure, Equatable {
    case refused, offline, library

    init(promiseError _: any Error) { self = .library }
}
enum OtherErr: PromiseFailure {
    case other, library

    init(promiseError _: any Error) { self = .library }
}
/// No promise can be cancelled that fails with this only.
enum Plain: Error { case plain }

enum Aware: PromiseFailure {
    case own, library

    init(promiseError _: any Error) { self = .library }
}

func step() -> Promise<Int, any Error> { .value(1) }
func save() -> Promise<Void, MyErr> { .failure(.refused) }
func load(_ number: Int) -> Promise<Int, MyErr> { .value(number) }
func fetch(_ path: String) -> Promise<String, any Error> { .value(path) }
func sure(_ number: Int) -> Guarantee<Int> { .value(number) }
func plusOne(_ number: Int) async -> Int { number + 1 }

/// Not Sendable.
final class Settings {
    var name = "settings"
}

@MainActor final class Screen {
    var title = ""

    func show(_ title: String) { self.title = title }
    func shown() -> String { title }
}

actor Ledger {
    var lines: [Int] = []

    func write(_ line: Int) { lines.append(line) }
    func count() -> Int { lines.count }
}

final class Lines: Sendable {
    private let lines = Mutex<[String]>([])

    var text: String { lines.withLock { $0.joined(separator: " ") } }
    func write(_ line: String) { lines.withLock { $0.append(line) } }
}

/// Says when its text is made.
struct Talkative: Error, CustomStringConvertible {
    static let made = Mutex(0)

    var description: String {
        Talkative.made.withLock { $0 += 1 }
        return "talkative"
    }
}

/// A library's own word for being cancelled.
enum TransferError: Error, CancellableError {
    case stopped, lost

    var isCancelled: Bool { self == .stopped }
}

enum Request { @TaskLocal static var name = "none" }
