/* The promises that a program has, who waits for whom, and the values that it makes. */
#include "free.h"

#include <string.h>

int new_record(vow_promise *real, origin origin) {
    EXPECT(real != NULL, "NULL instead of a promise");
    record *self = &f.records[f.record_count];
    *self = (record){.real = real, .origin = origin, .holds = 1, .loop = -1, .machine = -1};
    trace("record %d, origin %d", f.record_count, (int)origin);
    return f.record_count++;
}

/* One more handle. */
void hold_record(int number) {
    record *self = &f.records[number];
    EXPECT(self->holds > 0 && vow_promise_retain(self->real) == self->real,
           "retain: another promise");
    self->holds++;
}

void let_go_record(int number) {
    record *self = &f.records[number];
    look(number);
    vow_promise *real = self->real;
    trace("record %d is let go", number);
    self->holds--;
    vow_promise_release(real);
}

/* Never forgotten: what once waited may still do. */
void wait_for(int number, int other) {
    if (number >= 0 && other >= 0 && f.edge_count < EDGES) {
        f.edges[f.edge_count][0] = number;
        f.edges[f.edge_count][1] = other;
        f.edge_count++;
    }
}

/* Whether one waits for the other in any way, or ever has. */
bool reaches(int from, int to) {
    static bool seen[RECORDS];
    static int open[RECORDS];
    int count = 0;
    memset(seen, 0, (size_t)f.record_count * sizeof seen[0]);
    open[count++] = from;
    seen[from] = true;
    while (count > 0) {
        int current = open[--count];
        if (current == to) {
            return true;
        }
        for (int i = 0; i < f.edge_count; i++) {
            int next = f.edges[i][1];
            if (f.edges[i][0] == current && !seen[next]) {
                seen[next] = true;
                open[count++] = next;
            }
        }
    }
    return false;
}

/* The program's handle goes into a place. */
void put(int number) {
    int place = (int)next_below(PLACES);
    for (int i = 0; i < PLACES && f.promises[place] >= 0; i++) {
        place = (place + 1) % PLACES;
    }
    while (f.promises[place] >= 0) {
        release_place(place);
    }
    f.promises[place] = number;
}

int some_place(void) {
    int from = (int)next_below(PLACES);
    for (int i = 0; i < PLACES; i++) {
        if (f.promises[(from + i) % PLACES] >= 0) {
            return (from + i) % PLACES;
        }
    }
    return -1;
}

vow_promise *take(int *number) {
    int place = some_place();
    if (place < 0) {
        return NULL;
    }
    *number = f.promises[place];
    record *self = &f.records[*number];
    if (next_below(2)) {
        return vow_promise_retain(self->real);
    }
    look(*number);
    f.promises[place] = -1;
    self->holds--;
    return self->real;
}

void release_place(int place) {
    int number = f.promises[place];
    f.promises[place] = -1;
    let_go_record(number);
}

/* Values that can be compared by their bits as long as somebody keeps them. */
vow_value plain_value(void) {
    unsigned what = next_below(8);
    int64_t number = next_byte();
    return what < 5    ? vow_int(number)
           : what == 5 ? vow_string("text", 4)
           : what == 6 ? vow_double((double)number)
                       : vow_none();
}

static vow_value new_error(void) {
    int64_t code = 1000 + f.next_code++;
    return next_below(4) ? vow_error("fuzz", code, NULL)
                         : vow_error_wrap("fuzz", code, "message", plain_value());
}

static vow_value new_thing(int owner, bool thenable) {
    if (f.thing_count == OBJECTS) {
        return vow_none();
    }
    thing *self = &f.things[f.thing_count++];
    self->owner = owner;
    return vow_object(self, thenable ? &free_thenable : &free_plain);
}

/* A promise that waits for a combinator which waits for it never settles: nobody looks for such
 * rings. Others are looked for, and are the model's. */
static vow_value promise_value(int owner) {
    int place = some_place();
    if (place < 0) {
        return vow_int(1);
    }
    int number = f.promises[place];
    if (owner < 0 || reaches(number, owner)) {
        return vow_int(2);
    }
    wait_for(owner, number);
    f.adopted = number;
    trace("record %d adopts record %d", owner, number);
    return vow_from_promise(vow_promise_retain(f.records[number].real));
}

/* Nothing that is pending goes into a list: it might close a circle of references. */
static vow_value new_list(int owner) {
    vow_value items[MEMBERS];
    size_t count = next_below(MEMBERS + 1);
    for (size_t i = 0; i < count; i++) {
        unsigned what = next_below(4);
        items[i] = what == 0 ? new_error() : what == 1 ? new_thing(owner, false) : plain_value();
    }
    return vow_list(count ? items : NULL, count);
}

vow_value new_value(int owner) {
    switch (next_below(12)) {
    case 0:
    case 1:
    case 2:
        return plain_value();
    case 3:
    case 4:
        return new_error();
    case 5:
    case 6:
    case 7:
        return promise_value(owner);
    case 8:
        return new_thing(owner, false);
    case 9:
    case 10:
        return new_thing(owner, owner >= 0);
    default:
        return new_list(owner);
    }
}

bool same(vow_value one, vow_value other) {
    return one.kind == other.kind &&
           (one.kind == VOW_NONE || (one.kind == VOW_BOOL ? one.as.boolean == other.as.boolean
                                                          : one.as.integer == other.as.integer));
}
