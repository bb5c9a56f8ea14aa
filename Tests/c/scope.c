/* Tests of scopes: work that must not be left behind. */
#include "meter.h"

static void note_stop(void *context) {
    atomic_fetch_add((atomic_int *)context, 1);
}

/* Not literals, which compilers that know better refuse. */
static vow_scope *no_scope;
static vow_promise *no_promise;

TEST("closing a scope waits for all its members") {
    vow_scope *scope = vow_scope_create();
    vow_resolver *resolvers[3];
    for (int i = 0; i < 3; i++) {
        CHECK_INT_EQ(vow_scope_add(scope, vow_promise_create(&resolvers[i])), 0);
    }
    CHECK_INT_EQ(vow_scope_add(scope, fulfilled_int(1)), 0);
    vow_resolve(resolvers[1], vow_string("one", 3));
    vow_promise *end = vow_scope_close(scope);
    CHECK_INT_EQ(vow_promise_state(end), VOW_PENDING);
    vow_resolve(resolvers[2], vow_none());
    vow_resolve(resolvers[0], vow_none());
    vow_value out = vow_int(1);
    CHECK_INT_EQ(vow_await(end, LONG_ENOUGH, &out), VOW_FULFILLED);
    CHECK_INT_EQ(out.kind, VOW_NONE);
    vow_promise_release(end);
    for (int i = 0; i < 3; i++) {
        vow_resolver_release(resolvers[i]);
    }
}

TEST("an empty scope is closed at once, and one that is released is gone") {
    CHECK_INT_EQ(code_of(vow_scope_close(vow_scope_create())), 0);
    vow_scope_release(vow_scope_create());
    vow_scope_release(NULL);
    vow_scope_cancel(no_scope);
}

TEST("a scope reports the first failure, after all members; one is a cancellation by others") {
    for (int first = 0; first < 2; first++) {
        vow_scope *scope = vow_scope_create();
        vow_resolver *resolvers[4];
        vow_promise *kept[4];
        for (int i = 0; i < 4; i++) {
            kept[i] = vow_promise_create(&resolvers[i]);
            CHECK_INT_EQ(vow_scope_add(scope, vow_promise_retain(kept[i])), 0);
        }
        if (first == 0) {
            CHECK(vow_cancel(kept[0]));
        }
        CHECK(vow_reject(resolvers[2], vow_error("test", 2, "two")));
        CHECK(vow_reject(resolvers[1], vow_error("test", 1, "one")));
        vow_promise *end = vow_scope_close(scope);
        CHECK_INT_EQ(vow_promise_state(end), VOW_PENDING);
        CHECK(vow_resolve(resolvers[3], vow_none()));
        if (first != 0) {
            CHECK(vow_cancel(kept[0]));
        }
        CHECK_INT_EQ(code_of(end), first == 0 ? VOW_ECANCELLED : 2);
        for (int i = 0; i < 4; i++) {
            vow_promise_release(kept[i]);
            vow_resolver_release(resolvers[i]);
        }
    }
}

static int64_t reported[4];
static int reports;

static void note_reported(vow_value error, void *context) {
    (void)context;
    reported[reports++ % 4] = vow_error_code(error);
}

static vow_value fail_with_8(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_error("test", 8, "eight");
}

TEST("failures after the first are reported, where nobody reads the member itself") {
    vow_on_unhandled(note_reported, NULL);
    vow_scope_options options = {.size = sizeof options, .flags = VOW_SCOPE_FAIL_FAST};
    vow_scope *scope = vow_scope_create_with(&options);
    vow_resolver *resolvers[4];
    vow_promise *kept = NULL;
    reports = 0;
    for (int i = 0; i < 4; i++) {
        vow_promise *member = vow_promise_create(&resolvers[i]);
        if (i == 1) {
            /* Clean-up that fails when the scope is cancelled. */
            member = finally_inline(member, fail_with_8, NULL);
        } else if (i == 2) {
            kept = vow_promise_retain(member);
        } else if (i == 3) {
            /* Excused: the scope has asked for it. */
            member = then_inline(member, add_one, NULL);
        }
        CHECK_INT_EQ(vow_scope_add(scope, member), 0);
    }
    CHECK(vow_reject(resolvers[0], vow_error("test", 5, "five")));
    CHECK(!vow_reject(resolvers[2], vow_error("test", 6, "six")));
    CHECK_INT_EQ(code_of(vow_scope_close(scope)), 5);
    CHECK_INT_EQ(code_of(kept), VOW_ECANCELLED);
    CHECK_INT_EQ(reports, 1);
    CHECK_INT_EQ(reported[0], 8);
    for (int i = 0; i < 4; i++) {
        vow_resolver_release(resolvers[i]);
    }
    vow_on_unhandled(NULL, NULL);
}

TEST("cancelling a scope, its end, or releasing it cancels the members and those added later") {
    for (int way = 0; way < 3; way++) {
        vow_scope *scope = vow_scope_create();
        vow_resolver *resolvers[4];
        atomic_int stopped = 0;
        vow_promise *members[4];
        for (int i = 0; i < 4; i++) {
            members[i] = vow_promise_create(&resolvers[i]);
            vow_resolver_on_cancel(resolvers[i], note_stop, &stopped, NULL);
        }
        vow_promise *both[2] = {members[1], vow_promise_retain(members[0])};
        members[1] = vow_all(both, 2);
        vow_promise *kept = vow_promise_retain(members[2]);
        for (int i = 0; i < 3; i++) {
            CHECK_INT_EQ(vow_scope_add(scope, members[i]), 0);
        }
        if (way == 0) {
            vow_scope_cancel(scope);
            CHECK_INT_EQ(vow_scope_add(scope, members[3]), VOW_ECANCELLED);
            vow_scope_cancel(scope);
            CHECK_INT_EQ(code_of(vow_scope_close(scope)), 0);
        } else {
            vow_promise_release(members[3]);
            if (way == 1) {
                vow_promise *end = vow_scope_close(scope);
                vow_promise *nested[2] = {end, vow_promise_retain(kept)};
                vow_promise *outer = vow_all(nested, 2);
                CHECK(vow_cancel(outer));
                vow_promise_release(outer);
            } else {
                vow_scope_release(scope);
            }
        }
        CHECK_INT_EQ(atomic_load(&stopped), 4);
        CHECK_INT_EQ(vow_promise_state(kept), VOW_REJECTED);
        vow_promise_release(kept);
        for (int i = 0; i < 4; i++) {
            vow_resolver_release(resolvers[i]);
        }
    }
}

static vow_scope *adding_to;
static atomic_int have_added;

static vow_value add_another(vow_value input, void *context) {
    atomic_int *left = context;
    if (atomic_fetch_sub(left, 1) > 1) {
        CHECK_INT_EQ(vow_scope_add(adding_to, vow_then(fulfilled_int(1), add_another, left)), 0);
    }
    /* After the addition: once closed the scope takes nobody, and is gone. */
    atomic_fetch_add(&have_added, 1);
    return vow_value_retain(input);
}

TEST("members may add members") {
    static atomic_int left = 100;
    adding_to = vow_scope_create();
    vow_promise *first = vow_then(fulfilled_int(1), add_another, &left);
    CHECK_INT_EQ(vow_scope_add(adding_to, first), 0);
    CHECK(reaches(&have_added, 100));
    CHECK_INT_EQ(code_of(vow_scope_close(adding_to)), 0);
}

TEST("wrong arguments") {
    atomic_int stopped = 0;
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_resolver_on_cancel(resolver, note_stop, &stopped, NULL);
    CHECK_INT_EQ(vow_scope_add(no_scope, promise), VOW_EINVAL);
    CHECK_INT_EQ(atomic_load(&stopped), 1);
    vow_resolver_release(resolver);
    vow_scope *scope = vow_scope_create();
    CHECK_INT_EQ(vow_scope_add(scope, no_promise), VOW_EINVAL);
    vow_scope_release(scope);
    CHECK_INT_EQ(code_of(vow_scope_close(no_scope)), VOW_EINVAL);
}

TEST("without memory") {
    for (int nth = 1;; nth++) {
        atomic_store(&counts.failed, 0);
        atomic_store(&counts.countdown, nth);
        vow_scope *scope = vow_scope_create();
        if (scope != NULL) {
            int added = vow_scope_add(scope, fulfilled_int(1));
            CHECK(added == 0 || added == VOW_ENOMEM);
            /* Without memory for the member itself, that is the scope's first error. */
            int64_t code = code_of(vow_scope_close(scope));
            CHECK(code == 0 || code == VOW_ENOMEM);
        }
        atomic_store(&counts.countdown, 0);
        if (atomic_load(&counts.failed) == 0) {
            break;
        }
    }
}

typedef struct adder {
    vow_scope *scope;
    atomic_int ready;
} adder;

static void *add_many(void *context) {
    adder *self = context;
    for (int i = 0; i < 200; i++) {
        if (i == 20) {
            atomic_fetch_add(&self->ready, 1);
        }
        int answer = vow_scope_add(self->scope, vow_then(fulfilled_int(1), add_one, NULL));
        CHECK(answer == 0 || answer == VOW_ECANCELLED);
    }
    return NULL;
}

TEST("members are added on several threads while the scope is cancelled") {
    for (int round = 0; round < 100; round++) {
        adder self = {.scope = vow_scope_create()};
        pthread_t threads[2] = {start_thread(add_many, &self), start_thread(add_many, &self)};
        CHECK(reaches(&self.ready, 1));
        if (round % 2) {
            vow_scope_cancel(self.scope);
        }
        pthread_join(threads[0], NULL);
        pthread_join(threads[1], NULL);
        CHECK_INT_EQ(code_of(vow_scope_close(self.scope)), 0);
    }
}
