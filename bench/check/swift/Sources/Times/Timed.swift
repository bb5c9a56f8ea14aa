// What is measured, and what it is compared with.

struct Timed {
    let title: String
    /// What it is compared with, and how many times as long it may take.
    let base: String
    let limit: Double?
    let items: Int
    let prepare: () -> Void
    let run: () -> Void
    var least = Double.infinity

    init(
        _ title: String, beside base: String = "", atMost limit: Double? = nil, _ items: Int,
        prepare: @escaping () -> Void = {}, _ run: @escaping () -> Void
    ) {
        self.title = title
        self.base = base
        self.limit = limit
        self.items = items
        self.prepare = prepare
        self.run = run
    }
}
