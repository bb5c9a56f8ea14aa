// The same through C's functions.

import CVow

nonisolated func cCreate(_ count: Int) {
    for index in 0..<count {
        var resolver: OpaquePointer?
        let promise = vow_promise_create(&resolver)
        precondition(vow_resolve(resolver!, vow_int(Int64(index))))
        vow_resolver_release(resolver)
        vow_promise_release(promise)
    }
}

nonisolated func cChain(_ links: Int, on executor: OpaquePointer?) {
    var resolver: OpaquePointer?
    var last = vow_promise_create(&resolver)
    for _ in 0..<links {
        var reaction = vow_reaction()
        reaction.size = MemoryLayout<vow_reaction>.size
        reaction.on_fulfilled = { input, _ in vow_int(input.as.integer + 1) }
        reaction.executor = executor
        last = vow_then_with(last, &reaction)
    }
    vow_resolve(resolver!, vow_int(0))
    vow_resolver_release(resolver)
    var value = vow_none()
    let state = vow_await(last, Int64(VOW_FOREVER), &value)
    precondition(state == VOW_FULFILLED && value.as.integer == Int64(links))
    vow_promise_release(last)
}

nonisolated func cAll(_ count: Int) {
    var promises: [OpaquePointer?] = []
    var resolvers: [OpaquePointer?] = []
    promises.reserveCapacity(count)
    resolvers.reserveCapacity(count)
    for _ in 0..<count {
        var resolver: OpaquePointer?
        promises.append(vow_promise_create(&resolver))
        resolvers.append(resolver)
    }
    let together = vow_all(promises, count)
    for (index, resolver) in resolvers.enumerated() {
        vow_resolve(resolver!, vow_int(Int64(index)))
        vow_resolver_release(resolver)
    }
    var list = vow_none()
    precondition(vow_promise_peek(together, &list))
    var sum: Int64 = 0
    for index in 0..<count { sum += vow_list_at(list, index).as.integer }
    precondition(sum == Int64(count * (count - 1) / 2))
    vow_promise_release(together)
}
