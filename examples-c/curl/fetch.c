/* fetch.c: curl says which sockets and which moment it waits for; vow_fd_ready and vow_delay wait.
 *
 * Nothing else is needed: no select, no thread, no look at what has not changed. Everything happens
 * on the loop's thread, so there is no lock either. */
#include "fetch.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    CURLM *multi;
    vow_promise *timer; /* NULL: curl waits for no moment */
    size_t running;
} all;

static void tell_curl(curl_socket_t fd, int events);

/* Ends a wait, if there is one. */
static void stop(vow_promise **waiting) {
    if (*waiting != NULL) {
        vow_cancel(*waiting); /* its handler will never run */
        vow_promise_release(*waiting);
        *waiting = NULL;
    }
}

/* ---------------------------------------------------------------- Sockets */

/* One for each socket that curl waits for; curl keeps it with the socket. */
struct watch {
    curl_socket_t fd;
    uint32_t events;
    vow_promise *waiting;
};

static vow_value on_ready(vow_value ready, void *context);

static void wait_for_socket(struct watch *watch) {
    watch->waiting = vow_then(vow_fd_ready(watch->fd, watch->events), on_ready, watch);
}

static vow_value on_ready(vow_value ready, void *context) {
    struct watch *watch = context;
    curl_socket_t fd = watch->fd;
    int events = 0;
    if ((ready.as.integer & VOW_READ) != 0) {
        events |= CURL_CSELECT_IN;
    }
    if ((ready.as.integer & VOW_WRITE) != 0) {
        events |= CURL_CSELECT_OUT;
    }
    /* vow_fd_ready is for once. The next wait begins before curl is told, for curl may end it and
     * free the watch. */
    vow_promise_release(watch->waiting);
    wait_for_socket(watch);
    tell_curl(fd, events);
    return vow_none();
}

/* curl calls this when it begins to wait for a socket, waits for something else, or stops. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *socket_data) {
    struct watch *watch = socket_data;
    (void)easy, (void)context;
    if (what == CURL_POLL_REMOVE) {
        if (watch != NULL) {
            stop(&watch->waiting); /* before curl closes the socket */
            free(watch);
        }
        return 0;
    }
    if (watch == NULL) {
        watch = calloc(1, sizeof *watch);
        if (watch == NULL) {
            return -1;
        }
        watch->fd = fd;
        curl_multi_assign(all.multi, fd, watch);
    }
    watch->events =
        ((what & CURL_POLL_IN) != 0 ? VOW_READ : 0) | ((what & CURL_POLL_OUT) != 0 ? VOW_WRITE : 0);
    stop(&watch->waiting);
    wait_for_socket(watch);
    return 0;
}

/* ---------------------------------------------------------------- Time */

static vow_value on_time(vow_value input, void *context) {
    (void)input, (void)context;
    vow_promise_release(all.timer);
    all.timer = NULL;
    tell_curl(CURL_SOCKET_TIMEOUT, 0);
    return vow_none();
}

/* curl calls this when there is another moment that it waits for, or none (-1). */
static int on_timer(CURLM *multi, long ms, void *context) {
    (void)multi, (void)context;
    stop(&all.timer);
    if (ms >= 0) {
        all.timer = vow_then(vow_delay(ms * VOW_MS), on_time, NULL);
    }
    return 0;
}

/* ---------------------------------------------------------------- Transfers */

struct transfer {
    CURL *easy;
    vow_resolver *resolver;
    char *body;
    size_t length;
    char problem[CURL_ERROR_SIZE];
};

static size_t on_data(char *bytes, size_t size, size_t count, void *context) {
    struct transfer *transfer = context;
    char *body = realloc(transfer->body, transfer->length + size * count);
    if (body == NULL) {
        return 0; /* the transfer fails */
    }
    memcpy(body + transfer->length, bytes, size * count);
    transfer->body = body;
    transfer->length += size * count;
    return size * count;
}

static void take_off(struct transfer *transfer) {
    curl_multi_remove_handle(all.multi, transfer->easy);
    all.running--;
}

/* Runs once in any case, after the promise was settled or on_unwanted has run. */
static void free_transfer(void *context) {
    struct transfer *transfer = context;
    curl_easy_cleanup(transfer->easy);
    free(transfer->body);
    free(transfer);
}

/* Cancelled, or nobody is left to read the answer. */
static void on_unwanted(void *context) {
    struct transfer *transfer = context;
    take_off(transfer);
    vow_resolver_release(transfer->resolver);
}

static vow_value outcome_of(const struct transfer *transfer, CURLcode result) {
    long status = 0;
    if (result != CURLE_OK) {
        const char *problem = transfer->problem;
        return vow_error(FETCH_CURL, result, *problem ? problem : curl_easy_strerror(result));
    }
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    vow_value body = vow_string(transfer->body, transfer->length);
    if (status >= 400) {
        char text[32];
        snprintf(text, sizeof text, "status %ld", status);
        return vow_error_wrap(FETCH_HTTP, status, text, body);
    }
    return body;
}

static void finish(CURL *easy, CURLcode result) {
    char *pointer = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &pointer);
    struct transfer *transfer = (void *)pointer;
    vow_resolver *resolver = transfer->resolver;
    vow_value outcome = outcome_of(transfer, result);
    take_off(transfer);
    vow_resolve(resolver, outcome); /* an error rejects; the transfer may be freed by now */
    vow_resolver_release(resolver);
}

static void tell_curl(curl_socket_t fd, int events) {
    int running, left;
    CURLMsg *message;
    curl_multi_socket_action(all.multi, fd, events, &running);
    while ((message = curl_multi_info_read(all.multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            finish(message->easy_handle, message->data.result);
        }
    }
}

static struct transfer *new_transfer(const char *url, vow_resolver *resolver) {
    struct transfer *transfer = calloc(1, sizeof *transfer);
    CURL *easy = transfer == NULL ? NULL : curl_easy_init();
    if (easy == NULL || curl_easy_setopt(easy, CURLOPT_URL, url) != CURLE_OK) {
        curl_easy_cleanup(easy);
        free(transfer);
        return NULL;
    }
    transfer->easy = easy;
    transfer->resolver = resolver;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->problem);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, ""); /* whatever the environment says */
    return transfer;
}

vow_promise *fetch(const char *url) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    struct transfer *transfer = new_transfer(url, resolver);
    if (transfer == NULL ||
        vow_resolver_on_cancel(resolver, on_unwanted, transfer, free_transfer) != 0 ||
        vow_promise_state(promise) != VOW_PENDING || /* no memory for it: the transfer is freed */
        curl_multi_add_handle(all.multi, transfer->easy) != CURLM_OK) {
        vow_reject(resolver, vow_error("vow", VOW_ENOMEM, "no memory for a transfer"));
        vow_resolver_release(resolver);
        return promise;
    }
    all.running++;
    return promise;
}

size_t fetch_running(void) {
    return all.running;
}

bool fetch_begin(void) {
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return false;
    }
    all.multi = curl_multi_init();
    curl_multi_setopt(all.multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(all.multi, CURLMOPT_TIMERFUNCTION, on_timer);
    return all.multi != NULL;
}

void fetch_end(void) {
    curl_multi_cleanup(all.multi);
    stop(&all.timer);
    curl_global_cleanup();
    all.multi = NULL;
}
