/* One errand: its handler, its result, and its waits. */
#include "errands.h"
#include "threads.h"

#include <string.h>
#include <unistd.h>

/* What the library says of a wait that would be a deadlock is right only where nothing is in order.
 */
vow_state wait_until_settled(errand *self, vow_promise *promise, vow_value *out) {
    int64_t first = self->form % 4 == 1 ? 0 : self->form % 4 == 2 ? 50000 : VOW_FOREVER;
    int64_t most = self->form % 4 == 3 && o.orderly ? PATIENCE * INT64_C(1000000000) : VOW_FOREVER;
    int state = first == VOW_FOREVER ? VOW_PENDING : vow_await(promise, first, out);
    if (state == VOW_PENDING) {
        bool takes = self->is_fiber && self->form & 4 && self->way != WAY_SCOPE;
        vow_promise *last = promise;
        promise = takes ? NULL : promise;
        state = takes ? vow_take(last, most, out) : vow_await(last, most, out);
        if (state == VOW_PENDING) {
            differ("a wait does not end", self->number);
        }
    }
    bool is_own_end = self->is_fiber && is_own(*out, VOW_ECANCELLED) && vow_current_is_cancelled();
    if (state == (int)VOW_REJECTED && is_own_end) {
        vow_value_release(*out);
        *out = vow_none();
        atomic_store(&self->refused, true);
        state = VOW_PENDING;
    }
    if (state < 0) {
        bool is_ring = state == VOW_EDEADLOCK || (self->is_fiber && state == VOW_ECYCLE);
        if (o.orderly || !is_ring) {
            differ("a wait is refused", state);
        }
        if (out->kind != VOW_NONE) {
            differ("a refused wait has an outcome", self->number);
        }
        atomic_store(&self->refused, true);
        state = VOW_PENDING;
    }
    vow_promise_release(promise);
    return (vow_state)state;
}

static bool is_error_of(vow_value value, int number) {
    return value.kind == VOW_ERROR && strcmp(vow_error_domain(value), "errand") == 0 &&
           vow_error_code(value) == o.errands[number].number;
}

bool is_result(vow_value value, int number) {
    const errand *self = &o.errands[number];
    return self->fails ? is_error_of(value, number)
                       : value.kind == VOW_INT && value.as.integer == self->number;
}

vow_value result_of(const errand *self) {
    return self->fails ? vow_error("errand", self->number, NULL) : vow_int(self->number);
}

void wait_for_child(errand *self, vow_promise *promise, int number) {
    vow_value out = vow_none();
    vow_state state = wait_until_settled(self, promise, &out);
    if (state != VOW_PENDING && !is_result(out, number)) {
        differ("a child's result", number);
    }
    vow_value_release(out);
}

void check_failure(const errand *self, vow_value error) {
    int64_t place = vow_error_index(error);
    if (place < 0 || place >= self->count) {
        differ("the place of who failed", (int)place);
    }
    int child = self->children[place];
    if (!o.errands[child].fails || !is_error_of(error, child)) {
        differ("another one has failed", child);
    }
}

/* What travels with all that an errand begins is its number. */
static void check_context(int64_t number) {
    vow_value context = vow_context_get();
    bool is_right = number == 0 ? context.kind == VOW_NONE
                                : context.kind == VOW_INT && context.as.integer == number;
    if (!is_right) {
        differ("another context", (int)number);
    }
}

static vow_value run(vow_value input, void *context) {
    errand *self = context;
    if (input.kind != VOW_NONE || atomic_fetch_add(&self->runs, 1) != 0 ||
        atomic_load(&self->ended) != 0) {
        differ("an errand is run wrongly", (int)self->number);
    }
    if (vow_executor_current() != o.executors[self->desk]) {
        differ("an errand on another executor", (int)self->number);
    }
    check_context(self->parent < 0 ? 0 : o.errands[self->parent].number);
    vow_context_set(vow_int(self->number));
    if (self->is_fiber && self->form & 32 && vow_fiber_yield() != 0) {
        differ("a fiber is none", (int)self->number);
    }
    if (self->descriptor >= 0) {
        uint64_t one = 1;
        if (write(self->descriptor, &one, sizeof one) != (ssize_t)sizeof one) {
            differ("nothing is written", self->descriptor);
        }
    }
    vow_value instead = wait_for_children(self);
    check_context(self->number);
    if (vow_executor_current() != o.executors[self->desk]) {
        differ("another executor after waiting", (int)self->number);
    }
    return instead.kind != VOW_NONE ? instead : result_of(self);
}

static void end(void *context) {
    errand *self = context;
    if (self->descriptor >= 0) {
        close(self->descriptor);
    }
    if (atomic_fetch_add(&self->ended, 1) != 0) {
        differ("an errand ends twice", (int)self->number);
    }
}

vow_promise *begin_errand(int number) {
    errand *self = &o.errands[number];
    vow_reaction reaction = {.size = sizeof reaction, .context = self, .destroy = end};
    reaction.on_fulfilled = run;
    reaction.executor = o.executors[self->desk];
    if (atomic_fetch_add(&self->begun, 1) != 0) {
        differ("an errand is begun twice", number);
    }
    if (self->is_fiber) {
        vow_fiber_options options = {.size = sizeof options, .destroy = end, .label = "errand"};
        options.stack = self->form & 64 ? 256 << 10 : 0;
        return vow_fiber(reaction.executor, run, self, &options);
    }
    if (self->form & 64) {
        return vow_then_with(vow_promise_with(vow_none()), &reaction);
    }
    vow_resolver *resolver;
    vow_promise *promise = vow_then_with(vow_promise_create(&resolver), &reaction);
    vow_resolve(resolver, vow_none());
    vow_resolver_release(resolver);
    return promise;
}
