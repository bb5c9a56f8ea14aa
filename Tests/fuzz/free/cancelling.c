/* Cancelling promises, sources and their tokens, and hooks. Also inside callbacks. */
#include "free.h"

static watch *new_watch(int group, bool of_token) {
    watch *self = &f.watches[f.watch_count++];
    *self = (watch){.group = group, .of_token = of_token};
    return self;
}

static int some_source(void) {
    int from = (int)next_below(PLACES);
    for (int i = 0; i < PLACES; i++) {
        if (f.sources[(from + i) % PLACES] != NULL) {
            return (from + i) % PLACES;
        }
    }
    return -1;
}

/* Borrowed. */
vow_token *any_token(void) {
    int place = some_source();
    return place < 0 ? NULL : vow_cancel_source_token(f.sources[place]);
}

void drop_source(int place) {
    vow_cancel_source *source = f.sources[place];
    f.sources[place] = NULL;
    vow_cancel_source_release(source);
}

static void put_source(vow_cancel_source *source) {
    int place = (int)next_below(PLACES);
    while (f.sources[place] != NULL) {
        drop_source(place);
    }
    f.sources[place] = source;
}

static void cancel(int place) {
    int number = f.promises[place];
    hold_record(number);
    vow_promise *real = f.records[number].real;
    f.records[number].cancelled = true;
    bool was_pending = vow_promise_state(real) == VOW_PENDING;
    bool done = next_below(2) ? vow_cancel_with(real, plain_value()) : vow_cancel(real);
    trace("cancel record %d: %d", number, done);
    EXPECT(!done || was_pending, "record %d: cancelled though settled", number);
    EXPECT(!done || !f.records[number].was_pending, "record %d: cancelled twice", number);
    f.records[number].was_pending = f.records[number].was_pending || done;
    let_go_record(number);
}

static void cancel_source(int place) {
    vow_cancel_source *source = vow_cancel_source_retain(f.sources[place]);
    vow_token *token = vow_token_retain(vow_cancel_source_token(source));
    bool before = vow_token_is_cancelled(token);
    bool done = vow_cancel_source_cancel_with(source, vow_int(7));
    trace("cancel source at %d: %d", place, done);
    EXPECT(done != before, "a source is cancelled: %d", done);
    EXPECT(vow_token_is_cancelled(token), "a cancelled token is not");
    vow_value reason = vow_token_reason(token);
    EXPECT(reason.kind == VOW_INT || before, "another reason");
    vow_value_release(reason);
    vow_token_release(token);
    vow_cancel_source_release(source);
}

void cancel_step(unsigned which) {
    int place;
    f.can[-VOW_ECANCELLED] = true;
    if (which < 5) {
        place = some_place();
        if (place >= 0) {
            cancel(place);
        }
    } else if (which < 7) {
        place = (int)next_below(PLACES);
        if (f.resolvers[place] != NULL && f.watch_count < HOOKS - 1) {
            watch *self = new_watch(f.resolver_groups[place], false);
            vow_resolver *resolver = vow_resolver_retain(f.resolvers[place]);
            EXPECT(vow_resolver_on_cancel(resolver, free_on_hook, self, free_on_hook_destroy) == 0,
                   "no hook");
            vow_resolver_release(resolver);
        }
    } else if (which < 10) {
        vow_token *parents[2] = {any_token(), NULL};
        put_source(which == 9 ? vow_cancel_source_create_linked(parents, 2)
                              : vow_cancel_source_create());
    } else if (which < 13) {
        place = some_source();
        if (place >= 0) {
            cancel_source(place);
        }
    } else if (which == 13) {
        place = some_source();
        if (place >= 0) {
            drop_source(place);
        }
    } else if (f.watch_count < HOOKS - 1) {
        vow_token *token = vow_token_retain(any_token());
        if (token != NULL) {
            watch *self = new_watch(0, true);
            EXPECT(vow_token_on_cancel(token, free_on_hook, self, free_on_hook_destroy) == 0,
                   "no hook");
        }
        vow_token_release(token);
    }
}
