/* Promises/A+ 2.2.6: one promise may have many handlers, which are called in order. */
#include "probe.h"

#define MANY 8

static bool keeps_order(trial *self) {
    return self->executor != vow_executor_pool();
}

/* Handlers registered before and after it settles; on the pool they run in parallel, and that all
 * of them ran is what can be seen. */
static void runs_all(trial *self) {
    journal seen = {0};
    entry entries[MANY];
    vow_promise *links[MANY];
    for (int i = 0; i < MANY; i++) {
        entries[i] = (entry){&seen, i};
        links[i] =
            either_on(self->executor, vow_promise_retain(self->promise), entry_write, &entries[i]);
        if (i == MANY / 2) {
            trial_settle(self);
        }
    }
    for (int i = 0; i < MANY; i++) {
        ENDS_AS_TRIAL(links[i], self);
    }
    if (keeps_order(self)) {
        journal_counts_to(&seen, MANY);
    }
    int times[MANY] = {0};
    CHECK_INT_EQ(atomic_load(&seen.count), MANY);
    for (int i = 0; i < MANY; i++) {
        times[seen.entries[i]]++;
    }
    for (int i = 0; i < MANY; i++) {
        CHECK_INT_EQ(times[i], 1);
    }
}

/* A handler whose own answer differs from its neighbours'. */
typedef struct answer {
    journal *in;
    int number;
} answer;

static vow_value answer_in_turn(vow_value input, void *context) {
    answer *self = context;
    journal_add(self->in, self->number);
    switch (self->number % 4) {
    case 0:
        return vow_int(self->number);
    case 1:
        return vow_error("test", self->number, NULL);
    case 2:
        return vow_from_promise(fulfilled_int(self->number));
    default:
        return vow_value_retain(input);
    }
}

static void answers_are_apart(trial *self) {
    journal seen = {0};
    answer answers[MANY];
    vow_promise *links[MANY];
    for (int i = 0; i < MANY; i++) {
        answers[i] = (answer){&seen, i};
        links[i] = either_on(self->executor, vow_promise_retain(self->promise), answer_in_turn,
                             &answers[i]);
    }
    trial_settle(self);
    for (int i = 0; i < MANY; i++) {
        if (i % 4 == 1) {
            CHECK_INT_EQ(code_of(links[i]), i);
        } else if (i % 4 == 3) {
            ENDS_AS_TRIAL(links[i], self);
        } else {
            CHECK_INT_EQ(int_of(links[i]), i);
        }
    }
    if (keeps_order(self)) {
        journal_counts_to(&seen, MANY);
    }
}

/* A handler that registers another one, which has to wait for all that were there before. */
typedef struct breeder {
    trial *of;
    entry mine;
    entry child;
} breeder;

/* Writes its number; its own promise, which nobody keeps, is fulfilled. */
static vow_value note(vow_value input, void *context) {
    entry *self = context;
    (void)input;
    journal_add(self->in, self->number);
    return vow_none();
}

static vow_value breed(vow_value input, void *context) {
    breeder *self = context;
    vow_promise_release(
        either_on(self->of->executor, vow_promise_retain(self->of->promise), note, &self->child));
    return note(input, &self->mine);
}

static void one_adds_another(trial *self) {
    journal seen = {0};
    entry last = {&seen, 2};
    entry first = {&seen, 0};
    breeder middle = {self, {&seen, 1}, {&seen, 3}};
    vow_promise_release(either_on(self->executor, vow_promise_retain(self->promise), note, &first));
    vow_promise_release(
        either_on(self->executor, vow_promise_retain(self->promise), breed, &middle));
    vow_promise_release(either_on(self->executor, vow_promise_retain(self->promise), note, &last));
    trial_settle(self);
    CHECK(reaches(&seen.count, 4));
    if (keeps_order(self)) {
        journal_counts_to(&seen, 4);
    }
    CHECK_INT_EQ(atomic_load(&seen.count), 4);
}

/* Handlers for the other outcome stand in between and are left out. */
static void others_in_between(trial *self) {
    journal seen = {0};
    entry entries[MANY];
    vow_promise *links[2 * MANY];
    for (int i = 0; i < MANY; i++) {
        entries[i] = (entry){&seen, i};
        for (int meant = 0; meant < 2; meant++) {
            bool for_error = self->rejects == (meant == 1);
            links[2 * i + meant] = link_full(self->executor, vow_promise_retain(self->promise),
                                             for_error ? NULL : entry_write,
                                             for_error ? entry_write : NULL, &entries[i], NULL);
        }
    }
    trial_settle(self);
    for (int i = 0; i < 2 * MANY; i++) {
        ENDS_AS_TRIAL(links[i], self);
    }
    CHECK_INT_EQ(atomic_load(&seen.count), MANY);
    if (keeps_order(self)) {
        journal_counts_to(&seen, MANY);
    }
}

TEST("2.2.6.1: the handlers of a fulfilled promise run in the order of registration") {
    for_each(runs_all, FULFILS, EVERY_WAY);
    for_each(answers_are_apart, FULFILS, EVERY_WAY);
    for_each(others_in_between, FULFILS, EVERY_WAY);
}

TEST("2.2.6.1: one that a handler for a value registers runs after those before it") {
    for_each(one_adds_another, FULFILS, STILL_PENDING);
}

TEST("2.2.6.2: the handlers of a rejected promise run in the order of registration") {
    for_each(runs_all, REJECTS, EVERY_WAY);
    for_each(answers_are_apart, REJECTS, EVERY_WAY);
    for_each(others_in_between, REJECTS, EVERY_WAY);
}

TEST("2.2.6.2: one that a handler for an error registers runs after those before it") {
    for_each(one_adds_another, REJECTS, STILL_PENDING);
}
