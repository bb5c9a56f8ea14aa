/* stream.h: a non-blocking socket that dispatch sources drive; no thread ever waits for it. */
#ifndef DEMO_STREAM_H
#define DEMO_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "../gcd.h"

/* What a stream tells its owner, always on the stream's queue. After `data`, `sent` or `ended` the
 * owner may close the stream; the last call is always `closed`. */
struct stream_events {
    void (*data)(void *context, const char *bytes, size_t count); /* borrowed bytes arrived */
    void (*sent)(void *context);             /* all that stream_send was given has left */
    void (*ended)(void *context, int error); /* the other side closed (0), or an errno */
    void (*closed)(void *context);           /* the descriptor is closed, the stream is gone */
};

struct stream;

/* A stream on a non-blocking socket (consumed), which is connected or, if `connecting`, about to
 * be. queue must be serial; it is retained. NULL when out of memory: then the socket is left to the
 * caller and nothing is called. To be called on the queue, as the functions below. */
struct stream *stream_open(int fd, bool connecting, dispatch_queue_t queue,
                           const struct stream_events *events, void *context);

/* Sends bytes that malloc gave (consumed), as soon as the socket takes them. Once per stream. */
void stream_send(struct stream *stream, char *bytes, size_t count);

/* Tells the other side that nothing more comes. */
void stream_finish(struct stream *stream);

/* No event but `closed` will come any more. A second call does nothing. */
void stream_close(struct stream *stream);

/* Begins to connect to a port of 127.0.0.1. Returns 0, with a socket (owned) and whether it is
 * still connecting; or an errno. */
int stream_connect(unsigned port, int *fd, bool *connecting);

/* Makes a descriptor non-blocking and private to this process. Returns 0 or an errno. */
int stream_prepare(int fd);

#endif
