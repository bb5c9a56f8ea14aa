/* The file of a trace: a new file, which only its owner can read, and no other process writes. */
#ifndef VOW_TRACE_FILE_H
#define VOW_TRACE_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Opens `path`, in which "%p" is the process's number, for writing that never blocks but for a
 * disk. A file is made anew, for its owner only; a pipe, a terminal or a device is written as it
 * is. If another process, or this one before it became this program (is_inherited: the environment
 * gave it the path), has written the file and lives, "path.PID" is taken in its place, and
 * *is_other is 1. Returns -1 and errno on failure: ENXIO is a pipe without a reader, EACCES also a
 * link or pipe of another user in a sticky folder, EBUSY one of the program's standard streams, or
 * a pipe that another process writes. One thread at a time calls it. Not a point of cancellation.
 * */
__attribute__((visibility("hidden"))) int
vow_platform_create_trace(const char *path, int is_inherited, int *is_other);

/* The name of the file that was opened last. */
__attribute__((visibility("hidden"))) const char *vow_platform_trace_name(void);

/* Closes that file, which is still empty, and takes it away; a pipe or a device stays. */
__attribute__((visibility("hidden"))) void vow_platform_discard_trace(int file);

/* The beginning of the process, in the system's ticks since its own start; 0: not known. Together
 * with the process's number it is unique. */
__attribute__((visibility("hidden"))) int64_t vow_platform_process_start(void);

#endif
