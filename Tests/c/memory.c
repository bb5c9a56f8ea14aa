/* Tests chapter 8: an allocator of the program gives every byte, and gets every one back. */
#include "meter.h"

TEST("the allocator gives and gets back every byte that the counters show") {
    long long blocks = atomic_load(&counts.blocks);
    vow_statistics before = harness_stats();
    long long bytes = atomic_load(&counts.bytes);
    CHECK_INT_EQ(before.bytes, bytes);
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_value text = vow_string("a text of some length", VOW_NUL_TERMINATED);
    vow_value list = vow_list(&text, 1);
    CHECK_INT_EQ(atomic_load(&counts.blocks) - blocks, 3);
    CHECK_INT_EQ(harness_stats().bytes, atomic_load(&counts.bytes));
    CHECK(vow_resolve(resolver, list));
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    CHECK_INT_EQ(atomic_load(&counts.blocks), blocks + (keeps_freed ? 3 : 0));
    CHECK_INT_EQ(harness_stats().bytes, before.bytes);
}

TEST("one promise is one allocation, a link is one, settling and adopting are none") {
    vow_resolver *outer_resolver;
    vow_resolver *inner_resolver;
    vow_promise *outer = vow_promise_create(&outer_resolver);
    vow_promise *inner = vow_promise_create(&inner_resolver);
    long long calls = atomic_load(&counts.calls);
    outer = then_inline(outer, add_one, NULL);
    CHECK_INT_EQ(atomic_load(&counts.calls) - calls, 1);
    CHECK(vow_resolve(outer_resolver, vow_from_promise(inner)));
    CHECK(vow_resolve(inner_resolver, vow_int(1)));
    CHECK_INT_EQ(atomic_load(&counts.calls) - calls, 1);
    vow_resolver_release(outer_resolver);
    vow_resolver_release(inner_resolver);
    CHECK_INT_EQ(int_of(outer), 2);
}

TEST("setting an allocator after the first promise is too late") {
    vow_promise_release(fulfilled_int(1));
    CHECK_INT_EQ(vow_set_allocator(&meter_allocator), VOW_EINVAL);
    CHECK_INT_EQ(vow_set_allocator(NULL), VOW_EINVAL);
}
