/* Tests what is waited for in a forked child: delays, descriptors, loops, the parent's work. */
#include "fork_tools.h"

static void wait_for_each(void *context) {
    vow_promise **left = context;
    for (int i = 0; left[i] != NULL; i++) {
        CHECK_INT_EQ(vow_await(left[i], 0, NULL), VOW_PENDING);
        if (!CHECK_INT_EQ(vow_await(left[i], VOW_FOREVER, NULL), VOW_EFORKED)) {
            printf("# promise %d\n", i);
        }
    }
}

TEST("a child that waits for a delay or a descriptor left with the parent gets VOW_EFORKED") {
    int ends[2];
    CHECK_INT_EQ(pipe(ends), 0);
    vow_promise *members[2] = {vow_delay(HOUR), fulfilled_int(1)};
    vow_promise *left[] = {
        vow_delay(HOUR),
        vow_fd_ready(ends[0], VOW_READ),
        then_inline(vow_delay(HOUR), add_one, NULL),
        vow_all(members, 2),
        NULL,
    };
    in_child(wait_for_each, left);
    CHECK_INT_EQ(write(ends[1], "x", 1), 1);
    CHECK_INT_EQ(int_of(left[1]), VOW_READ);
    vow_promise_release(left[0]);
    CHECK(vow_cancel(left[2]));
    CHECK(vow_cancel(left[3]));
    vow_promise_release(left[2]);
    vow_promise_release(left[3]);
    close(ends[0]);
    close(ends[1]);
}

static void give_up_each(void *context) {
    vow_promise **left = context;
    CHECK(vow_cancel(left[0]));
    CHECK_INT_EQ(code_of(left[0]), VOW_ECANCELLED);
    vow_promise_release(left[1]);
    vow_promise_release(left[2]);
    CHECK(vow_cancel(left[3]));
    CHECK_INT_EQ(code_of(left[3]), VOW_ECANCELLED);
}

TEST("a child may give up delays and descriptors: the parent's end as they should") {
    int ends[2];
    CHECK_INT_EQ(pipe(ends), 0);
    vow_promise *all[4] = {vow_delay(200 * MILLISECOND), vow_delay(200 * MILLISECOND),
                           vow_fd_ready(ends[0], VOW_READ), vow_fd_ready(ends[0], VOW_READ)};
    in_child(give_up_each, all);
    CHECK_INT_EQ(write(ends[1], "x", 1), 1);
    for (int i = 0; i < 4; i++) {
        CHECK_INT_EQ(code_of(all[i]), 0);
    }
    close(ends[0]);
    close(ends[1]);
}

typedef struct loops {
    vow_loop *loop;
    vow_promise *delay;
    vow_promise *watch;
} loops;

static void give_up_loop(void *context) {
    loops *all = context;
    CHECK(vow_cancel(all->delay));
    vow_promise_release(all->watch);
    CHECK_INT_EQ(vow_loop_run_once(all->loop, 0), VOW_EFORKED);
    vow_loop_destroy(all->loop);
    CHECK_INT_EQ(code_of(all->delay), VOW_ECANCELLED);
}

TEST("the same with those of a loop") {
    int ends[2];
    CHECK_INT_EQ(pipe(ends), 0);
    loops all = {vow_loop_create(), NULL, NULL};
    all.delay = vow_delay(200 * MILLISECOND);
    all.watch = vow_fd_ready(ends[0], VOW_READ);
    in_child(give_up_loop, &all);
    CHECK_INT_EQ(write(ends[1], "x", 1), 1);
    CHECK_INT_EQ(int_of(all.watch), VOW_READ);
    CHECK_INT_EQ(code_of(all.delay), 0);
    vow_loop_destroy(all.loop);
    close(ends[0]);
    close(ends[1]);
}

/* A source, with a reaction of each kind and a function. */
typedef struct switches {
    vow_cancel_source *source;
    vow_resolver *resolver;
    vow_promise *promise;
    vow_promise *reactions[2];
    counter told;
    counter producer;
} switches;

static void switches_make(switches *all) {
    vow_executor *executors[2] = {vow_executor_inline(), vow_executor_pool()};
    memset(all, 0, sizeof *all);
    all->source = vow_cancel_source_create();
    all->promise = vow_promise_create(&all->resolver);
    CHECK_INT_EQ(vow_resolver_on_cancel(all->resolver, hear_of_it, &all->producer, counter_end), 0);
    vow_token *token = vow_cancel_source_token(all->source);
    for (int i = 0; i < 2; i++) {
        vow_reaction reaction;
        memset(&reaction, 0, sizeof reaction);
        reaction.size = sizeof reaction;
        reaction.on_fulfilled = add_one;
        reaction.executor = executors[i];
        reaction.token = token;
        all->reactions[i] = vow_then_with(vow_promise_retain(all->promise), &reaction);
    }
    CHECK_INT_EQ(vow_token_on_cancel(token, hear_of_it, &all->told, counter_end), 0);
}

static void cancel_everything(void *context) {
    switches *all = context;
    CHECK(vow_cancel_source_cancel(all->source));
    CHECK(!vow_cancel_source_cancel(all->source));
    for (int i = 0; i < 2; i++) {
        CHECK_INT_EQ(code_of(all->reactions[i]), VOW_ECANCELLED);
    }
    check_told(&all->told, 1, 1);
    check_told(&all->producer, 0, 0);
    CHECK(vow_cancel(all->promise));
    check_told(&all->producer, 1, 1);
    vow_resolver_release(all->resolver);
    vow_promise_release(all->promise);
    vow_cancel_source_release(all->source);
}

TEST("a child cancels its copies, the parent's go on") {
    switches all;
    switches_make(&all);
    in_child(cancel_everything, &all);
    CHECK(!vow_token_is_cancelled(vow_cancel_source_token(all.source)));
    check_told(&all.told, 0, 0);
    check_told(&all.producer, 0, 0);
    CHECK(vow_resolve(all.resolver, vow_int(1)));
    for (int i = 0; i < 2; i++) {
        CHECK_INT_EQ(int_of(all.reactions[i]), 2);
    }
    vow_cancel_source_release(all.source);
    check_told(&all.told, 0, 1);
    vow_resolver_release(all.resolver);
    check_told(&all.producer, 0, 1);
    vow_promise_release(all.promise);
}

static void check_context(void *context) {
    (void)context;
    CHECK_STR_EQ(vow_string_bytes(vow_context_get(), NULL), "of the parent");
    vow_context_set(vow_string("of the child", VOW_NUL_TERMINATED));
    CHECK_STR_EQ(vow_string_bytes(vow_context_get(), NULL), "of the child");
    vow_context_set(vow_none());
}

TEST("a context is the child's own") {
    vow_context_set(vow_string("of the parent", VOW_NUL_TERMINATED));
    in_child(check_context, NULL);
    CHECK_STR_EQ(vow_string_bytes(vow_context_get(), NULL), "of the parent");
    vow_context_set(vow_none());
}

static void shut_down(void *context) {
    CHECK(vow_shutdown(VOW_FOREVER) >= 2);
    CHECK_INT_EQ(code_of(context), VOW_ESHUTDOWN);
    CHECK_INT_EQ(int_of(then_inline(fulfilled_int(1), add_one, NULL)), 2);
}

TEST("a child may shut down: what was left with the parent is not waited for") {
    atomic_store(&may_end, 0);
    atomic_store(&under_way, 0);
    vow_promise *work = vow_async(vow_executor_pool(), work_until_told, NULL);
    vow_promise *delay = vow_delay(200 * MILLISECOND);
    CHECK(reaches(&under_way, 1));
    in_child(shut_down, delay);
    atomic_store(&may_end, 1);
    CHECK_INT_EQ(code_of(work), 0);
    CHECK_INT_EQ(code_of(delay), 0);
}

typedef struct meddler {
    vow_promise *promise;
    atomic_bool isEnough;
} meddler;

/* The oldest of many reactions is cancelled: the promise's queue is locked, and walked through. */
static void *meddle(void *context) {
    enum { READERS = 200 };
    meddler *self = context;
    vow_executor_set_default(vow_executor_inline());
    while (!atomic_load(&self->isEnough)) {
        vow_promise *readers[READERS];
        for (int i = 0; i < READERS; i++) {
            readers[i] = vow_then(vow_promise_retain(self->promise), add_one, NULL);
        }
        for (int i = 0; i < READERS; i++) {
            vow_cancel(readers[i]);
            vow_promise_release(readers[i]);
        }
    }
    return NULL;
}

TEST("a child's wait for a promise that another thread had locked at the fork ends") {
    vow_resolver *resolver;
    meddler self = {.promise = vow_promise_create(&resolver)};
    vow_promise *link = then_inline(vow_promise_retain(self.promise), add_one, NULL);
    pthread_t thread = start_thread(meddle, &self);
    for (int i = 0; i < many_of(150, 1500); i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            alarm(CHILD_LIMIT);
            /* The link's way leads to the other one. */
            int first = vow_await(self.promise, 1000, NULL), second = vow_await(link, 1000, NULL);
            bool good = (first == VOW_PENDING || first == VOW_EFORKED) &&
                        (second == VOW_PENDING || second == VOW_EFORKED);
            _exit(good ? 0 : 1);
        }
        int status = -1;
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
        if (!CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
            break;
        }
    }
    atomic_store(&self.isEnough, true);
    pthread_join(thread, NULL);
    vow_resolve(resolver, vow_int(1));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(link), 2);
    vow_promise_release(self.promise);
}
