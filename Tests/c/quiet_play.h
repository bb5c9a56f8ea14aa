/* Plays one scene of cancelling: what is cancelled, in which way, where it stands, and who else
 * reads. */
#ifndef VOW_TEST_QUIET_PLAY_H
#define VOW_TEST_QUIET_PLAY_H

#include "quiet.h"

/* The link f, which reads x. */
typedef enum kind { THEN, CATCH, RETHROW, GIVE, FINALLY } kind;

/* How it is cancelled: itself; a then after it; by a time-out around it; in an all whose other
 * member fails; as the member of a scope; by its token. */
typedef enum way { DIRECTLY, CHAINED, TIMEOUT, ALL, SCOPE, TOKEN } way;

/* Where it stands then. */
typedef enum stand { UPSTREAM, QUEUED, RUNNING, RETURNED, SETTLED } stand;

static const char *const kind_names[] = {"then", "catch", "catch that fails", "catch that gives",
                                         "finally"};
static const char *const way_names[] = {"cancelled",  "a then after it is cancelled",
                                        "timed out",  "in an all that fails",
                                        "in a scope", "by a token"};
static const char *const stand_names[] = {"upstream is pending", "queued", "running",
                                          "waits for what it returned", "settled"};

typedef struct row {
    kind of;
    way by;
    stand at;
    bool shared; /* somebody else holds what it waits for */
    const char *happens;
    const char *outcome; /* of what is around it, where that does not wait for it; else NULL */
} row;

typedef struct play {
    const row *row;
    scene in, around;
    runner on;
    crowd before;
    stage f, t;
    produced x, y;
    vow_promise *other; /* a handle of x or y that somebody else has */
    vow_promise *outer; /* whose outcome is seen */
    vow_promise *seen;
    vow_resolver *decides;
    vow_scope *scope;
    vow_loop *clock;
    vow_cancel_source *source;
} play;

static vow_promise *play_link(play *self, vow_promise *promise, stage *stage, bool fulfilled,
                              bool rejected) {
    vow_reaction reaction = {.size = sizeof reaction,
                             .on_fulfilled = fulfilled ? stage_run : NULL,
                             .on_rejected = rejected ? stage_run : NULL,
                             .context = stage,
                             .destroy = stage_end,
                             .executor = self->on.executor};
    if (stage == &self->f && self->row->of == FINALLY) {
        reaction.flags = VOW_FINALLY;
    }
    if (stage == &self->f && self->source != NULL) {
        reaction.token = vow_cancel_source_token(self->source);
    }
    return vow_then_with(promise, &reaction);
}

static void play_make(play *self) {
    kind of = self->row->of;
    bool is_catch = of == CATCH || of == RETHROW || of == GIVE;
    vow_promise *x = produced_begin(&self->x, &self->in, "x");
    vow_promise *y = NULL;
    if (self->row->at == UPSTREAM && self->row->shared) {
        self->other = vow_promise_retain(x);
    }
    if (self->row->at == RETURNED || of == GIVE) {
        y = produced_begin(&self->y, &self->in, "y");
        if (self->row->at == RETURNED && self->row->shared) {
            self->other = vow_promise_retain(y);
        }
    }
    self->f = (stage){.in = &self->in, .name = "f", .gives = y};
    self->f.waits = self->row->at == RUNNING;
    self->f.result = of == CATCH     ? vow_int(7)
                     : of == RETHROW ? vow_error("test", 8, NULL)
                                     : vow_none();
    self->t = (stage){.in = &self->in, .name = "t"};
    if (self->row->by == TOKEN) {
        self->source = vow_cancel_source_create();
    }
    self->outer = play_link(self, x, &self->f, !is_catch, of != THEN);
}

/* What is around the link. */
static void play_surround(play *self) {
    scene *sees = self->row->outcome != NULL ? &self->around : &self->in;
    vow_promise *both[2] = {self->outer, NULL};
    switch (self->row->by) {
    case CHAINED:
        self->outer = play_link(self, self->outer, &self->t, true, false);
        break;
    case TIMEOUT:
        self->clock = vow_loop_create_virtual();
        self->outer = vow_timeout(self->outer, SECOND);
        break;
    case ALL:
        both[1] = vow_promise_create(&self->decides);
        self->outer = vow_all(both, 2);
        break;
    case SCOPE:
        self->scope = vow_scope_create();
        CHECK_INT_EQ(vow_scope_add(self->scope, self->outer), 0);
        self->outer = NULL;
        return;
    default:
        break;
    }
    self->seen = seen_by(sees, self->outer);
}

static void play_resolve(play *self) {
    bool is_catch = self->row->of == CATCH || self->row->of == RETHROW || self->row->of == GIVE;
    CHECK(vow_resolve(self->x.resolver, is_catch ? vow_error("test", 9, NULL) : vow_int(5)));
}

static void *play_resolve_elsewhere(void *context) {
    play_resolve(context);
    return NULL;
}

static bool play_act(play *self) {
    vow_promise *end;
    switch (self->row->by) {
    case TIMEOUT:
        return vow_loop_advance(self->clock, SECOND) >= 0;
    case ALL:
        return vow_reject(self->decides, vow_error("test", 4, NULL));
    case SCOPE:
        vow_scope_cancel(self->scope);
        end = vow_scope_close(self->scope);
        self->seen = seen_by(&self->in, end);
        self->outer = end;
        return true;
    case TOKEN:
        return vow_cancel_source_cancel(self->source);
    default:
        return vow_cancel(self->outer);
    }
}

static void play_end(play *self) {
    CHECK_INT_EQ(code_of(self->seen), 0);
    CHECK(reaches(&self->f.ended, 1));
    if (self->other != NULL) {
        CHECK_INT_EQ(vow_promise_state(self->other),
                     self->row->at == RETURNED ? VOW_FULFILLED : VOW_PENDING);
    }
    vow_promise_release(self->outer);
    vow_resolver_release(self->x.resolver);
    if (self->y.resolver != NULL) {
        vow_resolver_release(self->y.resolver);
    }
    if (self->decides != NULL) {
        vow_resolver_release(self->decides);
    }
    vow_value_release(self->f.result);
    vow_cancel_source_release(self->source);
    vow_loop_destroy(self->clock);
    runner_end(&self->on);
}

static void play_scene(const row *row, place at) {
    play self = {.row = row};
    char what[160];
    pthread_t resolver = pthread_self();
    bool elsewhere = row->at == RUNNING && at == INLINE;
    (void)snprintf(what, sizeof what, "%s, %s, %s%s, %s", kind_names[row->of], way_names[row->by],
                   stand_names[row->at], row->shared ? ", shared" : "", place_names[at]);
    /* A reader of the scene before may be on its way out. */
    handlers_left(0);
    scene_begin(&self.in);
    scene_begin(&self.around);
    runner_begin(&self.on, at);
    play_make(&self);
    play_surround(&self);
    uint64_t handlers = harness_stats().handlers;
    if (row->at == UPSTREAM || row->at == QUEUED) {
        crowd_occupy(&self.before, &self.on);
    }
    if (elsewhere) {
        resolver = start_thread(play_resolve_elsewhere, &self);
    } else if (row->at != UPSTREAM) {
        play_resolve(&self);
    }
    switch (row->at) {
    case RUNNING:
        CHECK(reaches(&self.f.entered, 1));
        break;
    case RETURNED:
        handlers_left(handlers - 1);
        break;
    case SETTLED:
        CHECK_INT_EQ(vow_await(self.outer, LONG_ENOUGH, NULL) > 0, true);
        break;
    default:
        break;
    }
    CHECK(play_act(&self) == (row->at != SETTLED));
    bool returned_shared = row->at == RETURNED && row->shared;
    if ((row->at == RUNNING || returned_shared) && row->outcome == NULL) {
        CHECK(!strpbrk(self.in.text, "!~"));
    }
    if (row->outcome != NULL) {
        /* It did not wait. */
        CHECK_INT_EQ(code_of(vow_promise_retain(self.seen)), 0);
    }
    atomic_store(&self.f.open, 1);
    crowd_leave(&self.before);
    if (returned_shared) {
        /* Nobody has touched what somebody else reads; it is waited for. */
        CHECK_INT_EQ(vow_promise_state(self.other), VOW_PENDING);
        CHECK(vow_resolve(self.y.resolver, vow_int(3)));
    }
    if (elsewhere) {
        pthread_join(resolver, NULL);
    }
    play_end(&self);
    scene_is(&self.in, row->happens, what);
    scene_is(&self.around, row->outcome != NULL ? row->outcome : "", what);
    vow_promise_release(self.other);
}

/* All rows, in every place where the link can stand so. */
static void play_rows(const row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        for (int at = INLINE; at < PLACES; at++) {
            /* What runs inline is never queued. */
            if (at != INLINE || rows[i].at != QUEUED) {
                play_scene(&rows[i], (place)at);
            }
        }
    }
}

#endif
