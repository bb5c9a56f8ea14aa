/* The ways in which an errand waits for its children. */
#include "errands.h"
#include "threads.h"

#include <sys/eventfd.h>
#include <unistd.h>

#define HOUR (INT64_C(3600) * 1000000000)

static void begin(errand *self, vow_promise **promises) {
    for (int i = 0; i < self->count; i++) {
        promises[i] = begin_errand(self->children[i]);
    }
}

static void wait_for_each(errand *self, vow_promise **promises) {
    for (int i = 0; i < self->count; i++) {
        wait_for_child(self, promises[i], self->children[i]);
    }
}

static int failing(const errand *self) {
    int count = 0;
    for (int i = 0; i < self->count; i++) {
        count += o.errands[self->children[i]].fails;
    }
    return count;
}

static bool is_any_result(const errand *self, vow_value value) {
    for (int i = 0; i < self->count; i++) {
        if (is_result(value, self->children[i])) {
            return true;
        }
    }
    return false;
}

/* The values are of different children, in their order. */
static void check_list(const errand *self, vow_value list, int count) {
    int child = 0;
    if (list.kind != VOW_LIST || vow_list_count(list) != (size_t)count) {
        differ("a list of so many", (int)vow_list_count(list));
    }
    for (int i = 0; i < count; i++, child++) {
        vow_value item = vow_list_at(list, (size_t)i);
        while (child < self->count && !is_result(item, self->children[child])) {
            child++;
        }
        if (child == self->count) {
            differ("what no child has ended with", i);
        }
    }
}

static void check_aggregate(const errand *self, vow_value error) {
    vow_value list = vow_error_payload(error);
    if (!is_own(error, VOW_EAGGREGATE) || list.kind != VOW_LIST) {
        differ("no aggregate", (int)vow_error_code(error));
    }
    for (size_t i = 0; i < vow_list_count(list); i++) {
        check_failure(self, vow_list_at(list, i));
    }
}

static void check_combined(const errand *self, vow_state state, vow_value out) {
    int bad = failing(self), good = self->count - bad;
    int wanted = self->count == 0 ? 0 : 1 + (int)(self->form / 16) % self->count;
    bool rejected = state == VOW_REJECTED;
    switch (self->way) {
    case WAY_ALL:
        rejected ? check_failure(self, out) : check_list(self, out, self->count);
        break;
    case WAY_ALL_SETTLED:
        check_list(self, out, self->count);
        break;
    case WAY_ANY:
        if (rejected) {
            check_aggregate(self, out);
        } else if (!is_any_result(self, out)) {
            differ("what no child has ended with", (int)self->number);
        }
        break;
    case WAY_SOME:
        rejected ? check_aggregate(self, out) : check_list(self, out, wanted);
        break;
    default:
        if (self->count == 0 ? !is_own(out, VOW_EINVAL) : !is_any_result(self, out)) {
            differ("what no child has ended with", (int)self->number);
        }
        rejected = good == 0;
    }
    bool must_fail = self->way == WAY_ALL    ? bad > 0
                     : self->way == WAY_ANY  ? good == 0
                     : self->way == WAY_SOME ? good < wanted
                                             : false;
    if (self->way < WAY_RACE && rejected != must_fail) {
        differ("rejected or not", (int)self->number);
    }
}

static vow_promise *combine(const errand *self, vow_promise **promises) {
    size_t count = (size_t)self->count;
    switch (self->way) {
    case WAY_ALL:
        return vow_all(promises, count);
    case WAY_ALL_SETTLED:
    case WAY_ADOPT:
        return vow_all_settled(promises, count);
    case WAY_ANY:
        return vow_any(promises, count);
    case WAY_SOME:
        return vow_some(promises, count, count == 0 ? 0 : 1 + self->form / 16 % count);
    default:
        return vow_race(promises, count);
    }
}

/* Those that are held are cancelled by nobody; of the others the losers are. */
static void wait_for_combined(errand *self, vow_promise **promises) {
    vow_value out = vow_none();
    bool keeps = self->form & 8;
    for (int i = 0; i < self->count && keeps; i++) {
        vow_promise_retain(promises[i]);
    }
    vow_state state = wait_until_settled(self, combine(self, promises), &out);
    if (state != VOW_PENDING) {
        check_combined(self, state, out);
    }
    vow_value_release(out);
    if (keeps) {
        wait_for_each(self, promises);
    }
}

static void wait_for_scope(errand *self, vow_promise **promises) {
    vow_scope *scope = vow_scope_create();
    vow_value out = vow_none();
    for (int i = 0; i < self->count; i++) {
        if (vow_scope_add(scope, promises[i]) != 0) {
            differ("a member is not added", i);
        }
    }
    /* The wait for a shield is not ended by a cancellation, so the end keeps its reader. */
    vow_promise *scope_end = vow_scope_close(scope);
    scope_end = self->is_fiber ? vow_shield(scope_end) : scope_end;
    vow_state state = wait_until_settled(self, scope_end, &out);
    if (state != VOW_PENDING && (state == VOW_REJECTED) != (failing(self) > 0)) {
        differ("a scope's end", (int)state);
    }
    if (state == VOW_REJECTED && !is_any_result(self, out)) {
        differ("a scope's error", (int)vow_error_code(out));
    }
    vow_value_release(out);
}

static vow_value pass(vow_value input, void *context) {
    (void)context;
    return vow_value_retain(input);
}

static vow_promise *read_through(vow_promise *promise, bool on_pool, vow_token *token) {
    vow_reaction reaction = {.size = sizeof reaction, .on_fulfilled = pass, .on_rejected = pass};
    reaction.executor = on_pool ? vow_executor_pool() : vow_executor_inline();
    reaction.token = token;
    return vow_then_with(promise, &reaction);
}

static void chain(const errand *self, vow_promise **promises) {
    for (int i = 0; i < self->count; i++) {
        for (unsigned j = 0; j <= self->form / 8 % 4; j++) {
            promises[i] = read_through(promises[i], (self->form >> j) & 1, NULL);
        }
    }
}

static void wait_for_descriptor(errand *self, vow_promise **promises) {
    int descriptor = eventfd(0, EFD_CLOEXEC);
    vow_value out = vow_none();
    o.errands[self->children[0]].descriptor = dup(descriptor);
    vow_promise *ready = vow_fd_ready(descriptor, VOW_READ);
    begin(self, promises);
    vow_state state = wait_until_settled(self, ready, &out);
    if (state != VOW_PENDING && (out.kind != VOW_INT || out.as.integer != VOW_READ)) {
        differ("a descriptor is not ready", (int)out.kind);
    }
    wait_for_each(self, promises);
    close(descriptor);
}

static void wait_or_cancelled(errand *self, vow_promise *promise, int number, bool must) {
    vow_value out = vow_none();
    vow_state state = wait_until_settled(self, promise, &out);
    bool is_right = is_own(out, VOW_ECANCELLED) || (!must && is_result(out, number));
    if (state != VOW_PENDING && !is_right) {
        differ("what is neither cancelled nor a result", number);
    }
    vow_value_release(out);
}

static void wait_with_token(errand *self, vow_promise **promises) {
    vow_cancel_source *source = vow_cancel_source_create();
    for (int i = 0; i < self->count; i++) {
        promises[i] = read_through(promises[i], self->form & 16, vow_cancel_source_token(source));
    }
    vow_cancel_source_cancel(source);
    vow_cancel_source_release(source);
    for (int i = 0; i < self->count; i++) {
        wait_or_cancelled(self, promises[i], self->children[i], false);
    }
}

static void wait_and_cancel(errand *self, vow_promise **promises) {
    for (int i = 0; i < self->count; i++) {
        bool must = i == 0 && vow_cancel(promises[i]);
        wait_or_cancelled(self, promises[i], self->children[i], must);
    }
}

static void on_news(double fraction, const char *note, void *context) {
    errand *self = context;
    if (!(fraction >= 0 && fraction <= 1) || note != NULL) {
        differ("progress that nobody has made", (int)(fraction * 100));
    }
    if (atomic_load(&self->deaf) == atomic_load(&self->listened)) {
        differ("progress after the listener's end", (int)self->number);
    }
}

static void on_deaf(void *context) {
    errand *self = context;
    atomic_fetch_add(&self->deaf, 1);
}

static void tell_progress(errand *self, vow_promise **promises) {
    for (int i = 0; i < self->count; i++) {
        atomic_fetch_add(&self->listened, 1);
        vow_on_progress(promises[i], 0, on_news, self, on_deaf);
        vow_promise_set_progress(promises[i], 0.25, NULL);
        vow_promise_set_progress(promises[i], 1, NULL);
    }
}

static vow_value give_result(vow_value input, void *context) {
    const errand *self = context;
    check_list(self, input, self->count);
    return result_of(self);
}

static vow_value adopt(errand *self, vow_promise **promises) {
    vow_reaction reaction = {.size = sizeof reaction, .on_fulfilled = give_result, .context = self};
    reaction.executor = self->form & 16 ? vow_executor_pool() : vow_executor_inline();
    return vow_from_promise(vow_then_with(combine(self, promises), &reaction));
}

vow_value wait_for_children(errand *self) {
    vow_promise *promises[CHILDREN];
    vow_value out = vow_none();
    if (self->way >= WAYS_ANYWHERE) {
        run_machine(self);
        return out;
    }
    if (self->way == WAY_DESCRIPTOR) {
        wait_for_descriptor(self, promises);
        return out;
    }
    begin(self, promises);
    switch (self->way) {
    case WAY_ALL:
    case WAY_ALL_SETTLED:
    case WAY_ANY:
    case WAY_SOME:
    case WAY_RACE:
        wait_for_combined(self, promises);
        return out;
    case WAY_SCOPE:
        wait_for_scope(self, promises);
        return out;
    case WAY_TOKEN:
        wait_with_token(self, promises);
        return out;
    case WAY_CANCEL:
        wait_and_cancel(self, promises);
        return out;
    case WAY_ADOPT:
        return adopt(self, promises);
    case WAY_TIMEOUT:
        for (int i = 0; i < self->count; i++) {
            promises[i] = vow_timeout(promises[i], HOUR);
        }
        break;
    case WAY_CHAIN:
        chain(self, promises);
        break;
    case WAY_DELAY:
        wait_until_settled(self, vow_delay((int64_t)self->form * 1000), &out);
        break;
    case WAY_PROGRESS:
        tell_progress(self, promises);
        break;
    default:
        break;
    }
    wait_for_each(self, promises);
    return vow_none();
}
