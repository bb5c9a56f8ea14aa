/* What runs functions of the program again and again: map, reduce, repeat, retry. */
#include "free.h"

static void begin(machine *self) {
    EXPECT(self->running++ >= 0 && !self->failed, "a function is called after it has failed");
    check_place(self->executor);
    EXPECT(carried_now() == self->carried, "a function with the context %d instead of %d",
           carried_now(), self->carried);
    const record *promise = &f.records[self->record];
    EXPECT(promise->holds == 0 || vow_promise_state(promise->real) == VOW_PENDING,
           "a function is called for a settled promise");
    enter(IN_HANDLER, self->executor);
    f.carried[f.depth] = self->carried;
}

static void end(machine *self, vow_value result) {
    leave();
    self->running--;
    bool plain = result.kind != VOW_PROMISE && result.kind != VOW_OBJECT;
    self->failed = result.kind == VOW_ERROR && f.records[self->record].origin != BY_RETRY;
    self->has_last = plain && result.kind != VOW_ERROR;
    self->last = result;
    self->error = result.kind == VOW_ERROR ? vow_error_code(result) : 0;
}

/* At least so many items are under way: those whose function runs, or whose promise is known to be
 * pending. */
static int under_way(const machine *self) {
    int count = self->running;
    for (int i = 0; i < self->begun; i++) {
        count +=
            self->waits[i] >= 0 && vow_promise_state(f.records[self->waits[i]].real) == VOW_PENDING;
    }
    return count;
}

void end_machines(void) {
    for (int i = 0; i < f.machine_count; i++) {
        machine *self = &f.machines[i];
        for (int j = 0; j < MEMBERS * 2; j++) {
            int kept = self->waits[j];
            self->waits[j] = -1;
            if (kept >= 0) {
                let_go_record(kept);
            }
        }
    }
}

static vow_value on_item(vow_value input, void *context) {
    machine *self = context;
    int index = self->begun++;
    EXPECT(index < self->items && input.kind == VOW_INT && input.as.integer == index,
           "item %d is out of turn", (int)input.as.integer);
    EXPECT(self->wanted == 0 || under_way(self) < self->wanted, "%d items are under way",
           under_way(self) + 1);
    begin(self);
    maybe_steps();
    vow_value result = next_below(3) ? plain_value() : new_value(self->record);
    end(self, result);
    if (result.kind == VOW_PROMISE && next_below(2)) {
        hold_record(f.adopted);
        self->waits[index] = f.adopted;
    }
    self->plain[index] = self->has_last;
    self->results[index] = result;
    return result;
}

static vow_value on_sum(vow_value accumulated, vow_value item, void *context) {
    machine *self = context;
    EXPECT(self->begun++ < self->items, "more sums than promises");
    EXPECT(item.kind != VOW_ERROR && accumulated.kind != VOW_ERROR, "an error is added");
    EXPECT(!self->has_last || same(self->last, accumulated), "something else has accumulated");
    EXPECT(self->running == 0, "two sums at a time");
    begin(self);
    maybe_steps();
    vow_value result = next_below(3) ? plain_value() : new_value(self->record);
    end(self, result);
    return result;
}

/* Sets no context: what `again` sets is found by `step`, which the header does not say. */
static bool on_again(vow_value input, void *context) {
    machine *self = context;
    EXPECT(!self->has_last || same(self->last, input), "another state");
    return next_below(4) != 0 && self->begun < 8 && input.kind != VOW_ERROR;
}

static vow_value on_step(vow_value input, void *context) {
    machine *self = context;
    EXPECT(!self->has_last || same(self->last, input), "another state");
    EXPECT(self->running == 0, "two steps at a time");
    self->begun++;
    begin(self);
    maybe_steps();
    vow_value result = next_below(3) ? plain_value() : new_value(self->record);
    end(self, result);
    return result;
}

static vow_value on_attempt(vow_value input, void *context) {
    machine *self = context;
    self->begun++;
    EXPECT(input.kind == VOW_INT && input.as.integer == self->begun, "attempt %d instead of %d",
           (int)input.as.integer, self->begun);
    EXPECT(self->begun <= self->wanted, "too many attempts");
    EXPECT(self->running == 0, "two attempts at a time");
    begin(self);
    maybe_steps();
    vow_value result = next_below(3) == 0 ? plain_value()
                       : next_below(3)    ? vow_error("fuzz", 1000 + f.next_code++, NULL)
                                          : new_value(self->record);
    end(self, result);
    return result;
}

static bool on_may_retry(vow_value error, void *context) {
    machine *self = context;
    EXPECT(error.kind == VOW_ERROR, "a success is tried again");
    EXPECT(self->error == 0 || vow_error_code(error) == self->error, "another error");
    EXPECT(self->begun < self->wanted, "no attempt is left");
    return next_below(5) != 0;
}

static vow_promise *start_map(machine *self, unsigned form) {
    vow_value items[MEMBERS * 2];
    self->items = (int)(form % (MEMBERS * 2 + 1));
    self->wanted = (int)(form / 16 % 4);
    for (int i = 0; i < self->items; i++) {
        items[i] = vow_int(i);
    }
    vow_value list = vow_list(self->items ? items : NULL, (size_t)self->items);
    return vow_map(list, on_item, self, (size_t)self->wanted);
}

static vow_promise *start_reduce(machine *self, unsigned form) {
    vow_promise *promises[MEMBERS];
    record *sum = &f.records[self->record];
    for (unsigned i = form % (MEMBERS + 1); i > 0; i--) {
        vow_promise *member = take(&sum->members[sum->count]);
        if (member == NULL) {
            break;
        }
        wait_for(self->record, sum->members[sum->count]);
        promises[sum->count++] = member;
    }
    self->items = sum->count;
    self->last = vow_int(4);
    self->has_last = true;
    f.can[-VOW_ECANCELLED] = true;
    return vow_reduce(self->items ? promises : NULL, (size_t)self->items, vow_int(4), on_sum, self);
}

static vow_promise *start_retry(machine *self, unsigned form) {
    vow_retry_policy policy = {.size = sizeof policy, .attempts = 1 + form % 4};
    self->wanted = (int)policy.attempts;
    policy.first_delay_ns = form & 8 ? HOUR : 0;
    policy.may_retry = form & 16 ? on_may_retry : NULL;
    policy.deadline_ns = form & 32 ? 3 * HOUR : 0;
    policy.jitter = form & 64 ? 0.5 : 0;
    f.can[-VOW_ETIMEDOUT] |= policy.deadline_ns > 0;
    f.can[-VOW_ECANCELLED] |= policy.deadline_ns > 0;
    return vow_retry(&policy, on_attempt, self);
}

/* The function may run inside the call. */
void machine_step(unsigned which) {
    static const origin kinds[] = {BY_MAP, BY_REDUCE, BY_REPEAT, BY_RETRY};
    unsigned form = next_byte();
    if (f.machine_count == MACHINES) {
        return;
    }
    int number = f.machine_count++, made = f.record_count++;
    machine *self = &f.machines[number];
    *self = (machine){.record = made, .carried = carried_now()};
    for (int i = 0; i < MEMBERS * 2; i++) {
        self->waits[i] = -1;
    }
    self->executor = executor_number(vow_executor_current());
    f.records[made] = (record){.origin = kinds[which], .loop = -1, .machine = number};
    trace("machine %d of kind %u -> %d, form %u, executor %d", number, which, made, form,
          self->executor);
    vow_promise *real;
    if (which == 0) {
        real = start_map(self, form);
    } else if (which == 1) {
        real = start_reduce(self, form);
    } else if (which == 2) {
        self->last = vow_int(5);
        self->has_last = true;
        real = vow_repeat(vow_int(5), on_again, on_step, self);
    } else {
        real = start_retry(self, form);
    }
    EXPECT(real != NULL, "NULL instead of a promise");
    f.records[made].real = real;
    f.records[made].holds = 1;
    if (which == 3) {
        /* Cancelled at the end: it may wait for an hour of the process's clock. */
        hold_record(made);
        f.records[made].cancelled_last = true;
    }
    put(made);
}

static void check_map(int number, const machine *self, vow_value value) {
    EXPECT(value.kind == VOW_LIST && vow_list_count(value) == (size_t)self->items,
           "record %d: a map with kind %u", number, value.kind);
    EXPECT(self->begun == self->items && self->running == 0, "record %d: %d of %d items", number,
           self->begun, self->items);
    for (int i = 0; i < self->items; i++) {
        vow_value item = vow_list_at(value, (size_t)i);
        EXPECT(item.kind != VOW_ERROR && (!self->plain[i] || same(item, self->results[i])),
               "record %d: another result of item %d", number, i);
    }
}

void check_machine(int number, vow_value value) {
    const record *it = &f.records[number];
    const machine *self = &f.machines[it->machine];
    if (is_own(value, VOW_ECANCELLED)) {
        return;
    }
    if (it->origin == BY_MAP && value.kind != VOW_ERROR) {
        check_map(number, self, value);
    } else if (it->origin == BY_RETRY && value.kind == VOW_ERROR) {
        EXPECT(vow_error_attempts(value) == self->begun, "record %d: %d attempts instead of %d",
               number, (int)vow_error_attempts(value), self->begun);
    } else if (it->origin == BY_MAP || it->origin == BY_REDUCE) {
        EXPECT(value.kind != VOW_ERROR || vow_error_index(value) >= 0,
               "record %d: an error without a place", number);
    }
    if (it->origin == BY_REDUCE && value.kind != VOW_ERROR) {
        EXPECT(self->begun == self->items, "record %d: %d of %d sums", number, self->begun,
               self->items);
        EXPECT(!self->has_last || same(self->last, value), "record %d: another sum", number);
    } else if (it->origin == BY_REPEAT && value.kind != VOW_ERROR) {
        EXPECT(!self->has_last || same(self->last, value), "record %d: another last state", number);
    }
}
