/* Many promises as one. */
#include "free.h"

static const origin kinds[] = {BY_ALL, BY_ALL_SETTLED, BY_ANY, BY_SOME, BY_RACE};

static vow_promise *call(origin kind, vow_promise *const *promises, size_t count, size_t wanted) {
    switch (kind) {
    case BY_ALL:
        return vow_all(promises, count);
    case BY_ALL_SETTLED:
        return vow_all_settled(promises, count);
    case BY_ANY:
        return vow_any(promises, count);
    case BY_SOME:
        return vow_some(promises, count, wanted);
    default:
        return vow_race(promises, count);
    }
}

/* Half of the programs' combinators have witnesses: somebody else who reads the members. */
void combine_step(unsigned which) {
    vow_promise *promises[MEMBERS];
    origin kind = kinds[which % 5];
    unsigned form = next_byte();
    int number = f.record_count++;
    record *self = &f.records[number];
    *self = (record){.origin = kind, .loop = -1, .machine = -1};
    self->kept = form & 16;
    self->wanted = (int)(form / 32 % (MEMBERS + 1));
    for (int i = (int)(form % (MEMBERS + 1)); i > 0; i--) {
        vow_promise *member = take(&self->members[self->count]);
        if (member == NULL) {
            break;
        }
        int it = self->members[self->count];
        f.records[it].holds += self->kept;
        if (self->kept) {
            vow_promise_retain(member);
        }
        wait_for(number, it);
        promises[self->count++] = member;
    }
    f.can[-VOW_EAGGREGATE] |= kind == BY_ANY || kind == BY_SOME;
    f.can[-VOW_ECANCELLED] = true;
    f.can[-VOW_EINVAL] |= kind == BY_RACE && self->count == 0;
    trace("combinator %d of %d -> %d, %d wanted", (int)kind, self->count, number, self->wanted);
    size_t count = (size_t)self->count;
    self->real = call(kind, count ? promises : NULL, count, (size_t)self->wanted);
    EXPECT(self->real != NULL, "NULL instead of a promise");
    self->holds = 1;
    put(number);
}
