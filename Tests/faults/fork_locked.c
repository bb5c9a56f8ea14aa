/* Tests a forked child that uses a promise which another thread of its parent was changing at that
 * moment. The moment is a few instructions long, so the test sets the mark that such a thread has
 * set: bit 3 of a promise's first word (see State.swift). */
#include "../c/worker.h"
#include <sys/wait.h>

#define LOCKED ((uint64_t)8)

/* What the parent has when it forks: a promise that is being changed, and what waits for it. */
typedef struct scene {
    vow_promise *promise;
    vow_resolver *resolver;
    vow_promise *link;
    vow_cancel_source *source;
    vow_promise *with_token;
    counter told;
} scene;

static _Atomic uint64_t *word_of(vow_promise *promise) {
    return (_Atomic uint64_t *)(void *)promise;
}

static void hear(void *context) {
    atomic_fetch_add(&((counter *)context)->runs, 1);
}

static void scene_make(scene *self) {
    memset(self, 0, sizeof *self);
    self->promise = vow_promise_create(&self->resolver);
    self->link = then_inline(vow_promise_retain(self->promise), add_one, NULL);
    self->source = vow_cancel_source_create();
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = add_one;
    reaction.executor = vow_executor_inline();
    reaction.token = vow_cancel_source_token(self->source);
    self->with_token = vow_then_with(vow_promise_retain(self->promise), &reaction);
    CHECK_INT_EQ(vow_resolver_on_cancel(self->resolver, hear, &self->told, counter_end), 0);
}

/* The parent's end: for it nothing has happened. */
static void scene_end(scene *self) {
    CHECK(vow_resolve(self->resolver, vow_int(1)));
    vow_resolver_release(self->resolver);
    vow_promise_release(self->promise);
    CHECK_INT_EQ(int_of(self->link), 2);
    CHECK_INT_EQ(int_of(self->with_token), 2);
    vow_cancel_source_release(self->source);
    CHECK_INT_EQ(atomic_load(&self->told.runs), 0);
    CHECK_INT_EQ(atomic_load(&self->told.ends), 1);
}

/* Forks with the promise locked; the child must be through long before its alarm. */
static void in_child(void (*part)(scene *self)) {
    scene all;
    int status = -1;
    scene_make(&all);
    fflush(stdout);
    atomic_fetch_or(word_of(all.promise), LOCKED);
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_LIMIT);
        part(&all);
        fflush(stdout);
        _exit(atomic_load(&harness_failures) == 0 ? 0 : 1);
    }
    atomic_fetch_and(word_of(all.promise), ~LOCKED);
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    scene_end(&all);
}

static void settle(scene *self) {
    counter value = {0};
    CHECK(!vow_resolve(self->resolver, vow_object(&value, &counter_class)));
    CHECK_INT_EQ(atomic_load(&value.ends), 1);
    CHECK(!vow_reject(self->resolver, vow_int(1)));
    CHECK(!vow_resolve(self->resolver, vow_from_promise(fulfilled_int(1))));
    CHECK_INT_EQ(vow_promise_state(self->promise), VOW_PENDING);
    CHECK_INT_EQ(vow_await(self->promise, VOW_FOREVER, NULL), VOW_EFORKED);
    CHECK_INT_EQ(vow_await(self->link, VOW_FOREVER, NULL), VOW_EFORKED);
}

TEST("settling such a promise is refused, and it stays pending") {
    in_child(settle);
}

static void cancel(scene *self) {
    CHECK(!vow_cancel(self->promise));
    CHECK_INT_EQ(vow_promise_state(self->promise), VOW_PENDING);
}

TEST("cancelling such a promise is refused, and it stays pending") {
    in_child(cancel);
}

static void cancel_what_waits(scene *self) {
    CHECK(vow_cancel(self->link));
    CHECK_INT_EQ(code_of(self->link), VOW_ECANCELLED);
    CHECK(vow_cancel_source_cancel(self->source));
    CHECK_INT_EQ(code_of(self->with_token), VOW_ECANCELLED);
}

TEST("what waits for such a promise can be cancelled") {
    in_child(cancel_what_waits);
}

static void register_more(scene *self) {
    counter context = {0};
    vow_promise *more = link_full(vow_executor_inline(), vow_promise_retain(self->promise),
                                  counter_run, NULL, &context, counter_end);
    CHECK_INT_EQ(vow_promise_state(more), VOW_PENDING);
    CHECK_INT_EQ(vow_await(more, VOW_FOREVER, NULL), VOW_EFORKED);
    CHECK(vow_cancel(more));
    CHECK_INT_EQ(code_of(more), VOW_ECANCELLED);
    CHECK_INT_EQ(atomic_load(&context.runs), 0);
    CHECK_INT_EQ(atomic_load(&context.ends), 1);
    vow_resolver *resolver;
    vow_promise *follower = vow_promise_create(&resolver);
    CHECK(vow_resolve(resolver, vow_from_promise(vow_promise_retain(self->promise))));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(vow_await(follower, VOW_FOREVER, NULL), VOW_EFORKED);
    CHECK(vow_cancel(follower));
    vow_promise_release(follower);
}

TEST("a reaction on such a promise, or one that adopts it, waits for ever and can be cancelled") {
    in_child(register_more);
}

static void release_all(scene *self) {
    counter late = {0};
    CHECK_INT_EQ(vow_resolver_on_cancel(self->resolver, hear, &late, counter_end), 0);
    vow_promise_release(self->link);
    vow_promise_release(self->with_token);
    vow_cancel_source_release(self->source);
    vow_promise_release(self->promise);
    vow_resolver_release(self->resolver);
}

static void release_resolver_first(scene *self) {
    vow_resolver_release(self->resolver);
    vow_promise_release(self->promise);
    vow_promise_release(self->link);
}

TEST("such a promise can be released, whoever comes first") {
    in_child(release_all);
    in_child(release_resolver_first);
}

static void wait_for_a_race(scene *self) {
    vow_promise *members[2] = {vow_promise_retain(self->promise), fulfilled_int(4)};
    CHECK_INT_EQ(int_of(vow_race(members, 2)), 4);
    vow_promise *limited[2] = {vow_promise_retain(self->promise), fulfilled_int(4)};
    vow_promise *all = vow_all(limited, 2);
    CHECK_INT_EQ(vow_promise_state(all), VOW_PENDING);
    CHECK(vow_cancel(all));
    vow_promise_release(all);
}

TEST("such a promise can be a member of combined ones, which let go of it") {
    in_child(wait_for_a_race);
}
