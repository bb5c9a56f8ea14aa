/* Writing to descriptors that may be anything: a pipe whose reader has gone, a file that may not
 * grow. No signal comes of it, and none of it is a point where a thread is cancelled. */
#ifndef VOW_WRITING_H
#define VOW_WRITING_H

#include <errno.h>
#include <stddef.h>

/* Writes all, as fast as the descriptor takes it. False and errno if it cannot. */
__attribute__((visibility("hidden"))) int vow_platform_write(int fd, const void *bytes,
                                                             size_t count);

/* Writes as much as a non-blocking descriptor takes now, and returns the number of bytes. *error:
 * 0; EAGAIN: it takes no more now; else the reason why it never will. */
__attribute__((visibility("hidden"))) size_t vow_platform_write_some(int fd, const void *bytes,
                                                                     size_t count, int *error);

/* Whether a line can be written without waiting, in so many milliseconds at most. */
__attribute__((visibility("hidden"))) int vow_platform_takes_line(int fd, int milliseconds);

/* errno, which Swift cannot name. */
static inline int vow_platform_error(void) {
    return errno;
}

static inline void vow_platform_set_error(int error) {
    errno = error;
}

/* The text of an errno, with a NUL. */
__attribute__((visibility("hidden"))) void vow_platform_describe_error(int error, char *buffer,
                                                                       size_t size);

#endif
