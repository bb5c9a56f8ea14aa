/* Two threads at once with the same few promises: no model can say who comes first, so what holds
 * either way is checked. Cancelling, tokens, combinators, a scope and progress; and fibers that
 * wait for these promises.
 *
 * Left out, since the library does not stand it yet: a scope whose end is cancelled, or read by
 * nobody, while its last member settles. So the end has a handle here until it is settled, and
 * nobody cancels it.
 */
#include "../bytes.h"
#include "threads.h"

#include <pthread.h>
#include <string.h>

enum { FOLK = 4, GROUPS = 4, SCRIPT = 24, CROWD_LINKS = 16 };

/* Of a reaction, a fiber, a hook or a listener. */
typedef struct ticket {
    atomic_int calls, ends;
    atomic_bool runs;
    int most;
    bool cleans_up; /* so it is called exactly once */
    /* Of a fiber: its place among the links, its bits, and what it resolves before it waits. */
    int link;
    unsigned form;
    vow_resolver *resolver;
    vow_promise *read;
} ticket;

typedef struct crowd {
    vow_promise *promises[FOLK];
    vow_resolver *resolvers[FOLK];
    atomic_int winners[FOLK]; /* calls that said that they have decided */
    vow_promise *groups[GROUPS];
    vow_promise *chains[CROWD_LINKS];
    ticket *links[CROWD_LINKS];
    atomic_int cancels[CROWD_LINKS]; /* calls that said that they have cancelled */
    vow_executor *serial;
    vow_scope *scope;
    vow_cancel_source *source;
    ticket tickets[CROWD_LINKS + 3 * FOLK];
    int ticket_count;
} crowd;

typedef struct actor {
    uint8_t script[SCRIPT];
    pthread_t thread;
} actor;

static crowd c;

static ticket *new_ticket(int most) {
    ticket *self = &c.tickets[c.ticket_count++];
    self->most = most;
    return self;
}

static void on_call(ticket *self) {
    if (atomic_exchange(&self->runs, true)) {
        differ("a callback runs twice at a time", (int)(self - c.tickets));
    }
    int calls = atomic_fetch_add(&self->calls, 1) + 1;
    if (atomic_load(&self->ends) != 0 || (self->most > 0 && calls > self->most)) {
        differ("a callback too many", (int)(self - c.tickets));
    }
    atomic_store(&self->runs, false);
}

static vow_value on_link(vow_value input, void *context) {
    on_call(context);
    return vow_value_retain(input);
}

static vow_value on_nothing(vow_value input, void *context) {
    (void)context;
    return vow_value_retain(input);
}

static void on_signal(void *context) {
    on_call(context);
}

static void on_news(double fraction, const char *note, void *context) {
    if (!(fraction >= 0 && fraction <= 1) || (note != NULL && strcmp(note, "so far") != 0)) {
        differ("progress that nobody has made", (int)(fraction * 100));
    }
    on_call(context);
}

static void on_end(void *context) {
    ticket *self = context;
    vow_resolver_release(self->resolver);
    vow_promise_release(self->read);
    if (atomic_load(&self->runs) || atomic_fetch_add(&self->ends, 1) != 0) {
        differ("a context is destroyed twice, or too early", (int)(self - c.tickets));
    }
}

static vow_executor *executor(unsigned number) {
    return number % 3 == 0   ? vow_executor_pool()
           : number % 3 == 1 ? c.serial
                             : vow_executor_inline();
}

static vow_promise *read_by(int link) {
    return link % 2 ? c.promises[link / 2 % FOLK] : c.groups[link / 2 % GROUPS];
}

static void decided(int number, bool done) {
    if (done && atomic_fetch_add(&c.winners[number], 1) != 0) {
        differ("two have decided about one promise", number);
    }
}

/* In short pieces, or in one that may give its handle up. */
static int wait_in_fiber(ticket *self, vow_value *out) {
    vow_promise *promise = self->read;
    int state = VOW_PENDING;
    if (self->form & 4) {
        self->read = NULL;
        return vow_take(promise, VOW_FOREVER, out);
    }
    for (int i = 0; i < 8 && self->form & 8 && state == VOW_PENDING; i++) {
        state = vow_await(promise, (int64_t)(self->form / 16) * 2000, out);
        if (state == VOW_PENDING && (out->kind != VOW_NONE || vow_fiber_yield() != 0)) {
            differ("a fiber that has waited is none", self->link);
        }
    }
    return state == VOW_PENDING ? vow_await(promise, VOW_FOREVER, out) : state;
}

static vow_value in_fiber(vow_value input, void *context) {
    ticket *self = context;
    vow_value out = vow_none();
    int number = (int)(self->form / 16) % FOLK;
    on_call(self);
    /* Until the function returns, however often it is suspended. */
    atomic_store(&self->runs, true);
    vow_executor *here = vow_executor_current();
    if (input.kind != VOW_NONE || (self->form & 1 && vow_fiber_yield() != 0)) {
        differ("a fiber is run wrongly", self->link);
    }
    if (self->form & 2) {
        decided(number, vow_resolve(self->resolver, vow_int(self->form)));
    }
    vow_resolver_release(self->resolver);
    self->resolver = NULL;
    int state = wait_in_fiber(self, &out);
    if (state != (int)(out.kind == VOW_ERROR ? VOW_REJECTED : VOW_FULFILLED)) {
        differ("a fiber's wait", state);
    }
    if (vow_executor_current() != here) {
        differ("a fiber goes on on another executor", self->link);
    }
    atomic_store(&self->runs, false);
    return out;
}

/* A fiber in the place of a link. */
static vow_promise *start_fiber(int link, unsigned form, const vow_reaction *reaction) {
    vow_fiber_options options = {.size = sizeof options, .token = reaction->token};
    ticket *self = reaction->context;
    options.destroy = reaction->destroy;
    self->link = link;
    self->form = form;
    self->read = vow_promise_retain(read_by(link));
    self->resolver = vow_resolver_retain(c.resolvers[form / 16 % FOLK]);
    return vow_fiber(reaction->executor, in_fiber, self, &options);
}

/* The first byte says which links are fibers, the others have their bits. */
static void gather(unsigned form, const uint8_t *fibers) {
    c.serial = vow_executor_serial("fuzz");
    c.source = vow_cancel_source_create();
    c.scope = vow_scope_create();
    for (int i = 0; i < FOLK; i++) {
        c.promises[i] = vow_promise_create(&c.resolvers[i]);
        vow_resolver_on_cancel(c.resolvers[i], on_signal, new_ticket(1), on_end);
        vow_executor_set_default(executor(form + (unsigned)i));
        vow_on_progress(c.promises[i], 0, on_news, new_ticket(0), on_end);
    }
    vow_executor_set_default(NULL);
    for (int i = 0; i < GROUPS; i++) {
        vow_promise *members[FOLK];
        for (int j = 0; j < FOLK; j++) {
            members[j] = vow_promise_retain(c.promises[j]);
        }
        c.groups[i] = i == 0   ? vow_all(members, FOLK)
                      : i == 1 ? vow_any(members, FOLK)
                      : i == 2 ? vow_some(members, FOLK, 2)
                               : vow_race(members, FOLK);
    }
    for (int i = 0; i < CROWD_LINKS; i++) {
        vow_reaction reaction = {.size = sizeof reaction, .destroy = on_end};
        reaction.on_fulfilled = on_link;
        bool cleans_up = form & 2 && i % 4 < 2;
        reaction.on_rejected = form & 1 || cleans_up ? on_link : NULL;
        reaction.flags = cleans_up ? VOW_FINALLY : 0;
        reaction.context = c.links[i] = new_ticket(1);
        c.links[i]->cleans_up = cleans_up;
        reaction.executor = executor(form / 4 + (unsigned)i);
        reaction.token = i % 3 ? NULL : vow_cancel_source_token(c.source);
        bool is_fiber = fibers[0] >> i % 8 & 1 && !cleans_up;
        c.chains[i] = is_fiber ? start_fiber(i, fibers[1 + i % 4], &reaction)
                               : vow_then_with(vow_promise_retain(read_by(i)), &reaction);
    }
}

static void act(unsigned byte) {
    int number = (int)(byte / 16) % FOLK;
    switch (byte % 16) {
    case 0:
    case 1:
        decided(number, vow_resolve(c.resolvers[number], vow_int(byte)));
        break;
    case 2:
        decided(number, vow_reject(c.resolvers[number], vow_error("fuzz", byte, NULL)));
        break;
    case 3:
        decided(number, vow_cancel(c.promises[number]));
        break;
    case 4:
        vow_cancel(c.groups[number % GROUPS]);
        break;
    case 5:
        vow_cancel_source_cancel(c.source);
        break;
    case 6:
    case 7:
        vow_promise_set_progress(c.promises[number], byte / 255.0, byte & 64 ? "so far" : NULL);
        break;
    case 8:
        vow_resolver_set_progress(c.resolvers[number], 1, "so far");
        break;
    case 9:
    case 10: {
        int answer = vow_scope_add(c.scope, vow_promise_retain(c.chains[byte / 16]));
        if (answer != 0 && answer != VOW_ECANCELLED) {
            differ("a member is not added", answer);
        }
        break;
    }
    case 11:
        vow_scope_cancel(c.scope);
        break;
    case 12:
        if (vow_cancel(c.chains[byte / 16]) && atomic_fetch_add(&c.cancels[byte / 16], 1) != 0) {
            differ("a promise is cancelled twice", (int)byte / 16);
        }
        break;
    case 13: {
        vow_promise *members[] = {vow_promise_retain(c.promises[number]),
                                  vow_promise_retain(c.groups[number % GROUPS])};
        vow_promise_release(byte & 64 ? vow_race(members, 2) : vow_all_settled(members, 2));
        break;
    }
    default:
        vow_promise_release(
            vow_then(vow_promise_retain(c.groups[number % GROUPS]), on_nothing, NULL));
    }
}

static void *run_script(void *argument) {
    actor *self = argument;
    for (int i = 0; i < SCRIPT && self->script[i] != 0; i++) {
        act(self->script[i]);
    }
    return NULL;
}

/* What the header lets the outcome be, and that each has one. */
static void check_outcome(vow_promise *promise, int number, vow_kind kind) {
    vow_value out = vow_none();
    int state = vow_await(promise, PATIENCE * INT64_C(1000000000), &out);
    bool good =
        state == VOW_REJECTED ? out.kind == VOW_ERROR : state == VOW_FULFILLED && out.kind == kind;
    if (!good) {
        differ("an outcome that cannot be", number * 1000 + state);
    }
    vow_value again = vow_none();
    if (!vow_promise_peek(promise, &again) || again.as.integer != out.as.integer) {
        differ("an outcome that changes", number);
    }
    vow_value_release(out);
}

/* G14 and G15: what belongs to a settled promise is over. */
static void check_is_through(const ticket *self, int number) {
    if (atomic_load(&self->runs) || atomic_load(&self->ends) != 1) {
        differ("a promise is settled before its context is destroyed", number);
    }
    if (self->cleans_up && atomic_load(&self->calls) != 1) {
        differ("a clean-up has not run once", number);
    }
}

static const vow_kind kinds[GROUPS] = {VOW_LIST, VOW_INT, VOW_LIST, VOW_INT};

static vow_kind kind_of_chain(int number) {
    return number % 2 ? VOW_INT : kinds[number / 2 % GROUPS];
}

static void disperse(void) {
    vow_promise *end = vow_scope_close(c.scope);
    for (int i = 0; i < FOLK; i++) {
        vow_resolver_release(c.resolvers[i]);
    }
    check_outcome(end, 1, VOW_NONE);
    vow_promise_release(end);
    for (int i = 0; i < GROUPS; i++) {
        check_outcome(c.groups[i], 10 + i, kinds[i]);
        vow_promise_release(c.groups[i]);
    }
    for (int i = 0; i < FOLK; i++) {
        check_outcome(c.promises[i], 20 + i, VOW_INT);
        vow_promise_release(c.promises[i]);
    }
    for (int i = 0; i < CROWD_LINKS; i++) {
        check_outcome(c.chains[i], 30 + i, kind_of_chain(i));
        check_is_through(c.links[i], 30 + i);
        if (atomic_load(&c.cancels[i]) && vow_promise_state(c.chains[i]) == VOW_FULFILLED) {
            differ("a promise is fulfilled though it was cancelled", 30 + i);
        }
        vow_promise_release(c.chains[i]);
    }
    vow_cancel_source_release(c.source);
    vow_executor_release(c.serial);
}

static bool all_ended(void) {
    for (int i = 0; i < c.ticket_count; i++) {
        if (atomic_load(&c.tickets[i].ends) == 0) {
            return false;
        }
    }
    return true;
}

void crowd_step(void) {
    actor actors[2];
    uint8_t form = next_byte(), fibers[5];
    memset(&c, 0, sizeof c);
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < SCRIPT; j++) {
            actors[i].script[j] = next_byte();
        }
    }
    for (int i = 0; i < 5; i++) {
        fibers[i] = next_byte();
    }
    gather(form, fibers);
    for (int i = 0; i < 2; i++) {
        pthread_create(&actors[i].thread, NULL, run_script, &actors[i]);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(actors[i].thread, NULL);
    }
    disperse();
    wait_for_all(all_ended, "a context of the crowd is not destroyed");
}
