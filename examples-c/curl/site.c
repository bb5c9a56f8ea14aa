/* site.c: one thread around one poll(2): the listening socket, the connections, a pipe to stop it.
 */
#define _POSIX_C_SOURCE 200809L
#include "site.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS 64 /* more than that wait to be accepted */
#define ANSWER 8192

struct connection {
    int fd;
    char request[2048]; /* what has arrived of it */
    size_t length;
};

struct site {
    int listener, stop[2];
    unsigned port;
    pthread_t thread;
    site_answer answer;
    void *context;
    struct connection connections[CONNECTIONS];
    unsigned open;
    struct site_counts counts;
};

/* ---------------------------------------------------------------- Requests */

/* With half of the answer sent, the other side hears of an error instead of the rest. */
static bool reset(const struct connection *connection, const char *bytes, size_t length) {
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    send(connection->fd, bytes, length / 2, MSG_NOSIGNAL);
    setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    return false;
}

/* Answers "GET path HTTP/1.1". False: the connection is over. */
static bool serve(struct site *site, const struct connection *connection) {
    char path[256], body[ANSWER - 256] = "", answer[ANSWER];
    if (sscanf(connection->request, "GET %255s HTTP/1.1\r", path) != 1) {
        return false;
    }
    site->counts.requests++;
    int status = site->answer(path, body, sizeof body, site->context);
    if (status == SITE_HANG) {
        return true;
    }
    int length = snprintf(answer, sizeof answer,
                          "HTTP/1.1 %d %s\r\nContent-Length: %zu\r\n"
                          "Content-Type: text/plain\r\n\r\n%s",
                          status == SITE_RESET ? 200 : status, status == 200 ? "OK" : "Other",
                          strlen(body), body);
    if (status == SITE_RESET) {
        return reset(connection, answer, (size_t)length);
    }
    return send(connection->fd, answer, (size_t)length, MSG_NOSIGNAL) == length;
}

/* Reads what is there and answers it. False: the connection is over. */
static bool on_readable(struct site *site, struct connection *connection) {
    size_t room = sizeof connection->request - 1 - connection->length;
    ssize_t count = recv(connection->fd, connection->request + connection->length, room, 0);
    if (count <= 0) {
        return false; /* the other side has closed it, or sends too much */
    }
    connection->length += (size_t)count;
    connection->request[connection->length] = '\0';
    char *end = strstr(connection->request, "\r\n\r\n");
    if (end == NULL) {
        return true;
    }
    connection->length = 0; /* a client of HTTP/1.1 waits for the answer before it asks again */
    return serve(site, connection);
}

/* ---------------------------------------------------------------- Connections */

static void hang_up(struct site *site, unsigned i) {
    close(site->connections[i].fd);
    site->open--;
    site->connections[i] = site->connections[site->open];
}

static void welcome(struct site *site) {
    int fd = accept(site->listener, NULL, NULL);
    if (fd >= 0) {
        site->connections[site->open].fd = fd;
        site->connections[site->open].length = 0;
        site->open++;
        if (site->open > site->counts.peak) {
            site->counts.peak = site->open;
        }
    }
}

static void *run(void *context) {
    struct site *site = context;
    for (;;) {
        struct pollfd watched[2 + CONNECTIONS];
        bool busy = false;
        watched[0] = (struct pollfd){.fd = site->stop[0], .events = POLLIN};
        watched[1] = (struct pollfd){.fd = site->listener, .events = POLLIN};
        for (unsigned i = 0; i < site->open; i++) {
            watched[2 + i] = (struct pollfd){.fd = site->connections[i].fd, .events = POLLIN};
        }
        if (poll(watched, 2 + site->open, -1) < 0) {
            continue;
        }
        if (watched[0].revents != 0) {
            return NULL;
        }
        for (unsigned i = site->open; i-- > 0;) { /* the last one may take the place of this */
            if (watched[2 + i].revents != 0) {
                busy = true;
                if (!on_readable(site, &site->connections[i])) {
                    hang_up(site, i);
                }
            }
        }
        /* Only when nothing else was to be done, and one at a time: a client that closed one
         * connection before it opened this one is then not seen with both. */
        if (!busy && watched[1].revents != 0 && site->open < CONNECTIONS) {
            welcome(site);
        }
    }
}

/* ---------------------------------------------------------------- Start and stop */

static int listen_somewhere(unsigned *port) {
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) != 0 || listen(fd, SOMAXCONN) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        return -1;
    }
    *port = ntohs(address.sin_port);
    return fd;
}

struct site *site_start(site_answer answer, void *context) {
    struct site *site = calloc(1, sizeof *site);
    if (site == NULL) {
        return NULL;
    }
    site->answer = answer;
    site->context = context;
    site->listener = listen_somewhere(&site->port);
    if (site->listener < 0 || pipe(site->stop) != 0 ||
        pthread_create(&site->thread, NULL, run, site) != 0) {
        free(site); /* the program will end: the descriptors go with it */
        return NULL;
    }
    return site;
}

unsigned site_port(const struct site *site) {
    return site->port;
}

struct site_counts site_stop(struct site *site) {
    struct site_counts counts;
    close(site->stop[1]); /* the other end can be read now */
    pthread_join(site->thread, NULL);
    while (site->open > 0) {
        hang_up(site, 0);
    }
    close(site->stop[0]);
    close(site->listener);
    counts = site->counts;
    free(site);
    return counts;
}
