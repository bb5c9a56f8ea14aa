/* G8 through combinators: what needs each of its members is part of a ring; what one of them can
 * end is not. */
#include "tools.h"

typedef struct deferred {
    vow_promise *promise;
    vow_resolver *resolver;
} deferred;

static deferred defer(void) {
    deferred self;
    self.promise = vow_promise_create(&self.resolver);
    return self;
}

static vow_promise *share(const deferred *self) {
    return vow_promise_retain(self->promise);
}

/* With a promise (consumed). */
static void resolve_with(const deferred *self, vow_promise *promise) {
    CHECK(vow_resolve(self->resolver, vow_from_promise(promise)));
}

static void let_go(deferred *self) {
    vow_resolver_release(self->resolver);
    vow_promise_release(self->promise);
}

static vow_value pass(vow_value input, void *context) {
    (void)context;
    return vow_value_retain(input);
}

static int64_t live(void) {
    return (int64_t)harness_stats().live;
}

/* The promise is resolved with what is combined of it and a pending one. */
static void check_ring(vow_promise *(*combine)(vow_promise *const *promises, size_t count)) {
    int64_t before = live();
    deferred self = defer(), other = defer();
    vow_promise *members[] = {share(&other), share(&self)};
    vow_promise *combined = combine(members, 2);
    resolve_with(&self, vow_promise_retain(combined));
    CHECK_INT_EQ(code_of(share(&self)), VOW_ECYCLE);
    CHECK_INT_EQ(vow_promise_state(other.promise), VOW_PENDING);
    CHECK(vow_resolve(other.resolver, vow_int(1)));
    vow_promise_release(combined);
    let_go(&self);
    let_go(&other);
    CHECK_INT_EQ(live(), before);
}

static vow_promise *all_of_both(vow_promise *const *promises, size_t count) {
    return vow_some(promises, count, count);
}

static vow_promise *scope_of(vow_promise *const *promises, size_t count) {
    vow_scope *scope = vow_scope_create();
    for (size_t i = 0; i < count; i++) {
        CHECK_INT_EQ(vow_scope_add(scope, promises[i]), 0);
    }
    return vow_scope_close(scope);
}

/* Behind one more link, and in another combination. */
static vow_promise *nested(vow_promise *const *promises, size_t count) {
    vow_promise *inner[] = {then_inline(vow_all(promises, count), pass, NULL), fulfilled_int(1)};
    return vow_all_settled(inner, 2);
}

TEST("G8: a promise that is resolved with what needs it is rejected: all") {
    check_ring(vow_all);
}

TEST("G8: all_settled") {
    check_ring(vow_all_settled);
}

TEST("G8: some, where all are wanted") {
    check_ring(all_of_both);
}

TEST("G8: a scope") {
    check_ring(scope_of);
}

TEST("G8: one inside the other, behind a link") {
    check_ring(nested);
}

/* Each waits for all of the next ones, the last one for the first. */
TEST("G8: a ring of sixty, through as many combined promises") {
    enum { COUNT = 60 };
    int64_t before = live();
    deferred ring[COUNT];
    for (int i = 0; i < COUNT; i++) {
        ring[i] = defer();
    }
    for (int i = 0; i < COUNT; i++) {
        vow_promise *members[] = {fulfilled_int(1), share(&ring[(i + 1) % COUNT])};
        resolve_with(&ring[i], vow_all(members, 2));
    }
    for (int i = 0; i < COUNT; i++) {
        CHECK_INT_EQ(code_of(share(&ring[i])), VOW_ECYCLE);
        let_go(&ring[i]);
    }
    CHECK_INT_EQ(live(), before);
}

/* ------------------------------------------------ rings that a machine's function closes */

/* The function's result for every call: its promise is resolved later. */
static vow_value give_shared(vow_value input, void *context) {
    const deferred *self = context;
    (void)input;
    return vow_from_promise(vow_promise_retain(self->promise));
}

static vow_value give_reduced(vow_value sum, vow_value input, void *context) {
    (void)sum;
    return give_shared(input, context);
}

static bool always(vow_value state, void *context) {
    (void)state;
    (void)context;
    return true;
}

static vow_promise *map_of(deferred *self) {
    vow_value items[] = {vow_int(1), vow_int(2)};
    return vow_map(vow_list(items, 2), give_shared, self, 0);
}

static vow_promise *reduce_of(deferred *self) {
    vow_promise *members[] = {fulfilled_int(1)};
    return vow_reduce(members, 1, vow_int(0), give_reduced, self);
}

static vow_promise *repeat_of(deferred *self) {
    return vow_repeat(vow_int(0), always, give_shared, self);
}

static vow_promise *retry_of(deferred *self) {
    return vow_retry(NULL, give_shared, self);
}

/* What the function gives waits for the outcome of all its calls; resolved before or after it is
 * given. */
static void check_machine(vow_promise *(*make)(deferred *self), bool late) {
    int64_t before = live();
    deferred self = defer();
    vow_promise *made = make(&self);
    if (late) {
        usleep(20000);
    }
    resolve_with(&self, then_inline(vow_promise_retain(made), pass, NULL));
    CHECK_INT_EQ(code_of(made), VOW_ECYCLE);
    CHECK_INT_EQ(code_of(share(&self)), VOW_ECYCLE);
    let_go(&self);
    int64_t limit = now_ns() + LONG_ENOUGH;
    while (live() != before && now_ns() < limit) {
        usleep(200);
    }
    CHECK_INT_EQ(live(), before);
}

TEST("G8: what a function of map, reduce, repeat or retry gives needs the outcome") {
    check_machine(map_of, true);
    check_machine(reduce_of, true);
    check_machine(repeat_of, true);
    check_machine(retry_of, true);
}

TEST("G8: the same, at about the time at which it is given") {
    for (int i = 0; i < 100; i++) {
        check_machine(map_of, false);
        check_machine(reduce_of, false);
        check_machine(repeat_of, false);
        check_machine(retry_of, false);
    }
}

/* ------------------------------------------------ no ring: another member can end it */

static vow_promise *one_of_both(vow_promise *const *promises, size_t count) {
    return vow_some(promises, count, 1);
}

static void check_no_ring(vow_promise *(*combine)(vow_promise *const *promises, size_t count)) {
    int64_t before = live();
    deferred self = defer(), other = defer();
    vow_promise *members[] = {share(&self), share(&other)};
    resolve_with(&self, combine(members, 2));
    CHECK_INT_EQ(vow_promise_state(self.promise), VOW_PENDING);
    CHECK(vow_resolve(other.resolver, vow_int(7)));
    CHECK_INT_EQ(code_of(share(&self)), 0);
    let_go(&self);
    let_go(&other);
    CHECK_INT_EQ(live(), before);
}

TEST("G8: any, race and some are no part of a ring: another member ends it") {
    check_no_ring(vow_any);
    check_no_ring(vow_race);
    check_no_ring(one_of_both);
}

TEST("G8: nor is a time-out, which ends it itself") {
    deferred self = defer();
    resolve_with(&self, vow_timeout(share(&self), MILLISECOND));
    CHECK_INT_EQ(code_of(share(&self)), VOW_ETIMEDOUT);
    let_go(&self);
}

/* The same promise twice, or by two ways, is no ring. */
TEST("G8: ways that part and meet are no ring") {
    deferred self = defer(), other = defer();
    vow_promise *first[] = {share(&other), share(&other)};
    vow_promise *both = vow_all(first, 2);
    vow_promise *second[] = {vow_promise_retain(both), then_inline(both, pass, NULL)};
    vow_promise *reader = then_inline(share(&self), pass, NULL);
    resolve_with(&self, vow_all(second, 2));
    CHECK_INT_EQ(vow_promise_state(self.promise), VOW_PENDING);
    CHECK(vow_resolve(other.resolver, vow_int(1)));
    CHECK_INT_EQ(code_of(reader), 0);
    let_go(&self);
    let_go(&other);
}

/* ------------------------------------------------ closed by two threads at once */

static deferred left, right;

static void *close_left(void *gate) {
    vow_promise *members[] = {share(&right), fulfilled_int(1)};
    vow_promise *combined = vow_all(members, 2);
    pthread_barrier_wait(gate);
    resolve_with(&left, combined);
    return NULL;
}

TEST("G8: a ring that two threads close at once") {
    pthread_barrier_t gate;
    int64_t before = live();
    for (int i = 0; i < 2000; i++) {
        pthread_barrier_init(&gate, NULL, 2);
        left = defer();
        right = defer();
        pthread_t other = start_thread(close_left, &gate);
        vow_promise *members[] = {fulfilled_int(1), share(&left)};
        vow_promise *combined = vow_all_settled(members, 2);
        pthread_barrier_wait(&gate);
        resolve_with(&right, combined);
        pthread_join(other, NULL);
        /* One of them at least; all_settled says it as a value. */
        int64_t code = code_of(share(&left));
        CHECK(code == VOW_ECYCLE || code_of(share(&right)) == VOW_ECYCLE);
        CHECK(vow_promise_state(left.promise) != VOW_PENDING);
        CHECK(vow_promise_state(right.promise) != VOW_PENDING);
        let_go(&left);
        let_go(&right);
        pthread_barrier_destroy(&gate);
    }
    CHECK_INT_EQ(live(), before);
}

/* The end of a scope that is closed, and one more reference to the scope. */
static vow_promise *close_kept(vow_scope *scope, vow_scope **kept) {
    *kept = vow_scope_retain(scope);
    return vow_scope_close(scope);
}

/* The end, or what waits for it, is added as a member. */
static void check_end_as_member(vow_promise *(*combine)(vow_promise *const *promises, size_t count),
                                bool is_cancelled) {
    int64_t before = live();
    deferred other = defer();
    vow_scope *kept;
    vow_scope *scope = vow_scope_create();
    CHECK_INT_EQ(vow_scope_add(scope, vow_shield(share(&other))), 0);
    vow_promise *end = close_kept(scope, &kept);
    if (is_cancelled) {
        vow_scope_cancel(kept);
    }
    vow_promise *member = vow_promise_retain(end);
    if (combine != NULL) {
        member = combine(&member, 1);
    }
    CHECK_INT_EQ(vow_scope_add(kept, member), VOW_ECYCLE);
    CHECK_INT_EQ(vow_promise_state(end), VOW_PENDING);
    CHECK(vow_resolve(other.resolver, vow_int(1)));
    CHECK_INT_EQ(code_of(end), VOW_ECYCLE);
    vow_scope_release(kept);
    let_go(&other);
    CHECK_INT_EQ(live(), before);
}

static vow_promise *link_of(vow_promise *const *promises, size_t count) {
    CHECK_INT_EQ(count, 1);
    return then_inline(promises[0], add_one, NULL);
}

static vow_promise *shield_of(vow_promise *const *promises, size_t count) {
    CHECK_INT_EQ(count, 1);
    return vow_shield(promises[0]);
}

TEST("G8: a scope may not have its own end as a member, nor what waits for it") {
    vow_promise *(*const ways[])(vow_promise *const *promises,
                                 size_t count) = {NULL, link_of, shield_of, vow_all, scope_of};
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        check_end_as_member(ways[way], false);
        check_end_as_member(ways[way], true);
    }
}

/* Two scopes, each with the end of the other one as a member. */
typedef struct crossing {
    vow_scope *kept[2];
    vow_promise *ends[2];
    int answers[2];
    atomic_int may_begin;
} crossing;

static void *add_other(void *context) {
    crossing *self = context;
    while (atomic_load(&self->may_begin) == 0) {
    }
    self->answers[1] = vow_scope_add(self->kept[1], vow_promise_retain(self->ends[0]));
    return NULL;
}

TEST("G8: two threads make two scopes members of each other: a ring that one of them sees") {
    for (int round = 0; round < many_of(300, 20000); round++) {
        crossing self = {.answers = {0, 0}};
        deferred other = defer();
        for (int at = 0; at < 2; at++) {
            vow_scope *scope = vow_scope_create();
            CHECK_INT_EQ(vow_scope_add(scope, share(&other)), 0);
            self.ends[at] = close_kept(scope, &self.kept[at]);
        }
        pthread_t thread = start_thread(add_other, &self);
        atomic_store(&self.may_begin, 1);
        self.answers[0] = vow_scope_add(self.kept[0], vow_promise_retain(self.ends[1]));
        pthread_join(thread, NULL);
        CHECK(self.answers[0] == VOW_ECYCLE || self.answers[1] == VOW_ECYCLE);
        CHECK(vow_resolve(other.resolver, vow_int(1)));
        for (int at = 0; at < 2; at++) {
            CHECK_INT_EQ(code_of(self.ends[at]), VOW_ECYCLE);
            vow_scope_release(self.kept[at]);
        }
        let_go(&other);
    }
}
