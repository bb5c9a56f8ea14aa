/* Scopes: places for work that must not be left behind. */
#include "free.h"

static space *some_scope(void) {
    unsigned from = next_below(SCOPES);
    for (unsigned i = 0; i < SCOPES; i++) {
        space *self = &f.scopes[(from + i) % SCOPES];
        if (self->real != NULL) {
            return self;
        }
    }
    return NULL;
}

static void let_go_of_members(space *self) {
    for (int i = 0; i < self->count; i++) {
        let_go_record(self->members[i]);
    }
    self->count = 0;
}

static void create(void) {
    space *self = &f.scopes[next_below(SCOPES)];
    if (self->real != NULL || self->closed) {
        return;
    }
    *self = (space){.real = vow_scope_create(), .end = f.record_count++, .kept = next_below(2)};
    EXPECT(self->real != NULL, "no scope");
    f.records[self->end] = (record){.origin = BY_SCOPE, .loop = -1, .machine = -1};
    f.can[-VOW_ECANCELLED] = true;
    trace("scope %d, record %d", (int)(self - f.scopes), self->end);
}

static void add(space *self) {
    int member = -1;
    if (self->count == MEMBERS * 4) {
        return;
    }
    /* The end waits for the member, so the member must not wait for the end. */
    vow_promise *promise = take(&member);
    if (promise == NULL) {
        return;
    }
    if (reaches(member, self->end)) {
        vow_promise_release(promise);
        return;
    }
    wait_for(self->end, member);
    vow_promise_retain(promise);
    f.records[member].holds++;
    f.records[member].cancelled = true; /* the scope may do so, whoever holds it */
    int end = self->end;
    bool cancelled = self->cancelled;
    int answer = vow_scope_add(self->real, promise);
    trace("scope %d: record %d is added, %d", (int)(self - f.scopes), member, answer);
    EXPECT(answer == (cancelled ? VOW_ECANCELLED : 0), "a member is added: %d", answer);
    /* The call may have run the program, which may have closed the scope, and made another one
     * here. */
    bool is_there = self->end == end && (self->real != NULL || self->closed);
    self->kept = self->kept && self->count < MEMBERS * 4;
    /* A cancelled scope waits for it, too. */
    if (self->kept && is_there) {
        self->members[self->count++] = member;
    } else {
        let_go_record(member);
    }
}

static void close_it(space *self) {
    vow_scope *real = self->real;
    self->real = NULL;
    self->closed = true;
    trace("scope %d is closed", (int)(self - f.scopes));
    f.records[self->end].real = vow_scope_close(real);
    f.records[self->end].holds = 1;
    hold_record(self->end); /* the scope's own, until the end is seen */
    put(self->end);
}

static void give_up(space *self) {
    /* Each call may run the program, which may make another one here. */
    space gone = *self;
    self->real = NULL;
    self->count = 0;
    trace("scope %d is given up", (int)(self - f.scopes));
    vow_scope_release(gone.real);
    let_go_of_members(&gone);
}

void scope_step(unsigned which) {
    space *self = which == 0 ? NULL : some_scope();
    if (which == 0) {
        create();
    } else if (self == NULL) {
        return;
    } else if (which < 3) {
        add(self);
    } else if (which == 3) {
        if (next_below(4) == 0) {
            self->cancelled = true;
            trace("scope %d is cancelled", (int)(self - f.scopes));
            vow_scope_cancel(self->real);
        } else {
            close_it(self);
        }
    } else if (next_below(4)) {
        close_it(self);
    } else {
        give_up(self);
    }
}

/* What the end says of the members that the program has kept. */
static void check_end(space *self) {
    const record *end = &f.records[self->end];
    bool pending = false, failed = false;
    vow_value out, error = vow_none();
    for (int i = 0; i < self->count; i++) {
        if (!vow_promise_peek(f.records[self->members[i]].real, &out)) {
            pending = true;
        } else if (out.kind == VOW_ERROR && !is_own(out, VOW_ECANCELLED)) {
            failed = true;
        }
    }
    if (!vow_promise_peek(end->real, &error)) {
        EXPECT(pending || !self->kept, "scope %d has no end", (int)(self - f.scopes));
        return;
    }
    learn(self->end, error);
    EXPECT(!self->kept || !pending, "scope %d ends before its members", (int)(self - f.scopes));
    if (self->kept && !is_own(error, VOW_ECANCELLED) && !is_own(error, VOW_ECYCLE)) {
        EXPECT(failed == (error.kind == VOW_ERROR), "scope %d ends with kind %u",
               (int)(self - f.scopes), error.kind);
    }
    let_go_of_members(self);
    self->closed = false;
    let_go_record(self->end);
}

void check_scopes(void) {
    for (int i = 0; i < SCOPES; i++) {
        if (f.scopes[i].closed) {
            check_end(&f.scopes[i]);
        }
    }
}

void end_scopes(void) {
    for (int i = 0; i < SCOPES; i++) {
        if (f.scopes[i].real != NULL && f.scopes[i].kept) {
            close_it(&f.scopes[i]);
        } else if (f.scopes[i].real != NULL) {
            give_up(&f.scopes[i]);
        }
    }
    check_scopes();
}
