/* Promises/A+ 2.2.7: what becomes of the promise that a reaction gives. */
#include "offer.h"

static void gives_another_promise(trial *self) {
    static const vow_handler handlers[2] = {NULL, pass_on};
    vow_promise *links[4];
    for (int i = 0; i < 4; i++) {
        links[i] = link_full(self->executor, vow_promise_retain(self->promise), handlers[i / 2],
                             handlers[i % 2], NULL, NULL);
        CHECK(links[i] != NULL && links[i] != self->promise);
        CHECK(i == 0 || links[i] != links[i - 1]);
    }
    trial_settle(self);
    for (int i = 0; i < 4; i++) {
        ENDS_AS_TRIAL(links[i], self);
    }
}

TEST("2.2.7: a reaction gives a promise of its own, with and without handlers") {
    for_each(gives_another_promise, FULFILS | REJECTS, EVERY_WAY);
}

static vow_value give_offer(vow_value input, void *context) {
    (void)input;
    return offer_value(context);
}

/* The same answer from a handler for a value, and from one for an error. */
static void offer_from_handler(offer *self, void *context) {
    trial *on = context;
    vow_promise *link = link_full(on->executor, vow_promise_retain(on->promise),
                                  on->rejects ? fail_with_7 : give_offer,
                                  on->rejects ? give_offer : fail_with_7, self, NULL);
    offer_expect(self, link);
}

static void every_offer(trial *self) {
    trial_settle(self);
    for_each_offer(offer_from_handler, self);
}

TEST("2.2.7.1: what a handler for a value returns resolves the new promise, by its kind") {
    for_each(every_offer, FULFILS, ALREADY | LATER);
}

TEST("2.2.7.1: what a handler for an error returns resolves the new promise, by its kind") {
    for_each(every_offer, REJECTS, ALREADY | LATER);
}

static vow_value give_context(vow_value input, void *context) {
    (void)input;
    return vow_value_retain(*(vow_value *)context);
}

static void fails_with(trial *self, vow_value error) {
    vow_promise *link =
        either_on(self->executor, vow_promise_retain(self->promise), give_context, &error);
    vow_promise *behind =
        link_full(self->executor, vow_promise_retain(link), fail_with_7, NULL, NULL, NULL);
    trial_settle(self);
    ENDS_AS(link, VOW_REJECTED, error);
    ENDS_AS(behind, VOW_REJECTED, error);
    vow_value_release(error);
}

static void fails_plainly(trial *self) {
    fails_with(self, vow_error("test", 9, "thrown"));
}

static void fails_with_payload(trial *self) {
    fails_with(self, vow_error_wrap("test", 9, NULL, vow_from_promise(fulfilled_int(1))));
}

static void fails_with_library_error(trial *self) {
    fails_with(self, vow_list(NULL, 1));
}

TEST("2.2.7.2: an error that a handler returns rejects the new promise, as that error") {
    for_each(fails_plainly, FULFILS | REJECTS, EVERY_WAY);
    for_each(fails_with_payload, FULFILS | REJECTS, EVERY_WAY);
    for_each(fails_with_library_error, FULFILS | REJECTS, EVERY_WAY);
}

/* A row of links that have no handler for this outcome: the outcome itself comes through. */
static void passes_through(trial *self) {
    vow_promise *end = vow_promise_retain(self->promise);
    for (int i = 0; i < 5; i++) {
        vow_handler other = i % 2 == 0 ? fail_with_7 : NULL;
        end = link_full(i == 2 ? vow_executor_inline() : self->executor, end,
                        self->rejects ? other : NULL, self->rejects ? NULL : other, NULL, NULL);
    }
    trial_settle(self);
    ENDS_AS_TRIAL(end, self);
}

TEST("2.2.7.3: without on_fulfilled the new promise is fulfilled with the same value") {
    for_each(passes_through, FULFILS, EVERY_WAY);
}

TEST("2.2.7.4: without on_rejected the new promise is rejected with the same error") {
    for_each(passes_through, REJECTS, EVERY_WAY);
}

/* vow_then and vow_catch, which run where the caller is: here on the default executor. */
static void short_forms(trial *self) {
    vow_promise *on_value = vow_then(vow_promise_retain(self->promise), fail_with_7, NULL);
    vow_promise *on_error = vow_catch(vow_promise_retain(self->promise), fail_with_7, NULL);
    trial_settle(self);
    ENDS_AS_TRIAL(self->rejects ? on_value : on_error, self);
    CHECK_INT_EQ(code_of(self->rejects ? on_error : on_value), 7);
}

TEST("2.2.7.3: vow_catch passes a value through, the same one") {
    for_each_on(vow_executor_pool(), "the default", short_forms, FULFILS, EVERY_WAY);
}

TEST("2.2.7.4: vow_then passes an error through, the same one") {
    for_each_on(vow_executor_pool(), "the default", short_forms, REJECTS, EVERY_WAY);
}
