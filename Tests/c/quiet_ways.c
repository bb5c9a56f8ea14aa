/* Tests what cancelling from around it does to a link: a then after it, a time-out, an all, a
 * scope, a token. */
#include "quiet_play.h"

#define PLAY(rows) play_rows(rows, sizeof rows / sizeof *rows)

TEST("G15: a finally runs when a then after it is cancelled, and that settles last") {
    static const row rows[] = {
        {FINALLY, CHAINED, UPSTREAM, false, "x! f<cancelled f~ t~ !cancelled", NULL},
        {FINALLY, CHAINED, UPSTREAM, true, "f<cancelled f~ t~ !cancelled", NULL},
        {FINALLY, CHAINED, QUEUED, false, "f<5 f~ t~ !cancelled", NULL},
        {FINALLY, CHAINED, RUNNING, false, "f<5 f~ t~ !cancelled", NULL},
        {FINALLY, CHAINED, RETURNED, false, "f<5 y! f~ t~ !cancelled", NULL},
        {FINALLY, CHAINED, RETURNED, true, "f<5 f~ t~ !cancelled", NULL},
    };
    PLAY(rows);
}

TEST("G14: a then after a then, or after a catch, is cancelled: the first is through before") {
    static const row rows[] = {
        {THEN, CHAINED, UPSTREAM, false, "x! f~ t~ !cancelled", NULL},
        {THEN, CHAINED, UPSTREAM, true, "f~ t~ !cancelled", NULL},
        {THEN, CHAINED, QUEUED, false, "f~ t~ !cancelled", NULL},
        {THEN, CHAINED, RUNNING, false, "f<5 f~ t~ !cancelled", NULL},
        {THEN, CHAINED, RETURNED, false, "f<5 y! f~ t~ !cancelled", NULL},
        {CATCH, CHAINED, UPSTREAM, false, "x! f<cancelled f~ t~ !cancelled", NULL},
        /* The then was cancelled itself, and reads that in place of what comes. */
        {RETHROW, CHAINED, UPSTREAM, false, "x! f<cancelled f~ t~ !cancelled", NULL},
        {CATCH, CHAINED, RUNNING, false, "f<e9 f~ t~ !cancelled", NULL},
    };
    PLAY(rows);
}

TEST("G15: a finally runs when a time-out passes, which settles at once") {
    static const row rows[] = {
        {FINALLY, TIMEOUT, UPSTREAM, false, "x! f<cancelled f~", "!e-7"},
        {FINALLY, TIMEOUT, UPSTREAM, true, "f<cancelled f~", "!e-7"},
        {FINALLY, TIMEOUT, QUEUED, false, "f<5 f~", "!e-7"},
        {FINALLY, TIMEOUT, RUNNING, false, "f<5 f~", "!e-7"},
        {FINALLY, TIMEOUT, RETURNED, false, "f<5 y! f~", "!e-7"},
        {FINALLY, TIMEOUT, RETURNED, true, "f<5 f~", "!e-7"},
        {THEN, TIMEOUT, UPSTREAM, false, "x! f~", "!e-7"},
        {THEN, TIMEOUT, RUNNING, false, "f<5 f~", "!e-7"},
    };
    PLAY(rows);
}

TEST("G15: a finally runs in a vow_all that fails, which settles at once") {
    static const row rows[] = {
        {FINALLY, ALL, UPSTREAM, false, "x! f<cancelled f~", "!e4"},
        {FINALLY, ALL, UPSTREAM, true, "f<cancelled f~", "!e4"},
        {FINALLY, ALL, QUEUED, false, "f<5 f~", "!e4"},
        {FINALLY, ALL, RUNNING, false, "f<5 f~", "!e4"},
        {FINALLY, ALL, RETURNED, false, "f<5 y! f~", "!e4"},
        {FINALLY, ALL, RETURNED, true, "f<5 f~", "!e4"},
        {CATCH, ALL, UPSTREAM, false, "x! f<cancelled f~", "!e4"},
    };
    PLAY(rows);
}

TEST("G14 G15: the end of a cancelled scope comes when its member is through") {
    static const row rows[] = {
        {FINALLY, SCOPE, UPSTREAM, false, "x! f<cancelled f~ !none", NULL},
        {FINALLY, SCOPE, UPSTREAM, true, "f<cancelled f~ !none", NULL},
        {FINALLY, SCOPE, QUEUED, false, "f<5 f~ !none", NULL},
        {FINALLY, SCOPE, RUNNING, false, "f<5 f~ !none", NULL},
        {FINALLY, SCOPE, RETURNED, false, "f<5 y! f~ !none", NULL},
        {FINALLY, SCOPE, RETURNED, true, "f<5 f~ !none", NULL},
        {THEN, SCOPE, RUNNING, false, "f<5 f~ !none", NULL},
        {RETHROW, SCOPE, UPSTREAM, false, "x! f<cancelled f~ !e8", NULL},
    };
    PLAY(rows);
}

TEST("a token cancels from its link on: what that reads is left alone") {
    static const row rows[] = {
        {FINALLY, TOKEN, UPSTREAM, true, "f<cancelled f~ !cancelled", NULL},
        {FINALLY, TOKEN, QUEUED, false, "f<5 f~ !cancelled", NULL},
        {FINALLY, TOKEN, RUNNING, false, "f<5 f~ !cancelled", NULL},
        {FINALLY, TOKEN, RETURNED, false, "f<5 y! f~ !cancelled", NULL},
        {FINALLY, TOKEN, RETURNED, true, "f<5 f~ !cancelled", NULL},
        {CATCH, TOKEN, UPSTREAM, true, "f<cancelled f~ !cancelled", NULL},
        {CATCH, TOKEN, QUEUED, false, "f<cancelled f~ !cancelled", NULL},
        {THEN, TOKEN, UPSTREAM, true, "f~ !cancelled", NULL},
        {THEN, TOKEN, QUEUED, false, "f~ !cancelled", NULL},
        {THEN, TOKEN, RUNNING, false, "f<5 f~ !cancelled", NULL},
        {THEN, TOKEN, RETURNED, false, "f<5 y! f~ !cancelled", NULL},
        /* The producer hears that nobody is left. */
        {THEN, TOKEN, UPSTREAM, false, "x! f~ !cancelled", NULL},
        {FINALLY, TOKEN, UPSTREAM, false, "x! f<cancelled f~ !cancelled", NULL},
    };
    PLAY(rows);
}
