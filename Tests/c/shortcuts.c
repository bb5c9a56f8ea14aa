/* Tests the short ways of the core: settled promises, single readers, memory that is kept. */
#include "tools.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

/* What handlers return, and what becomes of it. */
static bool subscribe_3(void *object, vow_resolver *resolver) {
    (void)object;
    CHECK(vow_resolve(resolver, vow_int(3)));
    vow_resolver_release(resolver);
    return true;
}

static const vow_class thenable_class = {sizeof(vow_class), "thenable", counter_end, subscribe_3};

typedef enum result_kind { NUMBER, PROMISE, PENDING, THENABLE, ERROR, OBJECT, KINDS } result_kind;

typedef struct giver {
    result_kind kind;
    counter made;
    vow_resolver *resolver; /* of the pending one */
} giver;

static vow_value give(vow_value input, void *context) {
    giver *self = context;
    CHECK_INT_EQ(input.as.integer, 2);
    atomic_fetch_add(&self->made.runs, 1);
    switch (self->kind) {
    case PROMISE:
        return vow_from_promise(fulfilled_int(3));
    case PENDING:
        return vow_from_promise(vow_promise_create(&self->resolver));
    case THENABLE:
        return vow_object(&self->made, &thenable_class);
    case ERROR:
        return vow_error("test", 3, "three");
    case OBJECT:
        return vow_object(&self->made, &counter_class);
    default:
        return vow_int(3);
    }
}

static void settle_pending(giver *self) {
    if (self->resolver != NULL) {
        (void)vow_resolve(self->resolver, vow_int(3));
        vow_resolver_release(self->resolver);
        self->resolver = NULL;
    }
}

static void count_report(vow_value error, void *context) {
    CHECK_INT_EQ(vow_error_code(error), 3);
    atomic_fetch_add((atomic_int *)context, 1);
}

TEST("then on a settled promise, whatever its handler returns, released at once") {
    atomic_int reports = 0;
    vow_executor_set_default(vow_executor_inline());
    vow_on_unhandled(count_report, &reports);
    for (int kind = NUMBER; kind < KINDS; kind++) {
        giver self = {(result_kind)kind, {0}, NULL};
        vow_promise_release(vow_then(fulfilled_int(2), give, &self));
        CHECK_INT_EQ(atomic_load(&self.made.runs), 1);
        settle_pending(&self);
        CHECK_INT_EQ(atomic_load(&self.made.ends), kind == THENABLE || kind == OBJECT);
    }
    CHECK_INT_EQ(atomic_load(&reports), 1);
    vow_on_unhandled(NULL, NULL);
    vow_executor_set_default(NULL);
}

TEST("then on a settled promise that others hold, and whose link is read") {
    vow_executor_set_default(vow_executor_inline());
    vow_promise *shared = fulfilled_int(2);
    for (int kind = NUMBER; kind < KINDS; kind++) {
        giver self = {(result_kind)kind, {0}, NULL};
        vow_promise *derived = vow_then(vow_promise_retain(shared), give, &self);
        CHECK_INT_EQ(atomic_load(&self.made.runs), 1);
        settle_pending(&self);
        if (kind == ERROR) {
            CHECK_INT_EQ(code_of(derived), 3);
        } else if (kind == OBJECT) {
            CHECK_INT_EQ(vow_await(derived, LONG_ENOUGH, NULL), VOW_FULFILLED);
            CHECK_INT_EQ(atomic_load(&self.made.ends), 0);
            vow_promise_release(derived);
            CHECK_INT_EQ(atomic_load(&self.made.ends), 1);
        } else {
            CHECK_INT_EQ(int_of(derived), 3);
        }
    }
    vow_promise_release(shared);
    vow_executor_set_default(NULL);
}

static vow_value then_inside(vow_value input, void *context) {
    journal *in = context;
    static entry entries[3];
    vow_promise *settled = fulfilled_int(2);
    journal_add(in, 0);
    for (int i = 0; i < 3; i++) {
        entries[i] = (entry){in, i + 2};
        vow_promise_release(vow_then(vow_promise_retain(settled), entry_write, &entries[i]));
    }
    vow_promise_release(settled);
    journal_add(in, 1);
    return vow_value_retain(input);
}

TEST("G4: then on a settled promise inside a handler that such a call runs waits for its end") {
    journal seen = {0};
    vow_executor_set_default(vow_executor_inline());
    vow_promise_release(vow_then(fulfilled_int(1), then_inside, &seen));
    journal_counts_to(&seen, 5);
    vow_executor_set_default(NULL);
}

/* The first of two inline handlers waits for something that the second does. */
typedef struct waits_inside {
    vow_promise *awaited;
    vow_resolver *resolver;
    journal seen;
} waits_inside;

static vow_value wait_for_second(vow_value input, void *context) {
    waits_inside *self = context;
    journal_add(&self->seen, 0);
    CHECK_INT_EQ(vow_await(self->awaited, LONG_ENOUGH, NULL), VOW_FULFILLED);
    journal_add(&self->seen, 2);
    return vow_value_retain(input);
}

static vow_value resolve_for_first(vow_value input, void *context) {
    waits_inside *self = context;
    journal_add(&self->seen, 1);
    CHECK(vow_resolve(self->resolver, vow_int(1)));
    return vow_value_retain(input);
}

TEST("of two inline handlers on one promise the first waits for the second") {
    for (int held = 0; held < 2; held++) {
        waits_inside self = {0};
        vow_resolver *resolver;
        vow_promise *promise = vow_promise_create(&resolver);
        self.awaited = vow_promise_create(&self.resolver);
        vow_promise *first = then_inline(vow_promise_retain(promise), wait_for_second, &self);
        vow_promise *second = then_inline(vow_promise_retain(promise), resolve_for_first, &self);
        if (!held) {
            vow_promise_release(promise);
        }
        CHECK(vow_resolve(resolver, vow_object(&(counter){0}, &counter_class)));
        journal_counts_to(&self.seen, 3);
        vow_promise_release(first);
        vow_promise_release(second);
        vow_resolver_release(resolver);
        vow_resolver_release(self.resolver);
        vow_promise_release(self.awaited);
        if (held) {
            vow_promise_release(promise);
        }
    }
}

/* A chain on a serial executor, each link of which registers more there. */
typedef struct growing {
    vow_executor *executor;
    vow_promise *promise;
    atomic_int side;
    atomic_int inside;
    int left;
} growing;

static vow_value count_side(vow_value input, void *context) {
    growing *self = context;
    CHECK_INT_EQ(atomic_fetch_add(&self->inside, 1), 0);
    atomic_fetch_add(&self->side, 1);
    atomic_fetch_sub(&self->inside, 1);
    return vow_value_retain(input);
}

static vow_value grow(vow_value input, void *context) {
    growing *self = context;
    CHECK_INT_EQ(atomic_fetch_add(&self->inside, 1), 0);
    for (int i = 0; i < 3; i++) {
        vow_promise_release(
            then_on(self->executor, vow_promise_retain(self->promise), count_side, self));
    }
    atomic_fetch_sub(&self->inside, 1);
    if (--self->left > 0) {
        vow_promise *next =
            then_on(self->executor, fulfilled_int(input.as.integer + 1), grow, self);
        return vow_from_promise(next);
    }
    return vow_int(input.as.integer + 1);
}

TEST("on a serial executor each handler of a chain registers more, and the next of the chain") {
    growing self = {vow_executor_serial("growing"), fulfilled_int(0), 0, 0, 1000};
    CHECK_INT_EQ(int_of(then_on(self.executor, fulfilled_int(0), grow, &self)), 1000);
    CHECK(reaches(&self.side, 3000));
    vow_promise_release(self.promise);
    vow_executor_release(self.executor);
}

/* Thousands of handlers, each of which releases a handle of the promise that it reads. */
static vow_value release_one(vow_value input, void *context) {
    CHECK(input.kind == VOW_OBJECT);
    vow_promise_release(context);
    return vow_none();
}

static void release_many(vow_executor *executor, bool last) {
    enum { MANY = 5000 };
    counter object = {0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise *end = NULL;
    for (int i = 0; i < MANY; i++) {
        vow_promise *derived = then_on(executor, vow_promise_retain(promise), release_one,
                                       vow_promise_retain(promise));
        vow_promise_release(end);
        end = derived;
    }
    if (last) {
        vow_promise_release(promise);
    }
    CHECK(vow_resolve(resolver, vow_object(&object, &counter_class)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(code_of(end), 0);
    if (last) {
        CHECK(reaches(&object.ends, 1));
    } else {
        CHECK_INT_EQ(atomic_load(&object.ends), 0);
        vow_promise_release(promise);
        CHECK(reaches(&object.ends, 1));
    }
}

TEST("thousands of handlers that each release the promise they read, inline and elsewhere") {
    vow_executor *serial = vow_executor_serial("releases");
    for (int last = 0; last < 2; last++) {
        release_many(vow_executor_inline(), last);
        release_many(serial, last);
        release_many(vow_executor_pool(), last);
    }
    vow_executor_release(serial);
}

/* A checked library keeps no memory for promises; what it freed lately it does keep. */
#if !defined VOW_CHECKED && defined __GLIBC__ && __GLIBC_PREREQ(2, 33)
/* What the program has of malloc; nothing where something stands before that. */
static int64_t bytes_taken(void) {
    return (int64_t)mallinfo2().uordblks;
}

enum { KEPT = 1000 };

static void *make_and_release(void *context) {
    int count = *(int *)context;
    vow_promise **links = malloc((size_t)count * sizeof *links);
    for (int i = 0; i < count; i++) {
        links[i] = then_inline(fulfilled_int(i), add_one, NULL);
    }
    for (int i = 0; i < count; i++) {
        CHECK_INT_EQ(int_of(links[i]), i + 1);
    }
    free(links);
    return NULL;
}

TEST("a thread keeps the memory of some promises, and gives it back when it ends") {
    int few = KEPT, many = 100 * KEPT;
    int64_t before = 0;
    for (int round = 0; round < 50; round++) {
        pthread_join(start_thread(make_and_release, &few), NULL);
        if (round == 9) {
            before = bytes_taken();
        }
    }
    /* Each of the forty had kept as many links of 80 bytes at least. */
    CHECK(bytes_taken() - before < 40 * KEPT * 80 / 4);
    before = bytes_taken();
    make_and_release(&many);
    /* 1,024 of each of two sizes, and 4,096 for other threads. */
    CHECK(bytes_taken() - before < 7 * KEPT * 100);
}
#endif
