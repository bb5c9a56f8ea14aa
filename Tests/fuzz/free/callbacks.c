/* What the library calls: each is called as often as the header says, and where it says. */
#include "free.h"

/* Some go on with the program. */
void maybe_steps(void) {
    unsigned count = next_below(8);
    steps(count > 5 ? count - 5 : 0);
}

/* Only numbers travel. */
int carried_now(void) {
    vow_value real = vow_context_get();
    EXPECT(real.kind == VOW_NONE || real.kind == VOW_INT, "a context of kind %u", real.kind);
    return real.kind == VOW_NONE ? -1 : (int)real.as.integer;
}

/* Handlers of one promise on one executor start in the order in which they were registered. */
static void check_order(const bond *self) {
    for (int i = 0; i < f.link_count; i++) {
        bond *other = &f.links[i];
        bool same_queue = other != self && other->upstream == self->upstream &&
                          self->upstream >= 0 && other->executor == self->executor;
        if (same_queue && other < self && other->runs == 0 && !other->has_token) {
            other->overtaken = true; /* it was cancelled, or passes */
        }
    }
    EXPECT(!self->overtaken, "link %d was overtaken", (int)(self - f.links));
}

/* What somebody holds is cancelled by nobody else. */
static bool is_surely_wanted(const bond *self) {
    const record *it = self->record < 0 ? NULL : &f.records[self->record];
    return it != NULL && it->holds > 0 && !it->cancelled;
}

/* G14: what belongs to a link ends before its promise settles. */
static void check_is_unsettled(const bond *self) {
    const record *it = self->record < 0 ? NULL : &f.records[self->record];
    EXPECT(it == NULL || it->holds == 0 || vow_promise_state(it->real) == VOW_PENDING,
           "link %d is at work, and its promise is settled", (int)(self - f.links));
}

static vow_value handle(vow_value input, bond *self) {
    int number = (int)(self - f.links);
    trace("handler of link %d, record %d", number, self->record);
    EXPECT(self->runs++ == 0, "handler %d ran twice", number);
    EXPECT(self->destroyed == 0, "handler %d with a destroyed context", number);
    check_place(self->executor);
    check_is_unsettled(self);
    /* One that is cancelled reads so, if it does not clean up, and before its turn. */
    if (!self->has_token && !is_own(input, VOW_ECANCELLED)) {
        if (!self->cleans_up || is_surely_wanted(self)) {
            check_order(self);
        }
        if (self->upstream >= 0) {
            learn(self->upstream, input);
        }
    }
    EXPECT(carried_now() == self->carried, "handler %d: the context %d instead of %d", number,
           carried_now(), self->carried);
    enter(IN_HANDLER, self->executor);
    self->running = true;
    f.carried[f.depth] = self->carried;
    EXPECT(executor_number(vow_executor_current()) == self->executor,
           "another executor is current");
    maybe_steps();
    /* An object is returned once only: it is asked for one promise. */
    bool returns_input = next_below(4) == 0 && input.kind != VOW_OBJECT;
    vow_value result = returns_input ? vow_value_retain(input) : new_value(self->record);
    trace("handler of link %d returns kind %u", number, result.kind);
    self->running = false;
    leave();
    return result;
}

vow_value free_on_value(vow_value input, void *context) {
    bond *self = context;
    EXPECT(input.kind != VOW_ERROR && self->on_value, "an error for the handler of values");
    return handle(input, self);
}

/* A fiber gives up its turn before it does anything: later, its frames would be among others'. */
vow_value free_on_fiber(vow_value input, void *context) {
    const bond *self = context;
    for (unsigned i = next_below(3); i > 0 && self->executor < 10; i--) {
        EXPECT(vow_fiber_yield() == 0, "a fiber is none");
    }
    f.fibers++;
    vow_value result = free_on_value(input, context);
    f.fibers--;
    return result;
}

vow_value free_on_error(vow_value input, void *context) {
    bond *self = context;
    EXPECT(input.kind == VOW_ERROR && self->on_error, "a value for the handler of errors");
    return handle(input, self);
}

void free_on_destroy(void *context) {
    bond *self = context;
    int number = (int)(self - f.links);
    trace("context %d destroyed", number);
    EXPECT(self->has_destroy && self->destroyed++ == 0, "context %d destroyed twice", number);
    EXPECT(!self->running, "context %d destroyed under its handler", number);
    check_is_unsettled(self);
    enter(IN_CALLBACK, -1);
    self->running = true;
    maybe_steps();
    self->running = false;
    leave();
}

void free_on_hook(void *context) {
    watch *self = context;
    int number = (int)(self - f.watches);
    trace("hook %d is called", number);
    EXPECT(self->called++ == 0 && self->destroyed == 0, "hook %d is called again", number);
    for (watch *other = f.watches; other < self; other++) {
        EXPECT(self->of_token || other->of_token || other->group != self->group ||
                   other->called + other->destroyed > 0,
               "hook %d is called before an earlier one", number);
    }
    enter(IN_CALLBACK, -1);
    maybe_steps();
    leave();
}

void free_on_hook_destroy(void *context) {
    watch *self = context;
    EXPECT(self->destroyed++ == 0, "hook %d is destroyed again", (int)(self - f.watches));
    enter(IN_CALLBACK, -1);
    steps(next_below(8) == 7);
    leave();
}

void free_on_unhandled(vow_value error, void *context) {
    EXPECT(context == &f && error.kind == VOW_ERROR, "a report of kind %u", error.kind);
    EXPECT(!is_own(error, VOW_ECANCELLED), "a cancellation is reported");
    enter(IN_CALLBACK, -1);
    maybe_steps();
    leave();
}

static void on_thing_destroy(void *pointer) {
    thing *self = pointer;
    EXPECT(self->destroyed++ == 0, "an object destroyed twice");
    enter(IN_CALLBACK, -1);
    maybe_steps();
    leave();
}

static bool on_subscribe(void *pointer, vow_resolver *resolver) {
    thing *self = pointer;
    frame top = f.frames[f.depth];
    trace("thing %d is asked", (int)(self - f.things));
    EXPECT(self->asked++ == 0 && self->destroyed == 0, "an object is asked again");
    EXPECT(top != IN_HANDLER && top != IN_CALLBACK, "subscribe inside a handler or callback");
    unsigned how = next_below(8);
    f.can[-VOW_EBROKEN] = true;
    enter(IN_CALLBACK, -1);
    maybe_steps();
    if (how < 3) {
        vow_resolve(resolver, new_value(self->owner));
    }
    leave();
    int place = (int)next_below(PLACES);
    if (how >= 3 && how < 6 && f.resolvers[place] == NULL) {
        f.resolvers[place] = resolver;
        f.resolver_records[place] = self->owner;
        f.resolver_groups[place] = f.group_count++;
    } else {
        vow_resolver_release(resolver);
    }
    return how != 7;
}

const vow_class free_plain = {sizeof free_plain, "plain", on_thing_destroy, NULL};
const vow_class free_thenable = {sizeof free_thenable, "thenable", on_thing_destroy, on_subscribe};
