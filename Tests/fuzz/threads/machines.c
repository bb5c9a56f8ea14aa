/* Errands whose children are begun, or read, by functions that the library runs. */
#include "errands.h"
#include "threads.h"

/* The child's outcome (owned): waited for here, or left to the library. */
static vow_value begin_child(errand *self, int place) {
    vow_value out = vow_none();
    vow_promise *promise = begin_errand(self->children[place]);
    if (!(self->form & 16)) {
        return vow_from_promise(promise);
    }
    vow_state state = wait_until_settled(self, promise, &out);
    if (state != VOW_PENDING && !is_result(out, self->children[place])) {
        differ("a child's result", self->children[place]);
    }
    return out;
}

static void check_place(const errand *self, int64_t place) {
    if (place < 0 || place >= self->count) {
        differ("a function with another number", (int)place);
    }
}

static vow_value map_item(vow_value item, void *context) {
    errand *self = context;
    check_place(self, item.as.integer);
    return begin_child(self, (int)item.as.integer);
}

static vow_promise *map(errand *self) {
    vow_value items[CHILDREN];
    for (int i = 0; i < self->count; i++) {
        items[i] = vow_int(i);
    }
    return vow_map(vow_list(self->count ? items : NULL, (size_t)self->count), map_item, self,
                   self->form / 32 % 3);
}

static vow_value add(vow_value sum, vow_value item, void *context) {
    (void)context;
    return vow_int(sum.as.integer + item.as.integer);
}

static vow_promise *reduce(errand *self) {
    vow_promise *promises[CHILDREN];
    for (int i = 0; i < self->count; i++) {
        promises[i] = begin_errand(self->children[i]);
    }
    return vow_reduce(self->count ? promises : NULL, (size_t)self->count, vow_int(0), add, self);
}

static bool is_more(vow_value state, void *context) {
    const errand *self = context;
    return state.as.integer < self->count;
}

static vow_value next_number(vow_value input, void *context) {
    (void)input;
    return vow_int((int64_t)(intptr_t)context);
}

/* Whatever has become of the child. */
static vow_value go_on(vow_value child, int64_t number) {
    if (child.kind != VOW_PROMISE) {
        vow_value_release(child);
        return vow_int(number);
    }
    vow_reaction reaction = {.size = sizeof reaction, .context = (void *)(intptr_t)number};
    reaction.on_fulfilled = reaction.on_rejected = next_number;
    reaction.executor = vow_executor_inline();
    return vow_from_promise(vow_then_with(vow_promise_with(child), &reaction));
}

static vow_value next_step(vow_value state, void *context) {
    errand *self = context;
    check_place(self, state.as.integer);
    return go_on(begin_child(self, (int)state.as.integer), state.as.integer + 1);
}

/* Fails until each child has had its attempt. */
static vow_value attempt(vow_value number, void *context) {
    errand *self = context;
    vow_value child = vow_none();
    if (self->count > 0) {
        check_place(self, number.as.integer - 1);
        child = begin_child(self, (int)number.as.integer - 1);
    }
    if (number.as.integer >= self->count) {
        return go_on(child, self->count);
    }
    vow_value_release(child);
    return vow_error("errand", 0, NULL);
}

static vow_promise *retry(errand *self) {
    vow_retry_policy policy = {.size = sizeof policy, .attempts = 9};
    policy.first_delay_ns = self->form & 32 ? 20000 : 0;
    return vow_retry(&policy, attempt, self);
}

static vow_value caught(vow_value error, void *context) {
    const errand *self = context;
    if (vow_error_code(error) != self->number) {
        differ("another error is caught", (int)vow_error_code(error));
    }
    return vow_error("errand", self->number, NULL);
}

static void catch_each(errand *self) {
    for (int i = 0; i < self->count; i++) {
        errand *child = &o.errands[self->children[i]];
        int64_t code = self->form & 32 ? VOW_ANY_CODE : child->number + (self->form >> 6 & 1);
        vow_promise *promise = begin_errand(self->children[i]);
        wait_for_child(self, vow_catch_if(promise, "errand", code, caught, child),
                       self->children[i]);
    }
}

static int first_failing(const errand *self) {
    for (int i = 0; i < self->count; i++) {
        if (o.errands[self->children[i]].fails) {
            return i;
        }
    }
    return -1;
}

static void check_machine(const errand *self, vow_state state, vow_value out) {
    int64_t sum = self->count;
    bool fails = self->way < WAY_REPEAT && first_failing(self) >= 0;
    if ((state == VOW_REJECTED) != fails) {
        differ("rejected or not", (int)self->number);
    }
    if (fails) {
        check_failure(self, out);
        if (self->way == WAY_REDUCE && vow_error_index(out) != first_failing(self)) {
            differ("a later one has failed", (int)vow_error_index(out));
        }
        return;
    }
    if (self->way == WAY_MAP) {
        for (int i = 0; i < self->count; i++) {
            if (!is_result(vow_list_at(out, (size_t)i), self->children[i])) {
                differ("an item's result", i);
            }
        }
        return;
    }
    for (int i = 0; i < self->count && self->way == WAY_REDUCE; i++) {
        sum += o.errands[self->children[i]].number - 1;
    }
    if (out.kind != VOW_INT || out.as.integer != sum) {
        differ("another sum, state or number", (int)self->number);
    }
}

void run_machine(errand *self) {
    vow_promise *promise;
    vow_value out = vow_none();
    switch (self->way) {
    case WAY_CATCH_IF:
        catch_each(self);
        return;
    case WAY_MAP:
        promise = map(self);
        break;
    case WAY_REDUCE:
        promise = reduce(self);
        break;
    case WAY_REPEAT:
        promise = vow_repeat(vow_int(0), is_more, next_step, self);
        break;
    default:
        promise = retry(self);
    }
    vow_state state = wait_until_settled(self, promise, &out);
    if (state != VOW_PENDING && !atomic_load(&self->refused)) {
        check_machine(self, state, out);
    }
    vow_value_release(out);
}
