/* Tests what combined promises settle with: all, all_settled, any, some, race. */
#include "cast.h"

static void fail(cast *self, int index, int64_t code) {
    vow_reject(self->resolvers[index], vow_error("test", code, "as wanted"));
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
    CHECK_STR_EQ(vow_error_message(peeked(any)), "no promise was fulfilled");
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
    CHECK_STR_EQ(vow_error_message(peeked(some)), "fewer promises than wanted were fulfilled");
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
