/* Tests how a link is cancelled, wherever it stands: which handler runs, what it reads, and the
 * order of its end. */
#include "quiet_play.h"

#define PLAY(rows) play_rows(rows, sizeof rows / sizeof *rows)

TEST("G14: a cancelled then: its handler never runs, or returns first; its context goes before it "
     "settles") {
    static const row rows[] = {
        {THEN, DIRECTLY, UPSTREAM, false, "x! f~ !cancelled", NULL},
        {THEN, DIRECTLY, UPSTREAM, true, "f~ !cancelled", NULL},
        {THEN, DIRECTLY, QUEUED, false, "f~ !cancelled", NULL},
        {THEN, DIRECTLY, RUNNING, false, "f<5 f~ !cancelled", NULL},
        {THEN, DIRECTLY, RETURNED, false, "f<5 y! f~ !cancelled", NULL},
        {THEN, DIRECTLY, RETURNED, true, "f<5 f~ !cancelled", NULL},
    };
    PLAY(rows);
}

TEST(
    "G15: a cancelled finally runs exactly once, and reads what has settled, or the cancellation") {
    static const row rows[] = {
        {FINALLY, DIRECTLY, UPSTREAM, false, "x! f<cancelled f~ !cancelled", NULL},
        {FINALLY, DIRECTLY, UPSTREAM, true, "f<cancelled f~ !cancelled", NULL},
        {FINALLY, DIRECTLY, QUEUED, false, "f<5 f~ !cancelled", NULL},
        {FINALLY, DIRECTLY, RUNNING, false, "f<5 f~ !cancelled", NULL},
        {FINALLY, DIRECTLY, RETURNED, false, "f<5 y! f~ !cancelled", NULL},
        {FINALLY, DIRECTLY, RETURNED, true, "f<5 f~ !cancelled", NULL},
    };
    PLAY(rows);
}

TEST("a cancelled catch reads the cancellation; though it recovers, its promise is rejected") {
    static const row rows[] = {
        {CATCH, DIRECTLY, UPSTREAM, false, "x! f<cancelled f~ !cancelled", NULL},
        {CATCH, DIRECTLY, UPSTREAM, true, "f<cancelled f~ !cancelled", NULL},
        {CATCH, DIRECTLY, QUEUED, false, "f<cancelled f~ !cancelled", NULL},
        {CATCH, DIRECTLY, RUNNING, false, "f<e9 f~ !cancelled", NULL},
        {CATCH, DIRECTLY, RETURNED, false, "f<e9 y! f~ !cancelled", NULL},
        {CATCH, DIRECTLY, RETURNED, true, "f<e9 f~ !cancelled", NULL},
    };
    PLAY(rows);
}

TEST("what a catch that has read the cancellation rejects with passes on") {
    static const row rows[] = {
        {RETHROW, DIRECTLY, UPSTREAM, false, "x! f<cancelled f~ !e8", NULL},
        {RETHROW, DIRECTLY, UPSTREAM, true, "f<cancelled f~ !e8", NULL},
        {RETHROW, DIRECTLY, QUEUED, false, "f<cancelled f~ !e8", NULL},
    };
    PLAY(rows);
}

TEST("a promise that a cancelled catch returns is cancelled, and waited for") {
    static const row rows[] = {
        {GIVE, DIRECTLY, UPSTREAM, false, "x! f<cancelled y! f~ !cancelled", NULL},
        {GIVE, DIRECTLY, UPSTREAM, true, "f<cancelled y! f~ !cancelled", NULL},
        {GIVE, DIRECTLY, QUEUED, false, "f<cancelled y! f~ !cancelled", NULL},
    };
    PLAY(rows);
}

TEST("what has settled is not cancelled") {
    static const row rows[] = {
        {THEN, DIRECTLY, SETTLED, false, "f<5 f~ !5", NULL},
        {CATCH, DIRECTLY, SETTLED, false, "f<e9 f~ !7", NULL},
        {FINALLY, DIRECTLY, SETTLED, false, "f<5 f~ !5", NULL},
    };
    PLAY(rows);
}
