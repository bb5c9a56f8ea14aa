/* stream.h: a non-blocking socket that dispatch sources drive; no thread ever waits for it. */
#ifndef DEMO_STREAM_H
#define DEMO_STREAM_H

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

/* A stream on a connected non-blocking socket (consumed). queue must be serial; it is retained.
 * NULL when out of memory: then the socket is left to the caller and nothing is called. To be
 * called on the queue, as the functions below. */
struct stream *stream_open(int fd, dispatch_queue_t queue, const struct stream_events *events,
                           void *context);

/* Sends bytes that malloc gave (consumed), as soon as the socket takes them. Once per stream. */
void stream_send(struct stream *stream, char *bytes, size_t count);

/* Tells the other side that nothing more comes. */
void stream_finish(struct stream *stream);

/* No event but `closed` will come any more. A second call does nothing. */
void stream_close(struct stream *stream);

#endif
