// The first to settle, however: race.

import CVow

extension Promise {
    /// Settles as the first promise to settle does, with a value or a failure.
    ///
    /// The others are released at once, and cancelled unless they have another reader. Of no
    /// promises: ``PromiseError/invalidArgument(_:)``, because no reader should wait for ever.
    public static func race(_ promises: some Sequence<Promise>) -> Promise {
        combined(promises, vow_race)
    }

    /// The same of promises that are written out.
    public static func race(_ first: Promise, _ others: Promise...) -> Promise {
        race([first] + others)
    }
}
