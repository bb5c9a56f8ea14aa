/* Combinators: what is made of the outcomes of many promises. */
#include "model.h"

static int list_of(const int *items, int count) {
    int list = model_value_new(VOW_LIST, 0);
    m.values[list].count = count;
    for (int i = 0; i < count; i++) {
        m.values[list].items[i] = items[i];
    }
    return list;
}

static int aggregate(const int *errors, int count) {
    return model_error_new(DOMAIN_VOW, VOW_EAGGREGATE, TEXT_ANY, list_of(errors, count));
}

static int error_at(int error, int place) {
    int copy = model_value_new(VOW_ERROR, 0);
    int holds = m.values[copy].holds;
    m.values[copy] = m.values[error];
    m.values[copy].index = place;
    m.values[copy].holds = holds;
    return copy;
}

/* The outcomes of one kind, in the order of the members. */
static int list_of_kind(const model_group *group, bool errors) {
    int items[MODEL_ITEMS], count = 0;
    for (int i = 0; i < group->count; i++) {
        int value = group->outcomes[i];
        if (value >= 0 && (m.values[value].kind == VOW_ERROR) == errors) {
            items[count++] = errors ? error_at(value, i) : value;
        }
    }
    return errors ? aggregate(items, count) : list_of(items, count);
}

static void leave_all(model_group *group, bool cancelling) {
    for (int i = 0; i < group->count; i++) {
        int eye = group->eyes[i];
        if (eye < 0 || m.promises[eye].wait != WAITS_MEMBER) {
            continue;
        }
        int member = m.promises[eye].upstream;
        m.promises[member].holds++; /* until it is given up */
        model_leave_queue(eye);
        m.promises[eye].state = VOW_FULFILLED;
        m.promises[eye].wait = WAITS_NOTHING;
        m.promises[eye].cancelling = cancelling;
        m.promises[eye].left = member;
        model_leave(eye);
        model_drain(); /* with all that it was the last one to read, before the next member */
    }
}

void model_give_up(int what) {
    if (what < 0) {
        leave_all(&m.groups[-1 - what], true);
        return;
    }
    int member = m.promises[what].left;
    m.promises[member].holds--;
    if (m.promises[what].cancelling) {
        model_cancel_unless_read(member);
    }
}

static void decide(model_group *group, int value) {
    group->decided = true;
    model_settle(group->promise, value);
    if (!group->creating) {
        model_leave(-1 - (int)(group - m.groups));
        model_drain();
    }
}

static void count_outcome(model_group *group, int place, int value) {
    bool rejected = m.values[value].kind == VOW_ERROR;
    int all = group->count;
    /* Later ones than those that decide have no place. */
    group->outcomes[place] = value;
    group->told_values += !rejected;
    group->told_errors += rejected;
    switch (group->kind) {
    case GROUP_ALL:
        if (rejected) {
            decide(group, error_at(value, place));
        } else if (group->told_values == all) {
            decide(group, list_of(group->outcomes, all));
        }
        break;
    case GROUP_ALL_SETTLED:
        if (group->told_values + group->told_errors == all) {
            decide(group, list_of(group->outcomes, all));
        }
        break;
    case GROUP_ANY:
        if (!rejected) {
            decide(group, value);
        } else if (group->told_errors == all) {
            decide(group, list_of_kind(group, true));
        }
        break;
    case GROUP_SOME:
        if (group->told_values == group->wanted) {
            decide(group, list_of_kind(group, false));
        } else if (group->told_errors == all - group->wanted + 1) {
            decide(group, list_of_kind(group, true));
        }
        break;
    default:
        decide(group, rejected ? error_at(value, place) : value);
    }
}

void model_member_settled(int eye, int member) {
    model_group *group = &m.groups[m.promises[eye].group];
    m.promises[eye].state = VOW_FULFILLED;
    m.promises[eye].wait = WAITS_NOTHING;
    if (!group->decided) {
        count_outcome(group, m.promises[eye].place, m.promises[member].value);
    }
}

void model_group_stop(int promise, bool cancelling) {
    model_group *group = &m.groups[m.promises[promise].group];
    if (!group->decided) {
        group->decided = true;
        leave_all(group, cancelling);
    }
}

static void give_up(int promise) {
    m.promises[promise].observed = true;
    m.promises[promise].holds--;
    model_cancel_unless_read(promise);
}

/* Settled without looking at any member. */
static int combine_nothing(const int *promises, int count, int value) {
    int made = model_promise_with(value);
    m.promises[made].holds++;
    for (int i = 0; i < count; i++) {
        give_up(promises[i]);
    }
    m.promises[made].holds--;
    return made;
}

int model_combine(group_kind kind, const int *promises, int count, int wanted) {
    if (kind == GROUP_RACE && count == 0) {
        return model_promise_with(model_error_new(DOMAIN_VOW, VOW_EINVAL, TEXT_ANY, -1));
    }
    if (kind == GROUP_SOME ? wanted > count : kind == GROUP_ANY && count == 0) {
        return combine_nothing(promises, count, aggregate(NULL, 0));
    }
    if (count == 0 || (kind == GROUP_SOME && wanted == 0)) {
        return combine_nothing(promises, count, list_of(NULL, 0));
    }
    int number = m.group_count++;
    model_group *group = &m.groups[number];
    *group = (model_group){.kind = kind, .count = count, .wanted = wanted, .creating = true};
    group->promise = model_promise_new(WAITS_MEMBERS);
    m.promises[group->promise].group = number;
    m.promises[group->promise].holds++;
    for (int i = 0; i < count; i++) {
        group->eyes[i] = group->outcomes[i] = -1;
    }
    for (int i = 0; i < count; i++) {
        if (group->decided) {
            give_up(promises[i]);
            continue;
        }
        int eye = model_promise_new(WAITS_MEMBER);
        m.promises[eye].group = number;
        m.promises[eye].place = i;
        group->eyes[i] = eye;
        m.promises[promises[i]].observed = true;
        m.promises[promises[i]].holds--;
        model_enqueue(promises[i], eye);
    }
    group->creating = false;
    if (group->decided) {
        leave_all(group, true);
    }
    m.promises[group->promise].holds--;
    return group->promise;
}
