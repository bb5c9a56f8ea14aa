/* Making values in both worlds, and comparing them. */
#include "texts.h"
#include "world.h"

#include <string.h>

static pair scalar(unsigned what) {
    int64_t number = next_byte();
    int model = model_value_new(VOW_INT, number);
    switch (what) {
    case 0:
        m.values[model].kind = VOW_BOOL;
        m.values[model].number &= 1;
        return (pair){vow_bool(number & 1), model};
    case 1:
        m.values[model].kind = VOW_DOUBLE;
        return (pair){vow_double((double)number), model};
    case 2:
        m.values[model].kind = VOW_POINTER;
        return (pair){vow_pointer(&w.contexts[number]), model};
    case 3:
        m.values[model].kind = VOW_NONE;
        return (pair){vow_none(), model};
    default:
        return (pair){vow_int(number), model};
    }
}

static pair string(void) {
    unsigned text = next_below(TEXTS);
    bool terminated = strlen(texts[text].bytes) == texts[text].length && next_below(2);
    size_t length = terminated ? VOW_NUL_TERMINATED : texts[text].length;
    return (pair){vow_string(texts[text].bytes, length), model_value_new(VOW_STRING, text)};
}

static pair new_object(bool thenable) {
    int number = w.object_count++;
    int model = model_value_new(VOW_OBJECT, number);
    m.values[model].thenable = thenable;
    w.objects[number].value = model;
    const vow_class *cls = thenable ? &thenable_class : &plain_class;
    return (pair){vow_object(&w.objects[number], cls), model};
}

/* A pending promise inside a list or an error could close a circle of references, which no
 * counting library frees: only settled ones go in. */
pair without_pending(pair value) {
    const model_value *self = &m.values[value.model];
    if (self->kind != VOW_PROMISE || m.promises[self->number].state != VOW_PENDING) {
        return value;
    }
    drop_value(value);
    return scalar(4);
}

static pair list(void) {
    vow_value items[MODEL_ITEMS];
    pair parts[MODEL_ITEMS];
    int count = (int)next_below(MODEL_ITEMS + 1);
    for (int i = 0; i < count; i++) {
        parts[i] = without_pending(take_value());
        hold(parts[i]);
    }
    int model = model_value_new(VOW_LIST, 0);
    m.values[model].count = count;
    for (int i = 0; i < count; i++) {
        items[i] = parts[i].real;
        m.values[model].items[i] = parts[i].model;
        let_go(parts[i]);
    }
    return (pair){vow_list(count ? items : NULL, (size_t)count), model};
}

static pair error(bool wraps) {
    int domain = (int)next_below(2);
    int message = (int)next_below(MESSAGES + 1);
    int64_t code = 1000 + w.next_code++;
    const char *text = message < MESSAGES ? messages[message] : NULL;
    if (!wraps) {
        int model = model_error_new(domain, code, message < MESSAGES ? message : TEXT_NULL, -1);
        return (pair){vow_error(domains[domain], code, text), model};
    }
    pair payload = without_pending(take_value());
    int model =
        model_error_new(domain, code, message < MESSAGES ? message : TEXT_NULL, payload.model);
    return (pair){vow_error_wrap(domains[domain], code, text, payload.real), model};
}

static pair promise_value(void) {
    int slot = some_promise();
    if (slot < 0) {
        return scalar(4);
    }
    vow_promise *promise = vow_promise_retain(w.promises[slot]);
    return (pair){vow_from_promise(promise), model_value_new(VOW_PROMISE, w.promise_models[slot])};
}

static pair slot_value(bool moves) {
    int slot = some_value();
    if (slot < 0) {
        return scalar(4);
    }
    pair value = {w.values[slot], w.value_models[slot]};
    if (moves) {
        w.value_models[slot] = -1;
        let_go(value);
    } else {
        vow_value_retain(value.real);
    }
    return value;
}

pair make_value(unsigned what) {
    switch (what % 16) {
    case 0:
    case 1:
        return scalar(4);
    case 2:
        return scalar(next_below(4));
    case 3:
    case 4:
        return error(false);
    case 5:
        return error(true);
    case 6:
    case 7:
    case 8:
        return promise_value();
    case 9:
        return slot_value(false);
    case 10:
        return slot_value(true);
    case 11:
        return new_object(false);
    case 12:
    case 13:
        return new_object(true);
    case 14:
        return string();
    default:
        /* Lists inside lists end with the program's bytes, or with the arrays. */
        return model_is_full() ? scalar(4) : list();
    }
}

pair take_value(void) {
    return make_value(next_byte());
}

/* What a promise may be resolved with. Two must not wait for one thenable: subscribe could not tell
 * which one it serves. */
pair usable_result(pair value) {
    const model_value *self = &m.values[value.model];
    bool taken = false;
    if (self->kind != VOW_OBJECT || !self->thenable) {
        return value;
    }
    for (int i = 0; i < m.promise_count; i++) {
        taken |= m.promises[i].wait == WAITS_THENABLE && m.promises[i].value == value.model;
    }
    for (int i = 0; i < w.context_count; i++) {
        taken |= w.contexts[i].returned == value.model;
    }
    if (taken) {
        drop_value(value);
        return scalar(4);
    }
    return value;
}

/* A ring that a combinator is part of is not looked for, and would never end. */
pair usable_for(int promise, pair value) {
    value = usable_result(value);
    int with = (int)m.values[value.model].number;
    if (m.values[value.model].kind == VOW_PROMISE && !model_waits_for(with, promise) &&
        model_waits_at_all(with, promise)) {
        drop_value(value);
        return scalar(4);
    }
    return value;
}

void hold(pair value) {
    m.values[value.model].holds++;
}

void let_go(pair value) {
    m.values[value.model].holds--;
}

/* Gives back a value that is not held. */
void drop_value(pair value) {
    model_look_for_lost();
    vow_value_release(value.real);
}

void put_value(pair value) {
    unsigned slot = next_below(SLOTS);
    hold(value);
    if (w.value_models[slot] >= 0) {
        release_value((int)slot);
    }
    if (w.value_models[slot] >= 0) {
        /* A destructor has put something here meanwhile. */
        let_go(value);
        drop_value(value);
        return;
    }
    w.values[slot] = value.real;
    w.value_models[slot] = value.model;
}
