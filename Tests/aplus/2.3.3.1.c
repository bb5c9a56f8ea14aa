/* Promises/A+ 2.3.3.1: how often it is found out that an object is a thenable. */
#include "asked.h"

static bool act_five(asked *self, vow_resolver *resolver) {
    (void)self;
    CHECK(vow_resolve(resolver, vow_int(5)));
    vow_resolver_release(resolver);
    return true;
}

/* Whoever comes afterwards reads the outcome, and the object is not asked again. */
static void many_readers(asked *self, vow_promise *promise) {
    (void)self;
    for (int i = 0; i < 5; i++) {
        CHECK_INT_EQ(int_of(then_inline(vow_promise_retain(promise), add_one, NULL)), 6);
        CHECK_INT_EQ(int_of(vow_promise_retain(promise)), 5);
        CHECK_INT_EQ(int_of(vow_promise_with(vow_from_promise(vow_promise_retain(promise)))), 5);
    }
}

TEST("2.3.3.1: an object is asked once for one promise, however many wait for it") {
    in_each_place(act_five, vow_none(), many_readers);
}

TEST("2.3.3.1: an object that two promises are resolved with is asked once for each") {
    asked thenable = {.act = act_five};
    vow_value object = vow_object(&thenable, &asked_class);
    vow_promise *one = vow_promise_with(vow_value_retain(object));
    vow_promise *other = vow_promise_with(object);
    CHECK_INT_EQ(int_of(one), 5);
    CHECK_INT_EQ(int_of(other), 5);
    CHECK(reaches(&thenable.ends, 1));
    CHECK_INT_EQ(atomic_load(&thenable.calls), 2);
}

/* The nearest thing to a getter that answers differently each time: a class that its own subscribe
 * changes. */
static vow_class fickle;
static int first_answers;
static int second_answers;

static bool answer_second(void *pointer, vow_resolver *resolver) {
    (void)pointer;
    second_answers++;
    CHECK(vow_resolve(resolver, vow_int(2)));
    vow_resolver_release(resolver);
    return true;
}

static bool answer_first(void *pointer, vow_resolver *resolver) {
    (void)pointer;
    first_answers++;
    fickle.subscribe = answer_second;
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    return true;
}

TEST("2.3.3.1: the subscribe that was found is the one that counts") {
    fickle = (vow_class){sizeof(vow_class), "fickle", NULL, answer_first};
    first_answers = second_answers = 0;
    vow_promise *promise = vow_promise_with(vow_object(NULL, &fickle));
    CHECK_INT_EQ(int_of(then_inline(vow_promise_retain(promise), add_one, NULL)), 2);
    CHECK_INT_EQ(int_of(promise), 1);
    CHECK_INT_EQ(first_answers, 1);
    CHECK_INT_EQ(second_answers, 0);
}
