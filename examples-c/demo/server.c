/* server.c: accepts connections, reads one request from each and sends the answer.
 *
 * One serial queue does everything, so nothing needs a lock. The server lives until its listening
 * socket and all its visits are gone: each holds one reference. */
#define _POSIX_C_SOURCE 200809L
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "socket.h"
#include "stream.h"

struct server {
    int fd;
    unsigned port;
    int references;
    enum fault fault;
    dispatch_queue_t queue;
    dispatch_source_t listener; /* NULL: it does not listen */
    struct visit *visits;
    struct sessions sessions;
    vow_resolver *stopped; /* set when it is to stop */
};

/* One connection. */
struct visit {
    struct server *server;
    struct visit *next, **link; /* the list of all; *link is what points here */
    struct stream *stream;
    struct http_message request;
    bool answered; /* or known to get no answer */
};

static void drop_server(struct server *server) {
    server->references--;
    if (server->references == 0) {
        vow_resolver *stopped = server->stopped;
        sessions_end(&server->sessions);
        dispatch_release(server->queue);
        free(server);
        vow_resolve(stopped, vow_none());
        vow_resolver_release(stopped);
    }
}

static void on_data(void *context, const char *bytes, size_t count) {
    struct visit *visit = context;
    if (visit->answered) {
        return;
    }
    enum http_progress progress = http_feed(&visit->request, bytes, count);
    size_t length = 0;
    char *answer = NULL;
    if (progress == HTTP_PARTIAL) {
        return;
    }
    visit->answered = true;
    if (progress == HTTP_COMPLETE) {
        struct server *server = visit->server;
        answer = routes_answer(&server->sessions, server->fault, &visit->request, &length);
    } else {
        answer = http_format("HTTP/1.1 400 Bad Request", "", "{}", &length);
    }
    if (answer != NULL) {
        stream_send(visit->stream, answer, length);
    } else if (visit->server->fault != FAULT_HANG) {
        stream_close(visit->stream);
    }
}

static void on_sent(void *context) {
    struct visit *visit = context;
    stream_finish(visit->stream);
    stream_close(visit->stream);
}

static void on_ended(void *context, int error) {
    struct visit *visit = context;
    (void)error;
    stream_close(visit->stream);
}

static void on_closed(void *context) {
    struct visit *visit = context;
    struct server *server = visit->server;
    *visit->link = visit->next;
    if (visit->next != NULL) {
        visit->next->link = visit->link;
    }
    http_end(&visit->request);
    free(visit);
    drop_server(server);
}

static const struct stream_events visit_events = {on_data, on_sent, on_ended, on_closed};

/* Takes the connected socket; closes it if there is no memory for it. */
static void welcome(struct server *server, int fd) {
    struct visit *visit = calloc(1, sizeof *visit);
    if (visit != NULL && socket_prepare(fd) == 0) {
        visit->stream = stream_open(fd, server->queue, &visit_events, visit);
    }
    if (visit == NULL || visit->stream == NULL) {
        free(visit);
        close(fd);
        return;
    }
    visit->server = server;
    http_begin(&visit->request, HTTP_REQUEST);
    visit->next = server->visits;
    visit->link = &server->visits;
    if (visit->next != NULL) {
        visit->next->link = &visit->next;
    }
    server->visits = visit;
    server->references++;
}

/* Takes what waits, but not without end: the other events are due too. */
static void on_connection(void *context) {
    struct server *server = context;
    for (int i = 0; i < 64; i++) {
        int fd = accept(server->fd, NULL, NULL);
        if (fd < 0) {
            return;
        }
        welcome(server, fd);
    }
}

static void on_listener_gone(void *context) {
    struct server *server = context;
    close(server->fd);
    drop_server(server);
}

/* A socket on a free port of the loopback interface. -1 and errno if there is none. */
static int open_port(unsigned *port) {
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0) {
        return -1;
    }
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int error = socket_prepare(fd);
    if (error == 0 && (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
                       getsockname(fd, (struct sockaddr *)&address, &size) < 0)) {
        error = errno;
    }
    if (error != 0) {
        close(fd);
        errno = error;
        return -1;
    }
    *port = ntohs(address.sin_port);
    return fd;
}

/* Begins to listen. With FAULT_REFUSE it does not, and whoever connects is refused. */
static int start_listening(struct server *server) {
    if (server->fault == FAULT_REFUSE) {
        return 0;
    }
    if (listen(server->fd, SOMAXCONN) < 0) {
        return errno;
    }
    server->listener =
        dispatch_source_create(DISPATCH_SOURCE_TYPE_READ, (uintptr_t)server->fd, 0, server->queue);
    if (server->listener == NULL) {
        return ENOMEM;
    }
    dispatch_set_context(server->listener, server);
    dispatch_source_set_event_handler_f(server->listener, on_connection);
    dispatch_source_set_cancel_handler_f(server->listener, on_listener_gone);
    dispatch_resume(server->listener);
    return 0;
}

struct server *server_start(enum fault fault, int *error) {
    struct server *server = calloc(1, sizeof *server);
    if (server == NULL) {
        *error = ENOMEM;
        return NULL;
    }
    server->fault = fault;
    server->references = 1; /* the listening socket's */
    server->fd = open_port(&server->port);
    *error = server->fd < 0 ? errno : 0;
    if (*error == 0) {
        server->queue = dispatch_queue_create("demo.server", DISPATCH_QUEUE_SERIAL);
        *error = server->queue == NULL ? ENOMEM : start_listening(server);
    }
    if (*error != 0) {
        if (server->queue != NULL) {
            dispatch_release(server->queue);
        }
        if (server->fd >= 0) {
            close(server->fd);
        }
        free(server);
        return NULL;
    }
    return server;
}

unsigned server_port(const struct server *server) {
    return server->port;
}

static void stop_now(void *context) {
    struct server *server = context;
    for (struct visit *visit = server->visits; visit != NULL; visit = visit->next) {
        stream_close(visit->stream); /* takes itself out of the list later */
    }
    if (server->listener == NULL) {
        on_listener_gone(server);
        return;
    }
    dispatch_source_cancel(server->listener);
    dispatch_release(server->listener);
}

vow_promise *server_stop(struct server *server) {
    vow_promise *promise = vow_promise_create(&server->stopped);
    dispatch_async_f(server->queue, server, stop_now);
    return promise;
}
