/* Tests chapter 13: an allocator of the program gives every byte, and gets every one back. */
#include "meter.h"

/* Before main, and so before the allocator is set: what makes no promise, counted value or executor
 * is no first use, after which setting one would be too late. */
static int unset_after(const char *call) {
    int answer = vow_set_allocator(NULL);
    if (answer != 0) {
        printf("# after %s no allocator can be set: %s\n", call, vow_error_name(answer));
    }
    return answer;
}

#define UNSET_AFTER(call) ((void)(call), unset_after(#call))

static int early_answers = 1;

__attribute__((constructor)) static void call_early(void) {
    char text[16];
    int bad = 0;
    size_t length = 0;
    vow_value number = vow_int(1);
    bad += UNSET_AFTER(vow_value_retain(vow_none()).kind);
    bad += UNSET_AFTER(vow_value_retain(number).kind);
    vow_value_release(vow_none());
    bad += unset_after("vow_value_release(vow_none())");
    vow_value_release(number);
    bad += unset_after("vow_value_release(number)");
    vow_value_release(vow_pointer(text));
    bad += unset_after("vow_value_release(vow_pointer(text))");
    bad += UNSET_AFTER(vow_string_bytes(number, &length));
    bad += UNSET_AFTER(vow_object_pointer(number, NULL));
    bad += UNSET_AFTER(vow_list_count(number));
    bad += UNSET_AFTER(vow_list_at(number, 0).kind);
    bad += UNSET_AFTER(vow_error_code(number));
    bad += UNSET_AFTER(vow_error_message(number));
    bad += UNSET_AFTER(vow_error_payload(number).kind);
    bad += UNSET_AFTER(vow_value_describe(number, text, sizeof text));
    bad += UNSET_AFTER(vow_error_name(VOW_EINVAL));
    bad += UNSET_AFTER(vow_version());
    bad += UNSET_AFTER(harness_stats().bytes);
    vow_promise_release(NULL);
    vow_resolver_release(NULL);
    vow_executor_release(NULL);
    bad += unset_after("releasing NULL");
    early_answers = bad;
}

TEST("calls with uncounted values or NULL are no first use: an allocator can be set after them") {
    CHECK_INT_EQ(early_answers, 0);
}

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

TEST("with an allocator of the program no thread keeps memory of freed promises") {
    vow_promise *made[100];
    for (int i = 0; i < 100; i++) {
        made[i] = fulfilled_int(i);
    }
    long long blocks = atomic_load(&counts.blocks);
    for (int i = 0; i < 100; i++) {
        vow_promise_release(made[i]);
    }
    CHECK_INT_EQ(harness_stats().spare, 0);
    CHECK_INT_EQ(atomic_load(&counts.blocks), blocks - (keeps_freed ? 0 : 100));
}

TEST("setting an allocator after the first promise is too late") {
    vow_promise_release(fulfilled_int(1));
    CHECK_INT_EQ(vow_set_allocator(&meter_allocator), VOW_EINVAL);
    CHECK_INT_EQ(vow_set_allocator(NULL), VOW_EINVAL);
}
