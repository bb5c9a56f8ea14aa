/* Which results each kind of promise may have, and that none ever changes. */
#include "free.h"

#include <string.h>

bool is_own(vow_value value, int64_t code) {
    return value.kind == VOW_ERROR && vow_error_code(value) == code &&
           strcmp(vow_error_domain(value), "vow") == 0;
}

/* An error of the library's own is one that something in the program can have brought about. */
static void check_error(int number, vow_value error) {
    int64_t code = vow_error_code(error);
    if (code >= 0) {
        EXPECT(code >= 1000 && code < 1000 + f.next_code, "record %d: nobody made error %lld",
               number, (long long)code);
        EXPECT(strcmp(vow_error_domain(error), "fuzz") == 0, "record %d: another domain", number);
        return;
    }
    EXPECT(strcmp(vow_error_domain(error), "vow") == 0, "record %d: another domain", number);
    EXPECT(code > -16 && f.can[-code], "record %d: an error %s that nothing brings about", number,
           vow_error_name(code));
}

/* A member that the program has kept. */
static const record *member(const record *self, int64_t index) {
    return self->kept && index >= 0 && index < self->count ? &f.records[self->members[index]]
                                                           : NULL;
}

static void check_member(int number, int64_t index, vow_value value, bool is_copy) {
    const record *it = member(&f.records[number], index);
    vow_value out = vow_none();
    if (it == NULL) {
        return;
    }
    EXPECT(vow_promise_peek(it->real, &out), "record %d: member %d is still pending", number,
           (int)index);
    if (is_copy) {
        EXPECT(out.kind == VOW_ERROR && vow_error_code(out) == vow_error_code(value),
               "record %d: not the error of member %d", number, (int)index);
    } else {
        EXPECT(same(out, value), "record %d: not the value of member %d", number, (int)index);
    }
}

/* The errors of VOW_EAGGREGATE, each of its member. */
static void check_errors(int number, vow_value error, size_t least, size_t most) {
    vow_value list = vow_error_payload(error);
    EXPECT(list.kind == VOW_LIST, "record %d: a payload of kind %u", number, list.kind);
    size_t count = vow_list_count(list);
    EXPECT(count >= least && count <= most, "record %d: %zu errors", number, count);
    for (size_t i = 0; i < count; i++) {
        vow_value item = vow_list_at(list, i);
        int64_t index = vow_error_index(item);
        EXPECT(item.kind == VOW_ERROR && index >= 0 && index < f.records[number].count,
               "record %d: the place %d", number, (int)index);
        check_member(number, index, item, true);
    }
}

static bool has_outcome(const record *self, vow_value value) {
    for (int i = 0; self->kept && i < self->count; i++) {
        vow_value out;
        if (vow_promise_peek(f.records[self->members[i]].real, &out) &&
            (same(out, value) || (out.kind == VOW_ERROR && value.kind == VOW_ERROR &&
                                  vow_error_code(out) == vow_error_code(value)))) {
            return true;
        }
    }
    return !self->kept;
}

static void check_values(int number, vow_value list, size_t count, bool each) {
    EXPECT(list.kind == VOW_LIST && vow_list_count(list) == count,
           "record %d: kind %u, %zu values instead of %zu", number, list.kind, vow_list_count(list),
           count);
    for (size_t i = 0; i < count; i++) {
        vow_value item = vow_list_at(list, i);
        if (each) {
            check_member(number, (int64_t)i, item, item.kind == VOW_ERROR);
        } else {
            EXPECT(item.kind == VOW_ERROR || has_outcome(&f.records[number], item),
                   "record %d: nobody's value", number);
        }
    }
}

static void check_combined(int number, vow_value value) {
    const record *self = &f.records[number];
    size_t count = (size_t)self->count;
    bool rejected = value.kind == VOW_ERROR;
    if (is_own(value, VOW_ECANCELLED) && vow_error_index(value) < 0) {
        return; /* itself */
    }
    switch (self->origin) {
    case BY_ALL:
        if (rejected) {
            EXPECT(vow_error_index(value) >= 0 && vow_error_index(value) < self->count,
                   "record %d: the place %d", number, (int)vow_error_index(value));
            check_member(number, vow_error_index(value), value, true);
        } else {
            check_values(number, value, count, true);
        }
        break;
    case BY_ALL_SETTLED:
        check_values(number, value, count, true);
        break;
    case BY_ANY:
        if (rejected) {
            EXPECT(is_own(value, VOW_EAGGREGATE), "record %d: any is rejected otherwise", number);
            check_errors(number, value, count, count);
        } else {
            EXPECT(has_outcome(self, value), "record %d: nobody's value", number);
        }
        break;
    case BY_SOME:
        if (rejected) {
            size_t few = count < (size_t)self->wanted ? 0 : count - (size_t)self->wanted + 1;
            EXPECT(is_own(value, VOW_EAGGREGATE), "record %d: some is rejected otherwise", number);
            check_errors(number, value, few, few);
        } else {
            check_values(number, value, (size_t)self->wanted, false);
        }
        break;
    default:
        EXPECT(count > 0 ? has_outcome(self, value) : is_own(value, VOW_EINVAL),
               "record %d: a race that nobody has won", number);
    }
}

static void check_timed(int number, vow_value value) {
    const record *self = &f.records[number];
    bool is_over = is_own(value, VOW_ECANCELLED) || is_own(value, VOW_ESHUTDOWN);
    int64_t now = self->loop < 0 ? 0 : time_of(self->loop);
    if (self->origin == BY_TIMEOUT) {
        bool is_late = is_own(value, VOW_ETIMEDOUT) && !has_outcome(self, value);
        EXPECT(!is_late || self->loop >= 0, "record %d: an hour has not passed", number);
        EXPECT(!is_late || now >= self->deadline, "record %d: timed out too early", number);
        EXPECT(is_late || is_over || has_outcome(self, value), "record %d: another outcome",
               number);
        return;
    }
    EXPECT(is_over || value.kind == VOW_NONE, "record %d: a delay with kind %u", number,
           value.kind);
    EXPECT(is_over || (self->loop >= 0 && now >= self->deadline), "record %d: a delay is early",
           number);
    for (int i = 0; !is_over && i < f.record_count; i++) {
        const record *other = &f.records[i];
        bool sooner = other->holds > 0 && other->origin == BY_DELAY && other->loop == self->loop &&
                      other->deadline < self->deadline;
        EXPECT(!sooner || vow_promise_state(other->real) != VOW_PENDING,
               "record %d came before record %d", number, i);
    }
}

static void check_descriptor(int number, vow_value value) {
    const record *self = &f.records[number];
    if (value.kind == VOW_ERROR) {
        EXPECT(is_own(value, VOW_ECANCELLED) || is_own(value, VOW_ESHUTDOWN),
               "record %d: a descriptor's error", number);
        return;
    }
    EXPECT(value.kind == VOW_INT && ((uint32_t)value.as.integer & self->events) != 0 &&
               ((uint32_t)value.as.integer & ~self->events) == 0,
           "record %d: events %d instead of %u", number, (int)value.as.integer, self->events);
}

static void check_kind(int number, vow_value value) {
    switch (f.records[number].origin) {
    case BY_ALL:
    case BY_ALL_SETTLED:
    case BY_ANY:
    case BY_SOME:
    case BY_RACE:
        check_combined(number, value);
        break;
    case BY_DELAY:
    case BY_TIMEOUT:
        check_timed(number, value);
        break;
    case BY_DESCRIPTOR:
        check_descriptor(number, value);
        break;
    case BY_SCOPE:
        EXPECT(value.kind == VOW_NONE || value.kind == VOW_ERROR, "record %d: a scope with kind %u",
               number, value.kind);
        break;
    case BY_MAP:
    case BY_REDUCE:
    case BY_REPEAT:
    case BY_RETRY:
        check_machine(number, value);
        break;
    default:
        break;
    }
}

/* What somebody holds is cancelled by nobody else. Others, and scopes, may have adopted a
 * cancellation, or pass a member's on. */
static void check_cancelled(int number, vow_value value) {
    const record *self = &f.records[number];
    bool own = self->origin == BY_DELAY || self->origin == BY_DESCRIPTOR ||
               (self->origin >= BY_ALL && self->origin <= BY_SOME && vow_error_index(value) < 0);
    EXPECT(!own || self->holds == 0 || self->cancelled, "record %d is cancelled though it is held",
           number);
}

/* G14, and G15 of what is told of every end: of a promise that is settled. */
static void check_is_through(int number) {
    const record *self = &f.records[number];
    EXPECT(self->machine < 0 || f.machines[self->machine].running == 0,
           "record %d is settled under a function", number);
    if (self->link == 0) {
        return;
    }
    const bond *link = &f.links[self->link - 1];
    EXPECT(!link->running && (!link->has_destroy || link->destroyed == 1),
           "record %d is settled, and its context destroyed %d times", number, link->destroyed);
    /* A loop that is destroyed refuses all work. */
    bool is_refused = link->executor >= 10 && f.loops[link->executor - 10].real == NULL;
    EXPECT(!link->finally || is_refused || link->runs == 1,
           "record %d is settled, and its clean-up ran %d times", number, link->runs);
}

/* What was seen to be the outcome of a promise. */
void learn(int number, vow_value value) {
    record *self = &f.records[number];
    vow_state state = value.kind == VOW_ERROR ? VOW_REJECTED : VOW_FULFILLED;
    EXPECT(self->seen == VOW_PENDING || self->seen == state, "record %d: another outcome", number);
    EXPECT(!self->known || same(self->value, value), "record %d: another value", number);
    EXPECT(value.kind != VOW_PROMISE && value.kind <= VOW_PROMISE, "record %d: kind %u", number,
           value.kind);
    self->seen = state;
    if (self->known) {
        return;
    }
    self->known = true;
    self->value = value;
    if (value.kind == VOW_ERROR) {
        check_error(number, value);
    }
    if (is_own(value, VOW_ECANCELLED)) {
        check_cancelled(number, value);
    }
    check_kind(number, value);
}

/* At a promise that the program has. */
void look(int number) {
    record *self = &f.records[number];
    vow_state state = vow_promise_state(self->real);
    EXPECT(self->seen == VOW_PENDING || state == self->seen, "record %d: state %u after %u", number,
           state, self->seen);
    self->seen = state;
    EXPECT(state != VOW_FULFILLED || !self->was_pending, "record %d: fulfilled though cancelled",
           number);
    if (state != VOW_PENDING) {
        check_is_through(number);
    }
    vow_value out = vow_int(4711);
    if (!f.looks) {
        return;
    }
    if (vow_promise_peek(self->real, &out)) {
        learn(number, out);
    } else {
        EXPECT(out.kind == VOW_NONE && state == VOW_PENDING, "record %d: a pending value", number);
    }
}
