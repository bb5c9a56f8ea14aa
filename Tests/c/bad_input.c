/* Tests bad input: every pointer NULL, absurd sizes, wrong kinds, unknown flags. Each call gets a
 * clear answer, says which function and which argument, and releases what it consumed. */
#include "tools.h"

/* NULL in a way that compilers do not refuse as an argument that must not be NULL. */
static vow_promise *no_promise;
static vow_resolver *no_resolver;
static vow_executor *no_executor;
static vow_handler no_handler;
static const vow_class *no_class;
static const vow_reaction *no_reaction;
static const vow_executor_class *no_executor_class;
static const char *no_text;
static vow_statistics *no_statistics;
static vow_resolver **no_place;

/* A value (consumed) that is an error VOW_EINVAL and names function and argument. */
static void check_value(vow_value value, const char *function, const char *argument) {
    CHECK_INT_EQ(value.kind, VOW_ERROR);
    CHECK_INT_EQ(vow_error_code(value), VOW_EINVAL);
    CHECK_STR_EQ(vow_error_domain(value), "vow");
    CHECK_STR_HAS(vow_error_message(value), function);
    CHECK_STR_HAS(vow_error_message(value), argument);
    vow_value_release(value);
}

/* The same for a promise (consumed). */
static void check_promise(vow_promise *promise, const char *function, const char *argument) {
    vow_value error = vow_none();
    if (CHECK(promise != NULL)) {
        CHECK_INT_EQ(vow_await(promise, 0, &error), VOW_REJECTED);
        check_value(error, function, argument);
        vow_promise_release(promise);
    }
}

TEST("values: a NULL where something must be is an error VOW_EINVAL") {
    counter left = {0};
    check_value(vow_string(no_text, 5), "vow_string", "utf8");
    check_value(vow_string(no_text, VOW_NUL_TERMINATED), "vow_string", "utf8");
    check_value(vow_list(NULL, 3), "vow_list", "items");
    check_value(vow_list(NULL, SIZE_MAX), "vow_list", "items");
    check_value(vow_error(no_text, 1, "message"), "vow_error", "domain");
    check_value(vow_error(no_text, 1, NULL), "vow_error", "domain");
    check_value(vow_object(&left, no_class), "vow_object", "cls");
    check_value(vow_from_promise(no_promise), "vow_from_promise", "promise");
    CHECK_INT_EQ(atomic_load(&left.ends), 0);
}

TEST("values: what a failing constructor consumed is released") {
    counter object = {0};
    vow_value payload = vow_object(&object, &counter_class);
    check_value(vow_error_wrap(no_text, 1, "message", payload), "vow_error_wrap", "domain");
    CHECK_INT_EQ(atomic_load(&object.ends), 1);
}

TEST("values: a class of a wrong size makes no object and leaves the pointer alone") {
    static const size_t sizes[3] = {0, 1, sizeof(vow_class) - 1};
    for (int i = 0; i < 3; i++) {
        vow_class wrong = counter_class;
        counter left = {0};
        wrong.size = sizes[i];
        check_value(vow_object(&left, &wrong), "vow_object", "cls");
        CHECK_INT_EQ(atomic_load(&left.ends), 0);
    }
}

TEST("values: an absurd length is out of memory") {
    static const size_t lengths[3] = {SIZE_MAX - 1, SIZE_MAX / 2 + 1, SIZE_MAX - 64};
    for (int i = 0; i < 3; i++) {
        vow_value value = vow_string("short", lengths[i]);
        CHECK_INT_EQ(value.kind, VOW_ERROR);
        CHECK_INT_EQ(vow_error_code(value), VOW_ENOMEM);
        vow_value_release(value);
    }
}

/* Counts of which no array can exist: their bytes overflow, as a signed number or at all, or are
 * more than an address says. */
static const size_t absurd[] = {SIZE_MAX,     SIZE_MAX - 1, SIZE_MAX / 2 + 1, SIZE_MAX / 2,
                                SIZE_MAX / 4, SIZE_MAX / 8, (size_t)1 << 59,  (size_t)1 << 56};
#define ABSURD (sizeof absurd / sizeof *absurd)

TEST("values: a list of an absurd count is out of memory, and its items are left alone") {
    counter object = {0};
    vow_value item = vow_object(&object, &counter_class);
    for (size_t i = 0; i < ABSURD; i++) {
        vow_value list = vow_list(&item, absurd[i]);
        CHECK_INT_EQ(list.kind, VOW_ERROR);
        CHECK_INT_EQ(vow_error_code(list), VOW_ENOMEM);
        check_value(vow_list(NULL, absurd[i]), "vow_list", "items");
    }
    CHECK_INT_EQ(atomic_load(&object.ends), 0);
    vow_value_release(item);
}

static vow_value first_of_two(vow_value accumulated, vow_value item, void *context) {
    (void)item;
    (void)context;
    return vow_value_retain(accumulated);
}

static vow_promise *some_one(vow_promise *const *promises, size_t count) {
    return vow_some(promises, count, 1);
}

static vow_promise *reduced(vow_promise *const *promises, size_t count) {
    return vow_reduce(promises, count, vow_string("consumed", 8), first_of_two, NULL);
}

static vow_promise *reduced_by_nothing(vow_promise *const *promises, size_t count) {
    /* Compilers see a literal NULL. */
    vow_reducer volatile nothing = NULL;
    return vow_reduce(promises, count, vow_string("consumed", 8), nothing, NULL);
}

TEST("combinators: no array, or an absurd count, is an answer, and no promise is touched") {
    static const struct {
        const char *name;
        vow_promise *(*combine)(vow_promise *const *promises, size_t count);
    } all[] = {{"vow_all", vow_all},   {"vow_all_settled", vow_all_settled},
               {"vow_any", vow_any},   {"vow_race", vow_race},
               {"vow_some", some_one}, {"vow_reduce", reduced}};
    vow_promise *member = fulfilled_int(1);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        for (size_t j = 0; j < ABSURD; j++) {
            check_promise(all[i].combine(NULL, absurd[j]), all[i].name, "promises");
            CHECK_INT_EQ(code_of(all[i].combine(&member, absurd[j])), VOW_ENOMEM);
        }
        check_promise(all[i].combine(NULL, 1), all[i].name, "promises");
    }
    for (size_t j = 0; j < ABSURD; j++) {
        check_promise(reduced_by_nothing(NULL, absurd[j]), "vow_reduce", "fn");
        check_promise(reduced_by_nothing(&member, absurd[j]), "vow_reduce", "fn");
    }
    CHECK_INT_EQ(int_of(member), 1);
}

TEST("cancellation: no tokens, or an absurd count of them, make no linked source") {
    vow_token *none = NULL;
    CHECK(vow_cancel_source_create_linked(NULL, 1) == NULL);
    for (size_t i = 0; i < ABSURD; i++) {
        CHECK(vow_cancel_source_create_linked(NULL, absurd[i]) == NULL);
        CHECK(vow_cancel_source_create_linked(&none, absurd[i]) == NULL);
    }
    vow_cancel_source *source = vow_cancel_source_create_linked(NULL, 0);
    CHECK(source != NULL);
    vow_cancel_source_release(source);
    source = vow_cancel_source_create_linked(&none, 1);
    CHECK(source != NULL);
    vow_cancel_source_release(source);
}

TEST("combinators: an absurd number of items under way or wanted is as many as there are") {
    vow_value items[2] = {vow_int(1), vow_int(2)};
    vow_promise *members[2] = {fulfilled_int(1), fulfilled_int(2)};
    for (size_t i = 0; i < ABSURD; i++) {
        CHECK_INT_EQ(code_of(vow_map(vow_list(items, 2), add_one, NULL, absurd[i])), 0);
        vow_promise_retain(members[0]);
        vow_promise_retain(members[1]);
        CHECK_INT_EQ(code_of(vow_some(members, 2, absurd[i])), VOW_EAGGREGATE);
    }
    vow_promise_release(members[0]);
    vow_promise_release(members[1]);
}

TEST("values: a description without a buffer is refused, unless it has no size") {
    char byte = 'x';
    CHECK_INT_EQ(vow_value_describe(vow_int(1), NULL, 5), VOW_EINVAL);
    CHECK(vow_value_describe(vow_int(1), NULL, 0) > 0);
    CHECK(vow_value_describe(vow_int(1), &byte, 0) > 0);
    CHECK_INT_EQ(byte, 'x');
}

/* Calls every reader with a value and checks that it answers nothing. */
static void check_unreadable(vow_value value) {
    size_t length = 9;
    CHECK(vow_string_bytes(value, &length) == NULL && length == 0);
    CHECK(vow_object_pointer(value, NULL) == NULL);
    CHECK_INT_EQ(vow_list_count(value), 0);
    CHECK_INT_EQ(vow_list_at(value, 0).kind, VOW_NONE);
    CHECK(vow_error_domain(value) == NULL && vow_error_message(value) == NULL);
    CHECK_INT_EQ(vow_error_code(value), 0);
    CHECK_INT_EQ(vow_error_payload(value).kind, VOW_NONE);
}

TEST("values: an unknown kind is read, counted and described without harm") {
    vow_value odd = vow_int(0x4141414141414141);
    odd.kind = 4000000000u;
    char text[64] = "";
    check_unreadable(odd);
    vow_value_release(vow_value_retain(odd));
    CHECK(vow_value_describe(odd, text, sizeof text) > 0);
    vow_promise *promise = vow_promise_with(odd);
    CHECK(vow_promise_state(promise) != VOW_PENDING);
    vow_value out;
    CHECK(vow_promise_peek(promise, &out));
    vow_promise_release(promise);
}

TEST("values: a counted kind without a box is read, counted and described without harm") {
    for (vow_kind kind = VOW_STRING; kind <= VOW_PROMISE; kind++) {
        vow_value empty = vow_pointer(NULL);
        char text[64] = "";
        empty.kind = kind;
        check_unreadable(empty);
        vow_value_release(vow_value_retain(empty));
        CHECK(vow_value_describe(empty, text, sizeof text) > 0);
        vow_promise *promise = vow_promise_with(empty);
        CHECK(vow_promise_state(promise) != VOW_PENDING);
        vow_value out;
        CHECK(vow_promise_peek(promise, &out));
        vow_promise_release(promise);
    }
}

TEST("retaining and releasing NULL does nothing") {
    CHECK(vow_promise_retain(NULL) == NULL);
    CHECK(vow_resolver_retain(NULL) == NULL);
    CHECK(vow_executor_retain(NULL) == NULL);
    vow_promise_release(NULL);
    vow_resolver_release(NULL);
    vow_executor_release(NULL);
}

TEST("promises: a NULL promise is pending and has nothing to see") {
    vow_value out = vow_int(1);
    CHECK_INT_EQ(vow_promise_state(no_promise), VOW_PENDING);
    CHECK(!vow_promise_peek(no_promise, &out));
    CHECK_INT_EQ(out.kind, VOW_NONE);
    CHECK(!vow_promise_peek(no_promise, NULL));
}

TEST("promises: without a place for the resolver the promise is rejected") {
    check_promise(vow_promise_create(no_place), "vow_promise_create", "resolver");
}

TEST("promises: a NULL resolver settles nothing and the value is released") {
    counter object = {0};
    CHECK(!vow_resolve(no_resolver, vow_object(&object, &counter_class)));
    CHECK(!vow_reject(no_resolver, vow_object(&object, &counter_class)));
    CHECK_INT_EQ(atomic_load(&object.ends), 2);
}

TEST("chaining: a NULL promise or a NULL handler is refused by name") {
    check_promise(vow_then(no_promise, add_one, NULL), "vow_then", "promise");
    check_promise(vow_catch(no_promise, add_one, NULL), "vow_catch", "promise");
    check_promise(vow_finally(no_promise, add_one, NULL), "vow_finally", "promise");
    check_promise(vow_then(fulfilled_int(1), no_handler, NULL), "vow_then", "fn");
    check_promise(vow_catch(fulfilled_int(1), no_handler, NULL), "vow_catch", "fn");
    check_promise(vow_finally(fulfilled_int(1), no_handler, NULL), "vow_finally", "fn");
    CHECK(vow_promise_state(no_promise) == VOW_PENDING);
}

TEST("chaining: the promise that a failing call consumed is released") {
    counter object = {0};
    vow_promise *promise = vow_promise_with(vow_object(&object, &counter_class));
    check_promise(vow_then(promise, no_handler, NULL), "vow_then", "fn");
    CHECK_INT_EQ(atomic_load(&object.ends), 1);
    promise = vow_promise_with(vow_object(&object, &counter_class));
    check_promise(vow_then_with(promise, no_reaction), "vow_then_with", "reaction");
    CHECK_INT_EQ(atomic_load(&object.ends), 2);
}

static vow_reaction reaction_of(counter *context) {
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = counter_run;
    reaction.context = context;
    reaction.destroy = counter_end;
    reaction.executor = vow_executor_inline();
    return reaction;
}

TEST("chaining: a wrong reaction is refused by name, and its context is destroyed") {
    counter context = {0};
    vow_reaction reaction = reaction_of(&context);
    check_promise(vow_then_with(no_promise, &reaction), "vow_then_with", "promise");
    CHECK_INT_EQ(atomic_load(&context.ends), 1);
    reaction.flags = 2;
    check_promise(vow_then_with(fulfilled_int(1), &reaction), "vow_then_with", "flags");
    CHECK_INT_EQ(atomic_load(&context.ends), 2);
    reaction.flags = UINT32_MAX;
    check_promise(vow_then_with(fulfilled_int(1), &reaction), "vow_then_with", "flags");
    CHECK_INT_EQ(atomic_load(&context.ends), 3);
    CHECK_INT_EQ(atomic_load(&context.runs), 0);
}

TEST("chaining: a reaction of a wrong size is refused by name") {
    static const size_t sizes[3] = {0, 8, sizeof(vow_reaction) - 1};
    for (int i = 0; i < 3; i++) {
        counter context = {0};
        vow_reaction reaction = reaction_of(&context);
        reaction.size = sizes[i];
        check_promise(vow_then_with(fulfilled_int(1), &reaction), "vow_then_with", "size");
        CHECK_INT_EQ(atomic_load(&context.runs), 0);
    }
}

TEST("waiting: NULL and negative time-outs are refused") {
    vow_value out = vow_int(1);
    CHECK_INT_EQ(vow_await(no_promise, 0, &out), VOW_EINVAL);
    CHECK_INT_EQ(out.kind, VOW_NONE);
    CHECK_INT_EQ(vow_await(no_promise, VOW_FOREVER, NULL), VOW_EINVAL);
    vow_promise *promise = fulfilled_int(1);
    out = vow_int(1);
    CHECK_INT_EQ(vow_await(promise, -2, &out), VOW_EINVAL);
    CHECK_INT_EQ(out.kind, VOW_NONE);
    CHECK_INT_EQ(vow_await(promise, INT64_MIN, NULL), VOW_EINVAL);
    vow_promise_release(promise);
}

TEST("executors: what cannot be made is NULL, and the context is destroyed") {
    vow_executor_class wrong;
    counter context = {0};
    memset(&wrong, 0, sizeof wrong);
    wrong.size = sizeof wrong;
    wrong.destroy = counter_end;
    CHECK(vow_executor_custom(no_executor_class, &context) == NULL);
    CHECK_INT_EQ(atomic_load(&context.ends), 0);
    CHECK(vow_executor_custom(&wrong, &context) == NULL);
    CHECK_INT_EQ(atomic_load(&context.ends), 1);
}

static void never_submit(void *context, void (*run)(void *work), void *work) {
    (void)context;
    (void)run;
    (void)work;
    CHECK(!"an executor that was refused got work");
}

TEST("executors: a wrong size or other flags are refused") {
    counter context = {0};
    vow_executor_class wrong = {sizeof wrong, never_submit, NULL, counter_end, 0};
    static const uint32_t flags[3] = {VOW_BARRIER, 4, UINT32_MAX};
    for (int i = 0; i < 3; i++) {
        wrong.flags = flags[i];
        CHECK(vow_executor_custom(&wrong, &context) == NULL);
        CHECK_INT_EQ(atomic_load(&context.ends), i + 1);
    }
    wrong.flags = 0;
    wrong.size = 0;
    CHECK(vow_executor_custom(&wrong, &context) == NULL);
    wrong.size = sizeof wrong - 1;
    CHECK(vow_executor_custom(&wrong, &context) == NULL);
}

TEST("executors: a NULL one means none given") {
    CHECK_INT_EQ(int_of(vow_async(no_executor, add_one, NULL)), 1);
    vow_executor_set_default(no_executor);
    CHECK(vow_executor_current() == vow_executor_pool());
    check_promise(vow_async(NULL, no_handler, NULL), "vow_async", "fn");
    check_promise(vow_async(vow_executor_inline(), no_handler, NULL), "vow_async", "fn");
}

TEST("executors: a serial one needs no label, and takes a very long one") {
    char label[5000];
    memset(label, 'l', sizeof label);
    label[sizeof label - 1] = 0;
    const char *labels[3] = {NULL, "", label};
    for (int i = 0; i < 3; i++) {
        vow_executor *serial = vow_executor_serial(labels[i]);
        CHECK(serial != NULL);
        CHECK_INT_EQ(int_of(then_on(serial, fulfilled_int(1), add_one, NULL)), 2);
        vow_executor_release(serial);
    }
}

TEST("statistics: NULL and a size too small are refused, a shorter struct is filled as far") {
    vow_statistics stats;
    CHECK_INT_EQ(vow_stats(no_statistics), VOW_EINVAL);
    memset(&stats, 0x55, sizeof stats);
    stats.size = 0;
    CHECK_INT_EQ(vow_stats(&stats), VOW_EINVAL);
    stats.size = offsetof(vow_statistics, live);
    uint64_t live = stats.live;
    CHECK_INT_EQ(vow_stats(&stats), 0);
    CHECK(stats.live == live && stats.created != live);
}

TEST("memory: NULL functions or a late call are refused") {
    static const vow_allocator nothing;
    CHECK_INT_EQ(vow_set_allocator(&nothing), VOW_EINVAL);
}
