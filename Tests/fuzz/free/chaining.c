/* Promises, resolvers, reactions and the context that travels along. */
#include "free.h"

static void create(void) {
    vow_resolver *resolver = NULL;
    int place = (int)next_below(PLACES);
    while (f.resolvers[place] != NULL) {
        drop_resolver(place);
    }
    int number = new_record(vow_promise_create(&resolver), BY_RESOLVER);
    f.resolvers[place] = resolver;
    f.resolver_records[place] = number;
    f.resolver_groups[place] = f.group_count++;
    put(number);
}

static void create_with(void) {
    int number = f.record_count++;
    f.records[number] = (record){.holds = 0, .loop = -1, .machine = -1};
    vow_value value = new_value(number);
    if (value.kind == VOW_PROMISE) {
        /* That promise itself, which has a record: the empty one is of no use. */
        vow_promise_release(vow_promise_with(value));
        return;
    }
    vow_promise *real = vow_promise_with(value);
    f.records[number].real = real;
    f.records[number].holds = 1;
    put(number);
}

static void wait_a_moment(int place) {
    int number = f.promises[place];
    vow_value out = vow_int(4711);
    hold_record(number);
    enter(IN_AWAIT, -1);
    int answer = vow_await(f.records[number].real, 0, &out);
    leave();
    trace("await record %d: %d", number, answer);
    if (answer == VOW_FULFILLED || answer == VOW_REJECTED) {
        learn(number, out);
        vow_value_release(out);
    } else {
        EXPECT(answer == VOW_PENDING || answer == VOW_EDEADLOCK, "await: %d", answer);
        EXPECT(out.kind == VOW_NONE, "await: a value with %d", answer);
        EXPECT(f.depth > 0 || answer == VOW_PENDING, "await: %d outside of handlers", answer);
    }
    let_go_record(number);
}

void promise_step(unsigned which) {
    int place = which < 2 ? -1 : some_place();
    if (which == 0) {
        create();
    } else if (which == 1) {
        create_with();
    } else if (place < 0) {
        return;
    } else if (which == 2) {
        int number = f.promises[place];
        hold_record(number);
        put(number);
    } else if (which == 3) {
        release_place(place);
    } else if (which == 5) {
        wait_a_moment(place);
    } else {
        look(f.promises[place]);
    }
}

static int some_resolver(void) {
    int from = (int)next_below(PLACES);
    for (int i = 0; i < PLACES; i++) {
        if (f.resolvers[(from + i) % PLACES] != NULL) {
            return (from + i) % PLACES;
        }
    }
    return -1;
}

void drop_resolver(int place) {
    vow_resolver *resolver = f.resolvers[place];
    f.resolvers[place] = NULL;
    f.can[-VOW_EBROKEN] = true;
    vow_resolver_release(resolver);
}

static void settle(int place, bool rejects) {
    vow_resolver *resolver = vow_resolver_retain(f.resolvers[place]);
    int number = f.resolver_records[place];
    vow_value value = rejects ? plain_value() : new_value(number);
    f.can[-VOW_EREASON] |= rejects;
    trace("%s record %d, kind %u", rejects ? "reject" : "resolve", number, value.kind);
    if (rejects) {
        vow_reject(resolver, value);
    } else {
        vow_resolve(resolver, value);
    }
    EXPECT(!vow_resolve(resolver, vow_int(1)), "resolved twice");
    vow_resolver_release(resolver);
}

void resolver_step(unsigned which) {
    int place = some_resolver();
    if (place < 0) {
        return;
    }
    if (which < 2) {
        settle(place, which == 1);
    } else if (which == 2) {
        int other = (int)next_below(PLACES);
        if (f.resolvers[other] == NULL) {
            f.resolvers[other] = vow_resolver_retain(f.resolvers[place]);
            f.resolver_records[other] = f.resolver_records[place];
            f.resolver_groups[other] = f.resolver_groups[place];
        }
    } else {
        drop_resolver(place);
    }
}

/* Before the call, which may run the handler: its record is the next. */
static bond *new_link(int upstream, int executor, bool on_value, bool on_error) {
    int number = f.record_count++;
    f.records[number] = (record){.origin = BY_LINK, .loop = -1, .machine = -1};
    wait_for(number, upstream);
    bond *self = &f.links[f.link_count];
    *self = (bond){.record = number, .upstream = upstream, .executor = executor};
    self->carried = carried_now();
    self->on_value = on_value;
    self->on_error = on_error;
    f.records[number].link = f.link_count + 1;
    trace("link %d: record %d -> %d, executor %d", f.link_count, upstream, number, executor);
    f.link_count++;
    return self;
}

static void have(const bond *self, vow_promise *real) {
    EXPECT(real != NULL, "NULL instead of a promise");
    f.records[self->record].real = real;
    f.records[self->record].holds = 1;
    put(self->record);
}

static void react(void) {
    int upstream = -1, executor = 0;
    unsigned form = next_byte();
    vow_promise *promise = take(&upstream);
    if (promise == NULL) {
        return;
    }
    vow_reaction reaction = {.size = sizeof reaction, .destroy = free_on_destroy};
    reaction.executor = some_executor(&executor);
    reaction.token = form & 16 ? any_token() : NULL;
    bond *self = new_link(upstream, executor, form & 1, form & 2);
    self->has_destroy = true;
    self->cleans_up = form & 4;
    self->finally = (form & 7) == 7;
    self->has_token = reaction.token != NULL;
    reaction.on_fulfilled = form & 1 ? free_on_value : NULL;
    reaction.on_rejected = form & 2 ? free_on_error : NULL;
    reaction.context = self;
    reaction.flags = form & 4 ? VOW_FINALLY : 0;
    reaction.label = "a label";
    have(self, vow_then_with(promise, &reaction));
}

static void react_shortly(unsigned which) {
    int upstream = -1;
    vow_promise *promise = take(&upstream);
    if (promise == NULL) {
        return;
    }
    int executor = executor_number(vow_executor_current());
    bond *self = new_link(upstream, executor, which == 0, which != 0);
    have(self, which == 0   ? vow_then(promise, free_on_value, self)
               : which == 1 ? vow_catch(promise, free_on_error, self)
                            : vow_catch_if(promise, "fuzz", VOW_ANY_CODE, free_on_error, self));
}

static void run_elsewhere(bool as_fiber) {
    int executor = 0;
    vow_executor *named = some_executor(&executor);
    bond *self = new_link(-1, executor, true, false);
    have(self, as_fiber ? vow_fiber(named, free_on_fiber, self, NULL)
                        : vow_async(named, free_on_value, self));
}

void chain_step(unsigned which) {
    if (f.link_count >= LINKS - 1) {
        return;
    }
    if (which < 3) {
        react_shortly(which);
    } else if (which < 6) {
        react();
    } else {
        run_elsewhere(which == 7);
    }
}

/* In a handler, for as long as that runs; elsewhere for the thread. */
void context_step(unsigned which) {
    frame top = f.frames[f.depth];
    if (top != AT_TOP && top != IN_HANDLER) {
        return;
    }
    EXPECT(carried_now() == f.carried[f.depth], "the context %d instead of %d", carried_now(),
           f.carried[f.depth]);
    if (which < 2) {
        int number = next_byte();
        f.carried[f.depth] = which ? number : -1;
        vow_context_set(which ? vow_int(number) : vow_none());
    }
}
