/* Tests what combinators tell of themselves: which share of their promises or items is done. */
#include "ear.h"

/* Whether a listener heard of 1/count, 2/count and so on. */
static void heard_shares(ear *self, int count) {
    CHECK_INT_EQ(atomic_load(&self->calls), count);
    for (int i = 0; i < atomic_load(&self->calls) && i < 256; i++) {
        CHECK(self->fractions[i] == (i + 1) / (double)count);
    }
    CHECK(reaches(&self->ends, 1));
}

TEST("vow_all and vow_all_settled tell which share of their promises is done") {
    enum { members = 4 };
    for (int kind = 0; kind < 2; kind++) {
        ear self = {0};
        vow_resolver *resolvers[members];
        vow_promise *promises[members];
        for (int i = 0; i < members; i++) {
            promises[i] = vow_promise_create(&resolvers[i]);
        }
        vow_promise *combined =
            kind == 0 ? vow_all(promises, members) : vow_all_settled(promises, members);
        listen_inline(combined, 0, &self);
        for (int i = 0; i < members; i++) {
            vow_resolve(resolvers[i], vow_int(i));
            vow_resolver_release(resolvers[i]);
        }
        CHECK_INT_EQ(code_of(combined), 0);
        heard_shares(&self, members);
    }
}

static void *settle_from_elsewhere(void *context) {
    vow_resolver **all = context;
    for (int i = 0; all[i] != NULL; i++) {
        vow_resolve(all[i], vow_int(i));
        vow_resolver_release(all[i]);
    }
    return NULL;
}

TEST("the share of a combinator does not go back, whichever thread is faster") {
    enum { threads = 4, each = 50, rounds = 20 };
    for (int round = 0; round < rounds * (slowness() > 1 ? 1 : 5); round++) {
        ear self = {0};
        vow_resolver *resolvers[threads][each + 1];
        vow_promise *promises[threads * each + 1];
        vow_resolver *last;
        for (int i = 0; i < threads; i++) {
            for (int j = 0; j < each; j++) {
                promises[i * each + j] = vow_promise_create(&resolvers[i][j]);
            }
            resolvers[i][each] = NULL;
        }
        promises[threads * each] = vow_promise_create(&last);
        vow_promise *combined = vow_all(promises, threads * each + 1);
        vow_on_progress(combined, 0, hear, &self, ear_end);
        pthread_t running[threads];
        for (int i = 0; i < threads; i++) {
            running[i] = start_thread(settle_from_elsewhere, resolvers[i]);
        }
        for (int i = 0; i < threads; i++) {
            pthread_join(running[i], NULL);
        }
        double wanted = threads * each / (threads * each + 1.0);
        int64_t limit = now_ns() + LONG_ENOUGH;
        while (last_of(&self) != wanted && now_ns() < limit) {
            usleep(100);
        }
        CHECK(last_of(&self) == wanted);
        for (int i = 1; i < atomic_load(&self.calls) && i < 256; i++) {
            CHECK(self.fractions[i] > self.fractions[i - 1]);
        }
        vow_resolve(last, vow_none());
        vow_resolver_release(last);
        CHECK_INT_EQ(code_of(combined), 0);
        CHECK(reaches(&self.ends, 1));
    }
}
