/* rounds.c: 200 queries over 8 connections, of which 30 run out of time, at random, again and
 * again.
 *
 *   rounds WHERE [ROUNDS [SEED]]       WHERE: a server, as libpq has it; 10 rounds
 *
 * Nothing may be left of what runs out of time: not a connection, not a row, no transaction on the
 * server. Each query of these would take a minute, so they do, whatever the machine. Some are
 * still waiting for a connection then, some are being asked, some are in the middle of a
 * transaction. */
#include <signal.h>
#include <string.h>
#include <time.h>

#include "../common.h"
#include "pool.h"
#include "query.h"
#include "transaction.h"

#define CONNECTIONS 8
#define QUERIES 200
#define SLOW 30

#define MAKE_TABLE "drop table if exists entries; create table entries (number int)"
#define OURS "from pg_stat_activity where application_name = 'vow-rounds'"

/* ---------------------------------------------------------------- One round */

enum kind {
    QUICK,            /* select, and look at the answer */
    ENTRY,            /* a transaction that is committed */
    SLOW_QUERY,       /* its limit is the query's */
    SLOW_CONNECTION,  /* of all of it, also of the time in line */
    SLOW_TRANSACTION, /* the same, with a row that must go */
};

struct item {
    struct rounds *rounds;
    enum kind kind;
    int number;
};

struct rounds {
    struct pool *pool;
    unsigned rounds, round, seed;
    unsigned settled, right, out_of_time, entries;
    vow_value trouble; /* the first other error of a round, after which there is no other one */
    struct item items[QUERIES];
};

/* Not rand, whose numbers differ from system to system. */
static unsigned random_below(struct rounds *rounds, unsigned limit) {
    rounds->seed = rounds->seed * 1664525u + 1013904223u;
    return (rounds->seed >> 16) % limit;
}

static int64_t soon(struct rounds *rounds) {
    return random_below(rounds, 10000) * VOW_US;
}

/* 30 slow ones, 20 entries and 150 quick ones, shuffled. */
static void deal(struct rounds *rounds) {
    for (int i = 0; i < QUERIES; i++) {
        struct item *item = &rounds->items[i];
        item->rounds = rounds;
        item->number = i;
        item->kind = i < SLOW ? SLOW_QUERY + i % 3 : i < SLOW + 20 ? ENTRY : QUICK;
    }
    for (unsigned i = QUERIES - 1; i > 0; i--) {
        unsigned other = random_below(rounds, i + 1);
        enum kind kind = rounds->items[i].kind;
        rounds->items[i].kind = rounds->items[other].kind;
        rounds->items[other].kind = kind;
    }
}

/* ---------------------------------------------------------------- One query */

static vow_value enter_slowly(vow_value answer, void *context) {
    (void)answer;
    return vow_from_promise(query(context, "select pg_sleep(60)", VOW_FOREVER));
}

/* Inside a transaction. */
static vow_value enter(vow_value value, void *context) {
    const struct item *item = context;
    struct connection *connection = connection_of(value);
    char sql[64];
    snprintf(sql, sizeof sql, "insert into entries values (%d)", item->number);
    vow_promise *entered = query(connection, sql, VOW_FOREVER);
    return vow_from_promise(
        item->kind == SLOW_TRANSACTION ? vow_then(entered, enter_slowly, connection) : entered);
}

static vow_value use(vow_value value, void *context) {
    const struct item *item = context;
    struct connection *connection = connection_of(value);
    char sql[64];
    switch (item->kind) {
    case QUICK:
        snprintf(sql, sizeof sql, "select %d + 1", item->number);
        return vow_from_promise(query(connection, sql, VOW_FOREVER));
    case ENTRY:
    case SLOW_TRANSACTION:
        return vow_from_promise(transaction(connection, enter, context, NULL));
    case SLOW_QUERY:
        return vow_from_promise(query(connection, "select pg_sleep(60)", soon(item->rounds)));
    default:
        return vow_from_promise(query(connection, "select pg_sleep(60)", VOW_FOREVER));
    }
}

static vow_value count_answer(vow_value answer, void *context) {
    const struct item *item = context;
    struct rounds *rounds = item->rounds;
    rounds->settled++;
    rounds->entries += item->kind == ENTRY;
    rounds->right +=
        item->kind == ENTRY || (item->kind == QUICK && query_number(answer) == item->number + 1);
    return vow_none();
}

static vow_value count_error(vow_value error, void *context) {
    const struct item *item = context;
    struct rounds *rounds = item->rounds;
    const char *domain = vow_error_domain(error);
    rounds->settled++;
    if (strcmp(domain, "vow") == 0 && vow_error_code(error) == VOW_ETIMEDOUT) {
        rounds->out_of_time++;
    } else if (rounds->trouble.kind == VOW_NONE) {
        rounds->trouble = vow_value_retain(error);
    }
    return vow_none();
}

static vow_promise *begin(struct item *item) {
    vow_reaction counted = {.size = sizeof counted};
    vow_promise *answer = pool_use(item->rounds->pool, use, item, NULL);
    if (item->kind == SLOW_CONNECTION || item->kind == SLOW_TRANSACTION) {
        answer = vow_timeout(answer, soon(item->rounds));
    }
    counted.on_fulfilled = count_answer;
    counted.on_rejected = count_error;
    counted.context = item;
    return vow_then_with(answer, &counted);
}

/* ---------------------------------------------------------------- All rounds */

static bool goes_on(vow_value state, void *context) {
    const struct rounds *rounds = context;
    (void)state;
    return rounds->round < rounds->rounds && rounds->trouble.kind == VOW_NONE;
}

static vow_value next_round(vow_value state, void *context) {
    struct rounds *rounds = context;
    vow_promise *all[QUERIES];
    (void)state;
    /* For whoever wants to kill the server in the middle. */
    fprintf(stderr, "round %u\n", ++rounds->round);
    deal(rounds);
    for (int i = 0; i < QUERIES; i++) {
        all[i] = begin(&rounds->items[i]);
    }
    return vow_from_promise(vow_all_settled(all, QUERIES));
}

static vow_value ask(vow_value connection, void *context) {
    return vow_from_promise(query(connection_of(connection), context, VOW_FOREVER));
}

/* What the server says to a question about numbers; -1: nothing. */
static long ask_number(struct pool *pool, const char *sql) {
    vow_value answer = wait_for(pool_use(pool, ask, (void *)sql, NULL));
    long number = query_number(answer);
    vow_value_release(answer);
    return number;
}

static bool run(struct rounds *rounds) {
    struct pool *pool = rounds->pool;
    vow_value all = wait_for(pool_open(pool));
    if (all.kind == VOW_ERROR) {
        rounds->trouble = all;
        return false;
    }
    vow_value_release(all);
    ask_number(pool, MAKE_TABLE);
    vow_value_release(wait_for(vow_repeat(vow_none(), goes_on, next_round, rounds)));
    printf("settled, of %d in a round: %g\n", QUERIES, rounds->settled / (double)rounds->round);
    if (rounds->trouble.kind != VOW_NONE) {
        return false;
    }
    printf("right answers, of %d in a round: %g\n", QUERIES - SLOW,
           rounds->right / (double)rounds->round);
    printf("out of time, of %d in a round: %g\n", SLOW,
           rounds->out_of_time / (double)rounds->round);
    printf("rows that are not of committed transactions: %ld\n",
           ask_number(pool, "select count(*) from entries") - (long)rounds->entries);
    printf("connections that the server has: %ld\n", ask_number(pool, "select count(*) " OURS));
    printf("idle in transaction: %ld\n",
           ask_number(pool, "select count(*) " OURS " and state like 'idle in transaction%'"));
    return true;
}

int main(int count, char **arguments) {
    static struct rounds rounds = {.rounds = 10};
    char where[512];
    signal(SIGPIPE, SIG_IGN); /* as query.h asks for */
    vow_loop *loop = vow_loop_create();
    if (loop == NULL || count < 2 || count > 4) {
        fprintf(stderr, "usage: rounds WHERE [ROUNDS [SEED]]\n");
        return 2;
    }
    rounds.rounds = count > 2 ? (unsigned)atoi(arguments[2]) : 10;
    rounds.seed = count > 3 ? (unsigned)atoi(arguments[3]) : (unsigned)time(NULL);
    fprintf(stderr, "seed %u\n", rounds.seed);
    snprintf(where, sizeof where, "%s application_name=vow-rounds", arguments[1]);
    rounds.pool = pool_create(where, CONNECTIONS);
    if (rounds.pool == NULL) {
        return 1;
    }
    bool well = run(&rounds);
    if (!well) {
        show("the rounds ended early", rounds.trouble);
        vow_value_release(rounds.trouble);
    }
    show_result("connections that came home", pool_close(rounds.pool));
    vow_loop_destroy(loop);
    return nothing_left() != 0 || !well;
}
