// A closure as the context of a C function that is called once.

typealias HookFunction = @convention(c) @Sendable (UnsafeMutableRawPointer?) -> Void

final class HookClosure: Sendable {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    func retained() -> UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    static let call: HookFunction = { context in
        guard let context else { return }
        Unmanaged<HookClosure>.fromOpaque(context).takeUnretainedValue().action()
    }

    static let release: HookFunction = { context in
        guard let context else { return }
        Unmanaged<HookClosure>.fromOpaque(context).release()
    }
}
