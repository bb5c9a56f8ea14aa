/* Tests of combinators: many promises as one. */
#include "meter.h"
#include "small_stack.h"

/* Promises that the test settles by their places. */
enum { MOST = 8 };
typedef struct cast {
    vow_promise *promises[MOST];
    vow_resolver *resolvers[MOST];
    atomic_int stopped[MOST];
    int count;
} cast;

static void note_stop(void *context) {
    atomic_fetch_add((atomic_int *)context, 1);
}

static void cast_make(cast *self, int count) {
    memset(self, 0, sizeof *self);
    self->count = count;
    for (int i = 0; i < count; i++) {
        self->promises[i] = vow_promise_create(&self->resolvers[i]);
        CHECK_INT_EQ(vow_resolver_on_cancel(self->resolvers[i], note_stop, &self->stopped[i], NULL),
                     0);
    }
}

static void fulfil(cast *self, int index, int64_t integer) {
    vow_resolve(self->resolvers[index], vow_int(integer));
}

static void fail(cast *self, int index, int64_t code) {
    vow_reject(self->resolvers[index], vow_error("test", code, "as wanted"));
}

static int stops(cast *self) {
    int sum = 0;
    for (int i = 0; i < self->count; i++) {
        sum += atomic_load(&self->stopped[i]);
    }
    return sum;
}

static void cast_end(cast *self) {
    for (int i = 0; i < self->count; i++) {
        vow_resolver_release(self->resolvers[i]);
    }
}

static vow_value peeked(vow_promise *promise) {
    vow_value out;
    CHECK(vow_promise_peek(promise, &out));
    return out;
}

static int64_t item(vow_value list, size_t index) {
    return vow_list_at(list, index).as.integer;
}

static vow_value item_of_payload(vow_promise *promise, size_t index) {
    return vow_list_at(vow_error_payload(peeked(promise)), index);
}

TEST("vow_all gives the values in the order of the promises") {
    cast self;
    cast_make(&self, 3);
    vow_promise *all = vow_all(self.promises, 3);
    fulfil(&self, 2, 12);
    fulfil(&self, 0, 10);
    CHECK_INT_EQ(vow_promise_state(all), VOW_PENDING);
    fulfil(&self, 1, 11);
    CHECK_INT_EQ(vow_promise_state(all), VOW_FULFILLED);
    CHECK_INT_EQ(vow_list_count(peeked(all)), 3);
    for (size_t i = 0; i < 3; i++) {
        CHECK_INT_EQ(item(peeked(all), i), 10 + (int64_t)i);
    }
    vow_promise_release(all);
    CHECK_INT_EQ(stops(&self), 0);
    cast_end(&self);
}

TEST("vow_all is rejected with the first error, its place, and leaves the others") {
    cast self;
    cast_make(&self, 3);
    vow_promise *kept = vow_promise_retain(self.promises[2]);
    vow_promise *all = vow_all(self.promises, 3);
    fail(&self, 1, 7);
    CHECK_INT_EQ(vow_promise_state(all), VOW_REJECTED);
    CHECK_INT_EQ(vow_error_code(peeked(all)), 7);
    CHECK_STR_EQ(vow_error_domain(peeked(all)), "test");
    CHECK_STR_EQ(vow_error_message(peeked(all)), "as wanted");
    CHECK_INT_EQ(vow_error_index(peeked(all)), 1);
    char text[100];
    vow_value_describe(peeked(all), text, sizeof text);
    CHECK_STR_EQ(text, "error test 7: as wanted (member 1)");
    CHECK_INT_EQ(atomic_load(&self.stopped[0]), 1);
    CHECK_INT_EQ(atomic_load(&self.stopped[2]), 0);
    CHECK_INT_EQ(vow_promise_state(kept), VOW_PENDING);
    vow_promise_release(kept);
    CHECK_INT_EQ(atomic_load(&self.stopped[2]), 1);
    vow_promise_release(all);
    cast_end(&self);
}

TEST("members that are settled already decide at once") {
    cast self;
    cast_make(&self, 4);
    fail(&self, 1, 5);
    fail(&self, 3, 6);
    vow_promise *all = vow_all(self.promises, 4);
    CHECK_INT_EQ(vow_error_code(peeked(all)), 5);
    CHECK_INT_EQ(vow_error_index(peeked(all)), 1);
    CHECK_INT_EQ(stops(&self), 2);
    vow_promise_release(all);
    cast_end(&self);
}

TEST("the same promise may be a member several times") {
    cast self;
    cast_make(&self, 1);
    vow_promise *promise = self.promises[0];
    vow_promise *all[3] = {promise, vow_promise_retain(promise), vow_promise_retain(promise)};
    vow_promise *raced[2] = {vow_promise_retain(promise), vow_promise_retain(promise)};
    vow_promise *some[3] = {vow_promise_retain(promise), vow_promise_retain(promise),
                            vow_promise_retain(promise)};
    vow_promise *combined[3] = {vow_all(all, 3), vow_race(raced, 2), vow_some(some, 3, 2)};
    vow_promise *together = vow_all(combined, 3);
    fulfil(&self, 0, 4);
    vow_value lists = peeked(together);
    CHECK_INT_EQ(item(vow_list_at(lists, 0), 2), 4);
    CHECK_INT_EQ(item(lists, 1), 4);
    CHECK_INT_EQ(item(vow_list_at(lists, 2), 1), 4);
    vow_promise_release(together);
    cast_end(&self);
}

TEST("the same failing promise several times: one error, and the others are left") {
    cast self;
    cast_make(&self, 1);
    vow_promise *promise = self.promises[0];
    vow_promise *all[3] = {promise, vow_promise_retain(promise), vow_promise_retain(promise)};
    vow_promise *together = vow_all(all, 3);
    fail(&self, 0, 4);
    CHECK_INT_EQ(vow_error_index(peeked(together)), 0);
    vow_promise_release(together);
    cast_end(&self);
}

TEST("vow_all_settled gives values and errors") {
    cast self;
    cast_make(&self, 3);
    vow_promise *all = vow_all_settled(self.promises, 3);
    fail(&self, 1, 8);
    fulfil(&self, 0, 1);
    fulfil(&self, 2, 3);
    CHECK_INT_EQ(vow_promise_state(all), VOW_FULFILLED);
    CHECK_INT_EQ(item(peeked(all), 0), 1);
    CHECK_INT_EQ(vow_error_code(vow_list_at(peeked(all), 1)), 8);
    CHECK_INT_EQ(item(peeked(all), 2), 3);
    vow_promise_release(all);
    cast_end(&self);
}

TEST("vow_any gives the first value and cancels the others") {
    cast self;
    cast_make(&self, 3);
    vow_promise *any = vow_any(self.promises, 3);
    fail(&self, 0, 8);
    CHECK_INT_EQ(vow_promise_state(any), VOW_PENDING);
    fulfil(&self, 2, 3);
    CHECK_INT_EQ(int_of(any), 3);
    CHECK_INT_EQ(atomic_load(&self.stopped[1]), 1);
    CHECK_INT_EQ(stops(&self), 1);
    cast_end(&self);
}

TEST("vow_any is rejected with all errors in the order of the promises") {
    cast self;
    cast_make(&self, 3);
    vow_promise *any = vow_any(self.promises, 3);
    fail(&self, 2, 12);
    fail(&self, 0, 10);
    fail(&self, 1, 11);
    CHECK_INT_EQ(vow_error_code(peeked(any)), VOW_EAGGREGATE);
    CHECK_INT_EQ(vow_list_count(vow_error_payload(peeked(any))), 3);
    for (size_t i = 0; i < 3; i++) {
        CHECK_INT_EQ(vow_error_code(item_of_payload(any, i)), 10 + (int64_t)i);
        CHECK_INT_EQ(vow_error_index(item_of_payload(any, i)), (int64_t)i);
    }
    CHECK_INT_EQ(vow_error_index(peeked(any)), -1);
    vow_promise_release(any);
    cast_end(&self);
}

TEST("vow_some gives as many values as wanted, in the order of the promises") {
    cast self;
    cast_make(&self, 5);
    vow_promise *some = vow_some(self.promises, 5, 2);
    fulfil(&self, 4, 14);
    fail(&self, 0, 10);
    CHECK_INT_EQ(vow_promise_state(some), VOW_PENDING);
    fulfil(&self, 1, 11);
    CHECK_INT_EQ(vow_list_count(peeked(some)), 2);
    CHECK_INT_EQ(item(peeked(some), 0), 11);
    CHECK_INT_EQ(item(peeked(some), 1), 14);
    CHECK_INT_EQ(stops(&self), 2);
    vow_promise_release(some);
    cast_end(&self);
}

TEST("vow_some is rejected as soon as there cannot be so many values") {
    cast self;
    cast_make(&self, 4);
    vow_promise *some = vow_some(self.promises, 4, 3);
    fail(&self, 3, 13);
    fulfil(&self, 2, 12);
    CHECK_INT_EQ(vow_promise_state(some), VOW_PENDING);
    fail(&self, 1, 11);
    CHECK_INT_EQ(vow_error_code(peeked(some)), VOW_EAGGREGATE);
    CHECK_INT_EQ(vow_list_count(vow_error_payload(peeked(some))), 2);
    CHECK_INT_EQ(vow_error_code(item_of_payload(some, 0)), 11);
    CHECK_INT_EQ(vow_error_code(item_of_payload(some, 1)), 13);
    CHECK_INT_EQ(vow_error_index(item_of_payload(some, 0)), 1);
    CHECK_INT_EQ(vow_error_index(item_of_payload(some, 1)), 3);
    CHECK_INT_EQ(stops(&self), 1);
    vow_promise_release(some);
    cast_end(&self);
}

TEST("vow_some of none, and of too many, decides at once and leaves all") {
    cast self;
    cast_make(&self, 2);
    vow_promise *some = vow_some(self.promises, 2, 0);
    CHECK_INT_EQ(vow_list_count(peeked(some)), 0);
    CHECK_INT_EQ(peeked(some).kind, VOW_LIST);
    CHECK_INT_EQ(stops(&self), 2);
    vow_promise_release(some);
    cast_end(&self);
    cast_make(&self, 2);
    some = vow_some(self.promises, 2, 3);
    CHECK_INT_EQ(vow_error_code(peeked(some)), VOW_EAGGREGATE);
    CHECK_INT_EQ(vow_list_count(vow_error_payload(peeked(some))), 0);
    CHECK_INT_EQ(stops(&self), 2);
    vow_promise_release(some);
    cast_end(&self);
    cast_make(&self, 1);
    CHECK_INT_EQ(code_of(vow_some(self.promises, 1, SIZE_MAX)), VOW_EAGGREGATE);
    cast_end(&self);
}

TEST("vow_race settles as the first one does") {
    cast self;
    cast_make(&self, 3);
    vow_promise *race = vow_race(self.promises, 3);
    fulfil(&self, 1, 11);
    CHECK_INT_EQ(int_of(race), 11);
    CHECK_INT_EQ(stops(&self), 2);
    cast_end(&self);
    cast_make(&self, 3);
    race = vow_race(self.promises, 3);
    fail(&self, 2, 9);
    CHECK_INT_EQ(vow_error_code(peeked(race)), 9);
    CHECK_INT_EQ(vow_error_index(peeked(race)), 2);
    CHECK_INT_EQ(stops(&self), 2);
    vow_promise_release(race);
    cast_end(&self);
}

TEST("of no promises") {
    vow_promise *all = vow_all(NULL, 0);
    CHECK_INT_EQ(peeked(all).kind, VOW_LIST);
    CHECK_INT_EQ(vow_list_count(peeked(all)), 0);
    vow_promise_release(all);
    all = vow_all_settled(NULL, 0);
    CHECK_INT_EQ(vow_list_count(peeked(all)), 0);
    vow_promise_release(all);
    vow_promise *any = vow_any(NULL, 0);
    CHECK_INT_EQ(vow_error_code(peeked(any)), VOW_EAGGREGATE);
    CHECK_INT_EQ(vow_error_payload(peeked(any)).kind, VOW_LIST);
    vow_promise_release(any);
    CHECK_INT_EQ(code_of(vow_race(NULL, 0)), VOW_EINVAL);
    CHECK_INT_EQ(code_of(vow_some(NULL, 0, 0)), 0);
    CHECK_INT_EQ(code_of(vow_some(NULL, 0, 1)), VOW_EAGGREGATE);
}

static vow_promise *some_of_two(vow_promise *const *promises, size_t count) {
    return vow_some(promises, count, 2);
}

typedef vow_promise *(*combinator)(vow_promise *const *promises, size_t count);
static const combinator combinators[5] = {vow_all, vow_all_settled, vow_any, some_of_two, vow_race};

TEST("NULL entries and arrays are refused, and the others released") {
    for (int which = 0; which < 5; which++) {
        cast self;
        cast_make(&self, 3);
        vow_promise *promises[4] = {self.promises[0], NULL, self.promises[1], self.promises[2]};
        CHECK_INT_EQ(code_of(combinators[which](promises, 4)), VOW_EINVAL);
        CHECK_INT_EQ(stops(&self), 3);
        CHECK_INT_EQ(code_of(combinators[which](NULL, 4)), VOW_EINVAL);
        CHECK_INT_EQ(code_of(combinators[which](promises, SIZE_MAX)), VOW_ENOMEM);
        CHECK_INT_EQ(code_of(combinators[which](promises, SIZE_MAX / 48 + 2)), VOW_ENOMEM);
        cast_end(&self);
    }
}

TEST("cancelling the combined promise cancels its members") {
    for (int which = 0; which < 5; which++) {
        cast self;
        cast_make(&self, 3);
        vow_promise *kept = vow_promise_retain(self.promises[1]);
        vow_promise *combined = combinators[which](self.promises, 3);
        CHECK(vow_cancel(combined));
        CHECK_INT_EQ(vow_error_code(peeked(combined)), VOW_ECANCELLED);
        CHECK(!vow_cancel(combined));
        CHECK_INT_EQ(stops(&self), 2);
        CHECK_INT_EQ(vow_promise_state(kept), VOW_PENDING);
        fulfil(&self, 1, 1);
        CHECK_INT_EQ(int_of(kept), 1);
        vow_promise_release(combined);
        cast_end(&self);
    }
}

TEST("releasing the combined promise lets go of its members, whose producers hear of it") {
    for (int which = 0; which < 5; which++) {
        cast self;
        cast_make(&self, 3);
        vow_promise *kept = vow_promise_retain(self.promises[1]);
        counter runs = {0};
        self.promises[0] = then_inline(self.promises[0], counter_run, &runs);
        vow_promise *combined = combinators[which](self.promises, 3);
        vow_promise_release(combined);
        CHECK_INT_EQ(stops(&self), 1);
        CHECK_INT_EQ(atomic_load(&self.stopped[2]), 1);
        fulfil(&self, 0, 1);
        CHECK_INT_EQ(atomic_load(&runs.runs), 1);
        fulfil(&self, 1, 1);
        CHECK_INT_EQ(int_of(kept), 1);
        cast_end(&self);
    }
}

TEST("a member that is cancelled counts as rejected") {
    cast self;
    cast_make(&self, 2);
    vow_promise *kept = vow_promise_retain(self.promises[1]);
    vow_promise *all = vow_all(self.promises, 2);
    CHECK(vow_cancel(kept));
    vow_promise_release(kept);
    CHECK_INT_EQ(vow_error_code(peeked(all)), VOW_ECANCELLED);
    CHECK_INT_EQ(vow_error_index(peeked(all)), 1);
    vow_promise_release(all);
    CHECK_INT_EQ(stops(&self), 2);
    cast_end(&self);
}

TEST("values and errors that are counted end once") {
    for (int which = 0; which < 5; which++) {
        for (int failing = 0; failing < 16; failing++) {
            counter objects = {0};
            cast self;
            cast_make(&self, 4);
            vow_promise *combined = combinators[which](self.promises, 4);
            for (int i = 0; i < 4; i++) {
                vow_value object = vow_object(&objects, &counter_class);
                if (failing & (1 << i)) {
                    object = vow_error_wrap("test", 1, "with an object", object);
                }
                vow_resolve(self.resolvers[i], object);
            }
            CHECK(vow_promise_state(combined) != VOW_PENDING);
            vow_promise_peek(combined, &(vow_value){0});
            vow_promise_release(combined);
            cast_end(&self);
            CHECK_INT_EQ(atomic_load(&objects.ends), 4);
        }
    }
}

TEST("vow_error_index of other values is -1") {
    CHECK_INT_EQ(vow_error_index(vow_int(4)), -1);
    vow_value error = vow_error("test", 1, "one");
    CHECK_INT_EQ(vow_error_index(error), -1);
    vow_value_release(error);
}

static void *nest(void *context) {
    int depth = depth_of(300000);
    for (int which = 0; which < 5; which++) {
        for (int end = 0; end < 4; end++) {
            vow_resolver *resolver;
            vow_promise *promise = vow_promise_create(&resolver);
            for (int level = 0; level < depth; level++) {
                vow_promise *one[2] = {promise, NULL};
                size_t count = 1;
                if (which == 3) {
                    one[1] = fulfilled_int(1);
                    count = 2;
                }
                promise = combinators[which](one, count);
            }
            if (end == 0) {
                vow_resolve(resolver, vow_int(4));
                CHECK_INT_EQ(vow_promise_state(promise), VOW_FULFILLED);
            } else if (end == 1) {
                vow_reject(resolver, vow_error("test", 1, "one"));
                CHECK(vow_promise_state(promise) != VOW_PENDING);
                vow_promise_peek(promise, &(vow_value){0});
            } else if (end == 2) {
                CHECK(vow_cancel(promise));
            }
            vow_promise_release(promise);
            vow_resolver_release(resolver);
        }
    }
    (void)context;
    return NULL;
}

TEST("combined promises nested deep settle, fail, are cancelled and freed with constant stack") {
    on_small_stack(nest, NULL);
}

static vow_value scene(int which) {
    cast self;
    memset(&self, 0, sizeof self);
    for (int i = 0; i < 3; i++) {
        self.promises[i] = vow_promise_create(&self.resolvers[i]);
    }
    vow_promise *combined = combinators[which](self.promises, 3);
    fulfil(&self, 0, 1);
    vow_resolve(self.resolvers[1], vow_error("test", 1, "one"));
    vow_resolve(self.resolvers[2], vow_string("three", 5));
    for (int i = 0; i < 3; i++) {
        vow_resolver_release(self.resolvers[i]);
    }
    CHECK(vow_promise_state(combined) != VOW_PENDING);
    vow_value out;
    vow_promise_peek(combined, &out);
    vow_value_retain(out);
    vow_promise_release(combined);
    return out;
}

TEST("without memory the promise is rejected and nothing is lost") {
    for (int which = 0; which < 5; which++) {
        for (int nth = 1;; nth++) {
            atomic_store(&counts.failed, 0);
            atomic_store(&counts.countdown, nth);
            vow_value_release(scene(which));
            atomic_store(&counts.countdown, 0);
            if (atomic_load(&counts.failed) == 0) {
                break;
            }
        }
    }
}

/* Threads that settle members while another one combines, cancels or releases. */
typedef struct settler {
    vow_resolver **resolvers;
    int count;
    bool fails;
} settler;

static void *settle_all(void *context) {
    settler *self = context;
    for (int i = 0; i < self->count; i++) {
        vow_resolve(self->resolvers[i], self->fails && i % 7 == 6 ? vow_error("test", 1, "one")
                                                                  : vow_string("value", 5));
    }
    return NULL;
}

TEST("members settle on other threads while the promise is made, cancelled or released") {
    enum { COUNT = 64 };
    for (int round = 0; round < 400; round++) {
        vow_promise *promises[COUNT];
        vow_resolver *resolvers[COUNT];
        for (int i = 0; i < COUNT; i++) {
            promises[i] = vow_promise_create(&resolvers[i]);
        }
        settler halves[2] = {{resolvers, COUNT / 2, round % 2 == 1},
                             {resolvers + COUNT / 2, COUNT / 2, round % 4 == 3}};
        pthread_t threads[2] = {start_thread(settle_all, &halves[0]),
                                start_thread(settle_all, &halves[1])};
        vow_promise *combined = combinators[round % 5](promises, COUNT);
        if (round % 3 == 0) {
            vow_cancel(combined);
        } else if (round % 3 == 1) {
            CHECK(vow_await(combined, LONG_ENOUGH, NULL) > 0);
        }
        vow_promise_peek(combined, &(vow_value){0});
        if (round % 3 == 2) {
            vow_promise_release(vow_catch(combined, give_code, NULL));
        } else {
            vow_promise_release(combined);
        }
        pthread_join(threads[0], NULL);
        pthread_join(threads[1], NULL);
        for (int i = 0; i < COUNT; i++) {
            vow_resolver_release(resolvers[i]);
        }
    }
}
