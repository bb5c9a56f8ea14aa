// Chapter 11 of vow.h: context.

import CVow

@_cdecl("vow_context_set") @implementation
public func vow_context_set(_ context: vow_value) {
    let thread = currentThread()
    checkValue(context, "vow_context_set")
    setContext(context, thread)
    leave(thread)
}

@_cdecl("vow_context_get") @implementation
public func vow_context_get() -> vow_value {
    var context = currentThread().pointee.context
    context.reserved &= ~Surroundings.scopeMark
    return context
}
