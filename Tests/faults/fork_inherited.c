/* Tests a process that forks while other threads use a source, a scope, a promise: the child makes
 * the plainest call on what it has inherited, and that returns. */
#include "../c/tools.h"
#include <sys/wait.h>

enum { THREADS = 2 };

/* The objects that the parent's threads use and the child inherits. */
typedef struct inherited {
    vow_cancel_source *source;
    vow_scope *scope;
    vow_executor *serial;
    vow_promise *promise;
    vow_resolver *resolver;
} inherited;

static inherited all;
static atomic_bool stop;
static atomic_llong rounds;

static void hear_nothing(void *context) {
    (void)context;
}

static void hear_progress(double fraction, const char *note, void *context) {
    (void)fraction, (void)note, (void)context;
}

static void hear_report(vow_value error, void *context) {
    (void)error, (void)context;
}

static vow_promise *link_with_token(void) {
    vow_reaction reaction = {.size = sizeof reaction,
                             .on_fulfilled = add_one,
                             .token = vow_cancel_source_token(all.source),
                             .executor = vow_executor_inline()};
    return vow_then_with(vow_promise_retain(all.promise), &reaction);
}

static void link_and_cancel(void) {
    vow_promise *link = link_with_token();
    vow_cancel(link);
    vow_promise_release(link);
}

static void link_once(void) {
    vow_promise_release(link_with_token());
}

static void register_and_leave(void) {
    vow_registration *registration;
    vow_token *token = vow_cancel_source_token(all.source);
    CHECK_INT_EQ(vow_token_register(token, hear_nothing, NULL, NULL, &registration), 0);
    vow_registration_leave(registration);
    vow_registration_release(registration);
}

static void register_with_resolver(void) {
    vow_registration *registration;
    CHECK_INT_EQ(vow_resolver_register(all.resolver, hear_nothing, NULL, NULL, &registration), 0);
    vow_registration_leave(registration);
    vow_registration_release(registration);
}

static void register_once(void) {
    vow_token *token = vow_cancel_source_token(all.source);
    CHECK_INT_EQ(vow_token_on_cancel(token, hear_nothing, NULL, NULL), 0);
}

static void add_member(void) {
    vow_resolver *resolver;
    vow_promise *member = vow_promise_create(&resolver);
    CHECK_INT_EQ(vow_scope_add(all.scope, member), 0);
    vow_resolve(resolver, vow_int(1));
    vow_resolver_release(resolver);
}

static void report_progress(void) {
    vow_resolver_set_progress(all.resolver, 0.5, "half");
}

static void listen(void) {
    vow_call call = {.size = sizeof call,
                     .executor = vow_executor_inline(),
                     .token = vow_cancel_source_token(all.source)};
    CHECK_INT_EQ(vow_on_progress_with(all.promise, 0, hear_progress, &call), 0);
}

static void listen_briefly(void) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_call call = {.size = sizeof call, .executor = vow_executor_inline()};
    CHECK_INT_EQ(vow_on_progress_with(promise, 0, hear_progress, &call), 0);
    vow_resolver_set_progress(resolver, 0.5, NULL);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    report_progress();
}

static void link_sources(void) {
    vow_token *token = vow_cancel_source_token(all.source);
    vow_cancel_source_release(vow_cancel_source_create_linked(&token, 1));
}

static void limit_briefly(void) {
    vow_promise *limited = vow_timeout(vow_promise_retain(all.promise), LONG_ENOUGH);
    vow_cancel(limited);
    vow_promise_release(limited);
}

static void shield_briefly(void) {
    vow_promise_release(vow_shield(vow_promise_retain(all.promise)));
}

static void work_serially(void) {
    vow_promise *work = vow_async(all.serial, add_one, NULL);
    vow_await(work, LONG_ENOUGH, NULL);
    vow_promise_release(work);
}

static void set_hook(void) {
    CHECK_INT_EQ(vow_on_unhandled_with(hear_report, NULL, hear_nothing), 0);
}

static void cancel_source(void) {
    vow_cancel_source_cancel(all.source);
}

static void release_source(void) {
    vow_cancel_source_release(all.source);
}

static void cancel_scope(void) {
    vow_scope_cancel(all.scope);
}

static void close_scope(void) {
    vow_promise_release(vow_scope_close(all.scope));
}

static void cancel_promise(void) {
    vow_cancel(all.promise);
}

static void resolve_promise(void) {
    vow_resolve(all.resolver, vow_int(1));
}

static void work_in_child(void) {
    vow_promise_release(vow_async(all.serial, add_one, NULL));
}

static const struct {
    const char *name;
    void (*busy)(void);
    void (*child)(void);
} pairs[] = {
    {"links with a token, cancel the source", link_and_cancel, cancel_source},
    {"links with a token, link with it", link_and_cancel, link_once},
    {"links with a token, release the source", link_and_cancel, release_source},
    {"links, resolve", link_and_cancel, resolve_promise},
    {"registrations, cancel the source", register_and_leave, cancel_source},
    {"registrations, register", register_and_leave, register_once},
    {"registrations with a resolver, cancel", register_with_resolver, cancel_promise},
    {"members, cancel the scope", add_member, cancel_scope},
    {"members, close the scope", add_member, close_scope},
    {"listeners, report", listen_briefly, report_progress},
    {"reports, listen", report_progress, listen},
    {"linked sources, cancel the source", link_sources, cancel_source},
    {"time-outs, cancel", limit_briefly, cancel_promise},
    {"shields, cancel", shield_briefly, cancel_promise},
    {"serial work, more of it", work_serially, work_in_child},
    {"hooks of unhandled rejections, another one", set_hook, set_hook},
};

static void *keep_busy(void *context) {
    void (*busy)(void) = pairs[*(size_t *)context].busy;
    while (!atomic_load(&stop)) {
        busy();
        atomic_fetch_add(&rounds, 1);
    }
    return NULL;
}

static bool child_ends(size_t pair) {
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_LIMIT);
        pairs[pair].child();
        _exit(0);
    }
    return CHECK(child > 0 && waitpid(child, &status, 0) == child) && CHECK_INT_EQ(status, 0);
}

static void play(size_t pair, int forks) {
    pthread_t threads[THREADS];
    all = (inherited){.source = vow_cancel_source_create(),
                      .scope = vow_scope_create(),
                      .serial = vow_executor_serial("inherited")};
    all.promise = vow_promise_create(&all.resolver);
    atomic_store(&stop, false);
    for (int i = 0; i < THREADS; i++) {
        threads[i] = start_thread(keep_busy, &pair);
    }
    bool goes_on = true;
    for (int i = 0; i < forks && goes_on; i++) {
        long long before = atomic_load(&rounds);
        goes_on = child_ends(pair);
        while (goes_on && atomic_load(&rounds) < before + THREADS) {
            sched_yield();
        }
    }
    if (!goes_on) {
        printf("# the parent's threads, and the child: %s\n", pairs[pair].name);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    vow_on_unhandled(NULL, NULL);
    vow_promise_release(vow_scope_close(all.scope));
    vow_cancel_source_release(all.source);
    vow_resolver_release(all.resolver);
    vow_promise_release(all.promise);
    vow_executor_release(all.serial);
}

TEST("a child that inherits what another thread is using makes its call, and ends") {
    int forks = many_of(25, 500);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        play(i, forks);
    }
}
