/* Tests chapter 9, linked sources: they live by their tokens. */
#include "worker.h"

static void told(void *context) {
    atomic_fetch_add(&((counter *)context)->runs, 1);
}

static bool ran(counter *of, int runs, int ends) {
    return CHECK_INT_EQ(atomic_load(&of->runs), runs) && CHECK_INT_EQ(atomic_load(&of->ends), ends);
}

static void hear(counter *of, vow_token *token) {
    CHECK_INT_EQ(vow_token_on_cancel(token, told, of, counter_end), 0);
}

/* The token (owned) of a source that is linked to others and that nobody has. */
static vow_token *linked_token(vow_token *first, vow_token *second) {
    vow_token *parents[2] = {first, second};
    vow_cancel_source *child = vow_cancel_source_create_linked(parents, 2);
    vow_token *token = vow_token_retain(vow_cancel_source_token(child));
    vow_cancel_source_release(child);
    return token;
}

static uint64_t bytes_now(void) {
    vow_statistics now = {.size = sizeof now};
    CHECK_INT_EQ(vow_stats(&now), 0);
    return now.bytes;
}

TEST("a linked source that is gone is cancelled with its parent while somebody has its token") {
    counter of_token = {0};
    vow_resolver *resolver;
    vow_cancel_source *parent = vow_cancel_source_create();
    vow_token *token = linked_token(vow_cancel_source_token(parent), NULL);
    vow_promise *pending = vow_promise_create(&resolver);
    vow_reaction reaction = {.size = sizeof reaction, .on_fulfilled = counter_run, .token = token};
    vow_promise *link = vow_then_with(pending, &reaction);
    hear(&of_token, token);
    ran(&of_token, 0, 0);
    CHECK(vow_cancel_source_cancel_with(parent, vow_int(7)));
    CHECK(vow_token_is_cancelled(token));
    CHECK_INT_EQ(vow_token_reason(token).as.integer, 7);
    ran(&of_token, 1, 1);
    CHECK_INT_EQ(code_of(link), VOW_ECANCELLED);
    vow_token_release(token);
    vow_cancel_source_release(parent);
    vow_resolver_release(resolver);
}

TEST("a reaction has its token, though nobody else has") {
    counter success = {0};
    vow_resolver *resolver;
    vow_cancel_source *parent = vow_cancel_source_create();
    vow_token *token = linked_token(vow_cancel_source_token(parent), NULL);
    vow_promise *pending = vow_promise_create(&resolver);
    vow_reaction reaction = {.size = sizeof reaction,
                             .on_fulfilled = counter_run,
                             .context = &success,
                             .destroy = counter_end,
                             .token = token};
    vow_promise *link = vow_then_with(pending, &reaction);
    vow_token_release(token);
    CHECK(vow_cancel_source_cancel(parent));
    CHECK_INT_EQ(code_of(link), VOW_ECANCELLED);
    ran(&success, 0, 1);
    vow_cancel_source_release(parent);
    vow_resolver_release(resolver);
}

TEST("with its last token it leaves its parent: what was to be called is destroyed, its memory "
     "goes") {
    counter of_token = {0};
    vow_cancel_source *parent = vow_cancel_source_create();
    uint64_t before = bytes_now();
    vow_token *token = linked_token(vow_cancel_source_token(parent), NULL);
    hear(&of_token, token);
    CHECK(vow_token_retain(token) == token);
    vow_token_release(token);
    ran(&of_token, 0, 0);
    vow_token_release(token);
    ran(&of_token, 0, 1);
    CHECK_INT_EQ(bytes_now(), before);
    CHECK(vow_cancel_source_cancel(parent));
    ran(&of_token, 0, 1);
    vow_cancel_source_release(parent);
}

TEST("what was to be called is destroyed when the last of those goes who could cancel it") {
    counter of_two = {0}, of_one = {0}, late = {0};
    vow_cancel_source *first = vow_cancel_source_create();
    vow_cancel_source *second = vow_cancel_source_create();
    vow_token *two = linked_token(vow_cancel_source_token(first), vow_cancel_source_token(second));
    vow_token *one = linked_token(vow_cancel_source_token(first), NULL);
    hear(&of_two, two);
    hear(&of_one, one);
    vow_cancel_source_release(first);
    ran(&of_one, 0, 1);
    ran(&of_two, 0, 0);
    hear(&late, one);
    ran(&late, 0, 1);
    vow_token *of_neither = linked_token(one, one);
    hear(&late, of_neither);
    ran(&late, 0, 2);
    vow_token_release(of_neither);
    vow_cancel_source_release(second);
    ran(&of_two, 0, 1);
    CHECK(!vow_token_is_cancelled(two));
    vow_token_release(one);
    vow_token_release(two);
}

TEST("a source outlives its parents: it cancels still") {
    counter called = {0};
    vow_cancel_source *parent = vow_cancel_source_create();
    vow_token *of_parent = vow_cancel_source_token(parent);
    vow_cancel_source *child = vow_cancel_source_create_linked(&of_parent, 1);
    hear(&called, vow_cancel_source_token(child));
    vow_cancel_source_release(parent);
    ran(&called, 0, 0);
    CHECK(vow_cancel_source_cancel(child));
    ran(&called, 1, 1);
    vow_cancel_source_release(child);
}

TEST("a registration's handle is no token: a source that has but those is not cancelled") {
    counter called = {0};
    vow_registration *registration;
    vow_cancel_source *parent = vow_cancel_source_create();
    vow_token *token = linked_token(vow_cancel_source_token(parent), NULL);
    CHECK_INT_EQ(vow_token_register(token, told, &called, counter_end, &registration), 0);
    vow_token_release(token);
    ran(&called, 0, 1);
    CHECK(vow_cancel_source_cancel(parent));
    ran(&called, 0, 1);
    CHECK_INT_EQ(vow_registration_leave(registration), VOW_NEVER_RUNS);
    vow_registration_release(registration);
    vow_cancel_source_release(parent);
}

#define SOURCES 100000

/* The last of a row of tokens, each of a source that only the next one keeps. */
static vow_token *row_of(vow_cancel_source *first) {
    vow_token *last = vow_token_retain(vow_cancel_source_token(first));
    for (int i = 0; i < SOURCES; i++) {
        vow_token *next = linked_token(last, NULL);
        vow_token_release(last);
        last = next;
    }
    return last;
}

TEST("a long row of sources that are gone is cancelled, given up and freed flat") {
    for (int cancels = 0; cancels < 2; cancels++) {
        counter called = {0};
        vow_cancel_source *first = vow_cancel_source_create();
        vow_token *last = row_of(first);
        hear(&called, last);
        ran(&called, 0, 0);
        CHECK(!cancels || vow_cancel_source_cancel_with(first, vow_int(3)));
        vow_cancel_source_release(first);
        ran(&called, cancels, 1);
        CHECK_INT_EQ(vow_token_reason(last).as.integer, cancels ? 3 : 0);
        vow_token_release(last);
    }
}

TEST("very many children of one source come and go in any order") {
    vow_cancel_source *parent = vow_cancel_source_create();
    vow_token **tokens = malloc(SOURCES * sizeof *tokens);
    uint64_t before = bytes_now();
    for (int i = 0; i < SOURCES; i++) {
        tokens[i] = linked_token(vow_cancel_source_token(parent), NULL);
    }
    for (int i = 0; i < SOURCES; i++) {
        vow_token_release(tokens[(int)((int64_t)i * 7919 % SOURCES)]);
    }
    CHECK_INT_EQ(bytes_now(), before);
    free(tokens);
    vow_cancel_source_release(parent);
}
