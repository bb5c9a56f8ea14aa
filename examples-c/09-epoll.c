/* 09-epoll.c: a loop among the descriptors of an epoll set; work on the pool, answers on the loop.
 */
#define _POSIX_C_SOURCE 200809L
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"

/* ---------------------------------------------------------------- The server
 *
 * Code that reads its socket when epoll says so. A question is a number. Finding the answer takes a
 * while, so it is done on the pool and only sent from here. */

/* On the pool: the smallest divisor. */
static vow_value divide(vow_value number, void *context) {
    int64_t divisor = 2;
    (void)context;
    while (divisor * divisor <= number.as.integer && number.as.integer % divisor != 0) {
        divisor++;
    }
    return vow_int(number.as.integer % divisor == 0 ? divisor : number.as.integer);
}

/* Back on the loop, whose thread alone touches the socket. */
static vow_value send_answer(vow_value divisor, void *context) {
    const int *server = context;
    if (send(*server, &divisor.as.integer, sizeof divisor.as.integer, MSG_NOSIGNAL) < 0) {
        return vow_error("server", 1, "nobody takes the answer");
    }
    return vow_none();
}

/* False at the end of the connection. */
static bool on_question(int *server) {
    int64_t number;
    if (recv(*server, &number, sizeof number, 0) != (ssize_t)sizeof number) {
        return false;
    }
    vow_reaction dividing = {.size = sizeof dividing};
    dividing.on_fulfilled = divide;
    dividing.executor = vow_executor_pool();
    vow_promise *divisor = vow_then_with(vow_promise_with(vow_int(number)), &dividing);
    vow_promise_release(vow_then(divisor, send_answer, server)); /* no executor: on the loop */
    return true;
}

/* ---------------------------------------------------------------- The client
 *
 * Asks with promises: its socket is no business of the epoll set, for vow_fd_ready has the loop
 * watch it. */

struct question {
    int client;
    int64_t number;
};

static vow_value read_answer(vow_value events, void *context) {
    const struct question *question = context;
    int64_t divisor;
    (void)events;
    if (recv(question->client, &divisor, sizeof divisor, 0) != (ssize_t)sizeof divisor) {
        return vow_error("client", 1, "no answer");
    }
    printf("%" PRId64 " = %" PRId64 " * %" PRId64 "\n", question->number, divisor,
           question->number / divisor);
    return vow_none();
}

static vow_value ask(vow_value input, void *context) {
    struct question *question = context;
    (void)input;
    if (send(question->client, &question->number, sizeof question->number, MSG_NOSIGNAL) < 0) {
        return vow_error("client", 2, "nobody takes the question");
    }
    vow_promise *ready = vow_fd_ready(question->client, VOW_READ);
    return vow_from_promise(vow_then(ready, read_answer, question));
}

static vow_value hang_up(vow_value outcome, void *context) {
    const struct question *question = context;
    (void)outcome;
    close(question->client);
    return vow_none();
}

/* ---------------------------------------------------------------- The program's loop */

static void watch(int set, int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data = {.fd = fd}};
    epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
}

int main(void) {
    int ends[2];
    int set = epoll_create1(EPOLL_CLOEXEC);
    vow_loop *loop = vow_loop_create();
    if (loop == NULL || set < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) {
        return 1;
    }
    int server = ends[0];
    watch(set, server);
    watch(set, vow_loop_fd(loop));

    struct question questions[] = {{ends[1], 91}, {ends[1], 1000003}, {ends[1], 65536}};
    vow_promise *chain = vow_promise_with(vow_none());
    for (int i = 0; i < 3; i++) {
        chain = vow_then(chain, ask, &questions[i]);
    }
    chain = vow_finally(chain, hang_up, &questions[0]);

    bool connected = true;
    while (connected) {
        struct epoll_event events[8];
        int count = epoll_wait(set, events, 8, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == server) {
                connected = on_question(&server);
            } else {
                vow_loop_run_once(loop, 0);
            }
        }
    }

    show_result("the client", chain);
    close(server);
    close(set);
    vow_loop_destroy(loop);
    return nothing_left();
}
