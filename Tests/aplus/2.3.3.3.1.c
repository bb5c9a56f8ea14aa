/* Promises/A+ 2.3.3.3.1: a thenable resolves with something, which is resolved in turn. */
#include "asked.h"
#include "offer.h"

/* Thenables that resolve with each offer: at once, or from another thread. */
typedef struct giver {
    offer *gives;
    vow_resolver *kept;
    pthread_t thread;
    atomic_bool stored;
    bool later;
} giver;

static void giver_give(giver *self, vow_resolver *resolver) {
    CHECK(vow_resolve(resolver, offer_value(self->gives)));
    CHECK(!vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
}

static void *giver_thread(void *context) {
    giver *self = context;
    usleep(300);
    giver_give(self, self->kept);
    return NULL;
}

static bool giver_subscribe(void *pointer, vow_resolver *resolver) {
    giver *self = pointer;
    if (self->later) {
        self->kept = resolver;
        self->thread = start_thread(giver_thread, self);
        atomic_store(&self->stored, true);
    } else {
        giver_give(self, resolver);
    }
    return true;
}

static const vow_class giver_class = {sizeof(vow_class), "giver", NULL, giver_subscribe};

static vow_value give_giver(vow_value input, void *context) {
    (void)input;
    return vow_object(context, &giver_class);
}

typedef struct setting {
    vow_executor *executor;
    bool later;
} setting;

static void gives_offer(offer *self, void *context) {
    setting *set = context;
    giver thenable;
    memset(&thenable, 0, sizeof thenable);
    thenable.gives = self;
    thenable.later = set->later;
    offer_expect(self, vow_async(set->executor, give_giver, &thenable));
    if (set->later) {
        while (!atomic_load(&thenable.stored)) {
            usleep(50);
        }
        pthread_join(thenable.thread, NULL);
    }
}

static void gives_each(bool later) {
    vow_executor *serial = vow_executor_serial("givers");
    vow_executor *executors[3] = {vow_executor_inline(), vow_executor_pool(), serial};
    for (int i = 0; i < 3; i++) {
        setting set = {executors[i], later};
        for_each_offer(gives_offer, &set);
    }
    vow_executor_release(serial);
}

TEST("2.3.3.3.1: a thenable that gives, at once, each kind of thing that can be followed") {
    gives_each(false);
}

TEST("2.3.3.3.1: a thenable that gives the same later, from another thread") {
    gives_each(true);
}

static bool act_give(asked *self, vow_resolver *resolver) {
    CHECK(vow_resolve(resolver, vow_value_retain(self->gives)));
    vow_resolver_release(resolver);
    return true;
}

static void has_the_value(asked *self, vow_promise *promise) {
    FULFILLED_WITH(promise, self->gives);
}

static void has_the_error(asked *self, vow_promise *promise) {
    ENDS_AS(vow_promise_retain(promise), VOW_REJECTED, self->gives);
}

TEST("2.3.3.3.1: a value or an error that a thenable gives is the very one that arrives") {
    vow_value string = vow_string("value", 5);
    vow_value list = vow_list(&string, 1);
    vow_value error = vow_error("test", 1, "reason");
    in_each_place(act_give, list, has_the_value);
    in_each_place(act_give, vow_none(), has_the_value);
    in_each_place(act_give, vow_double(2.5), has_the_value);
    in_each_place(act_give, error, has_the_error);
    vow_value_release(list);
    vow_value_release(error);
}

/* An object that gives itself again and again, and in the end a number. */
static bool act_again(asked *self, vow_resolver *resolver) {
    bool again = atomic_load(&self->calls) < 999;
    CHECK(vow_resolve(resolver, again ? vow_value_retain(self->gives) : vow_int(1000)));
    vow_resolver_release(resolver);
    return true;
}

TEST("2.3.3.3.1: a thenable that gives itself a thousand times is asked a thousand times") {
    asked thenable = {.act = act_again};
    thenable.gives = vow_object(&thenable, &asked_class);
    CHECK_INT_EQ(int_of(vow_promise_with(vow_value_retain(thenable.gives))), 1000);
    vow_value_release(thenable.gives);
    CHECK(reaches(&thenable.ends, 1));
    CHECK_INT_EQ(atomic_load(&thenable.calls), 1000);
}
