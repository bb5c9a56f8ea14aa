/* stream.c: one read source and, only while needed, one write source around one descriptor.
 *
 * libdispatch watches a descriptor until the source's cancel handler has run. So each source holds
 * one reference to the stream, which its cancel handler drops, and only the last one closes the
 * descriptor and frees. Everything happens on one serial queue: no field needs a lock. */
#define _POSIX_C_SOURCE 200809L
#include "stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct stream {
    int fd;
    int references; /* one for each source that is not cancelled through */
    bool closing;
    dispatch_queue_t queue;
    dispatch_source_t reader, writer; /* NULL: not there, or cancelled */
    char *out;                        /* what is to be sent, of which `sent` bytes are */
    size_t count, sent;
    const struct stream_events *events;
    void *context;
};

/* The cancel handler of both sources. */
static void on_source_gone(void *context) {
    struct stream *stream = context;
    stream->references--;
    if (stream->references == 0) {
        const struct stream_events *events = stream->events;
        void *owner = stream->context;
        close(stream->fd);
        dispatch_release(stream->queue);
        free(stream->out);
        free(stream);
        events->closed(owner);
    }
}

static dispatch_source_t make_source(struct stream *stream, dispatch_source_type_t type,
                                     dispatch_function_t fn) {
    dispatch_source_t source =
        dispatch_source_create(type, (uintptr_t)stream->fd, 0, stream->queue);
    if (source != NULL) {
        stream->references++;
        dispatch_set_context(source, stream);
        dispatch_source_set_event_handler_f(source, fn);
        dispatch_source_set_cancel_handler_f(source, on_source_gone);
        dispatch_resume(source);
    }
    return source;
}

/* A cancelled source lives on by itself until its cancel handler has run. */
static void drop_source(dispatch_source_t *source) {
    if (*source != NULL) {
        dispatch_source_cancel(*source);
        dispatch_release(*source);
        *source = NULL;
    }
}

static void on_readable(void *context) {
    struct stream *stream = context;
    char bytes[16384];
    if (stream->closing) {
        return;
    }
    ssize_t count = recv(stream->fd, bytes, sizeof bytes, 0);
    if (count > 0) {
        stream->events->data(stream->context, bytes, (size_t)count);
    } else if (count == 0) {
        stream->events->ended(stream->context, 0);
    } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
        stream->events->ended(stream->context, errno);
    }
}

static void on_writable(void *context);

static void send_more(struct stream *stream) {
    while (stream->sent < stream->count) {
        ssize_t count = send(stream->fd, stream->out + stream->sent, stream->count - stream->sent,
                             MSG_NOSIGNAL);
        if (count >= 0) {
            stream->sent += (size_t)count;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (stream->writer == NULL) {
                stream->writer = make_source(stream, DISPATCH_SOURCE_TYPE_WRITE, on_writable);
            }
            if (stream->writer == NULL) {
                stream->events->ended(stream->context, ENOMEM);
            }
            return;
        } else if (errno != EINTR) {
            drop_source(&stream->writer);
            stream->events->ended(stream->context, errno);
            return;
        }
    }
    drop_source(&stream->writer);
    stream->events->sent(stream->context);
}

static void on_writable(void *context) {
    struct stream *stream = context;
    if (stream->closing) {
        return;
    }
    send_more(stream);
}

struct stream *stream_open(int fd, dispatch_queue_t queue, const struct stream_events *events,
                           void *context) {
    struct stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL) {
        return NULL;
    }
    stream->fd = fd;
    stream->queue = queue;
    stream->events = events;
    stream->context = context;
    stream->reader = make_source(stream, DISPATCH_SOURCE_TYPE_READ, on_readable);
    if (stream->reader == NULL) {
        free(stream);
        return NULL;
    }
    dispatch_retain(queue);
    return stream;
}

void stream_send(struct stream *stream, char *bytes, size_t count) {
    stream->out = bytes;
    stream->count = count;
    send_more(stream);
}

void stream_finish(struct stream *stream) {
    shutdown(stream->fd, SHUT_WR);
}

void stream_close(struct stream *stream) {
    if (!stream->closing) {
        stream->closing = true;
        drop_source(&stream->reader);
        drop_source(&stream->writer);
    }
}
