/* Promises/A+ 2.3.3.4: an object that is no thenable after all is itself the value. */
#include "asked.h"

static bool act_refuse(asked *self, vow_resolver *resolver) {
    (void)self;
    vow_resolver_release(resolver);
    return false;
}

/* The promise has the object, which lives as long as it does. */
static void has_the_object(asked *self, vow_promise *promise) {
    vow_value out = vow_none();
    CHECK_INT_EQ(vow_await(promise, LONG_ENOUGH, &out), VOW_FULFILLED);
    CHECK(vow_object_pointer(out, &asked_class) == self);
    vow_value_release(out);
    CHECK_INT_EQ(atomic_load(&self->ends), 0);
}

TEST("2.3.3.4: an object whose subscribe returns false fulfils") {
    in_each_place(act_refuse, vow_none(), has_the_object);
}

static bool act_refuse_and_keep(asked *self, vow_resolver *resolver) {
    self->kept = resolver;
    return false;
}

static void ignores_the_resolver(asked *self, vow_promise *promise) {
    has_the_object(self, promise);
    CHECK(!vow_resolve(self->kept, vow_int(1)));
    CHECK(!vow_reject(self->kept, vow_error("test", 2, NULL)));
    vow_resolver_release(self->kept);
    has_the_object(self, promise);
}

TEST("2.3.3.4: the resolver that such an object kept decides nothing") {
    in_each_place(act_refuse_and_keep, vow_none(), ignores_the_resolver);
}

/* A handler gets the object itself, and is not a new question to it. */
static vow_value look_at_object(vow_value input, void *context) {
    CHECK(vow_object_pointer(input, &asked_class) == context);
    return vow_int(1);
}

static void reaches_handlers(asked *self, vow_promise *promise) {
    CHECK_INT_EQ(int_of(then_inline(vow_promise_retain(promise), look_at_object, self)), 1);
    CHECK_INT_EQ(
        int_of(then_on(vow_executor_pool(), vow_promise_retain(promise), look_at_object, self)), 1);
    has_the_object(self, promise);
}

TEST("2.3.3.4: handlers get the object, which is not asked again") {
    in_each_place(act_refuse, vow_none(), reaches_handlers);
}

/* Objects of a class without subscribe, in the same places. */
static vow_value give_counter(vow_value input, void *context) {
    (void)input;
    return vow_object(context, &counter_class);
}

static bool give_counter_later(void *pointer, vow_resolver *resolver) {
    CHECK(vow_resolve(resolver, vow_object(pointer, &counter_class)));
    vow_resolver_release(resolver);
    return true;
}

static const vow_class counter_giver = {sizeof(vow_class), "giver", NULL, give_counter_later};

TEST("2.3.3.4: an object whose class has no subscribe fulfils") {
    for (int place = 0; place < 6; place++) {
        counter object = {0};
        vow_resolver *resolver;
        vow_promise *promise;
        if (place == 0) {
            promise = vow_promise_with(vow_object(&object, &counter_class));
        } else if (place == 1) {
            promise = vow_promise_create(&resolver);
            CHECK(vow_resolve(resolver, vow_object(&object, &counter_class)));
            vow_resolver_release(resolver);
        } else if (place == 2) {
            promise = then_inline(fulfilled_int(1), give_counter, &object);
        } else if (place == 3) {
            promise = catch_inline(rejected_code(1), give_counter, &object);
        } else if (place == 4) {
            promise = vow_async(vow_executor_pool(), give_counter, &object);
        } else {
            promise = vow_promise_with(vow_object(&object, &counter_giver));
        }
        vow_value out = vow_none();
        CHECK_INT_EQ(vow_await(promise, LONG_ENOUGH, &out), VOW_FULFILLED);
        CHECK(vow_object_pointer(out, &counter_class) == &object);
        vow_value_release(out);
        CHECK_INT_EQ(atomic_load(&object.ends), 0);
        vow_promise_release(promise);
        CHECK(reaches(&object.ends, 1));
        CHECK_INT_EQ(atomic_load(&object.ends), 1);
    }
}
