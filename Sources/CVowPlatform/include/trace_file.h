/* The file of a trace: one that is new, that only its owner can read, and that no other process
 * writes. */
#ifndef VOW_TRACE_FILE_H
#define VOW_TRACE_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Opens what `path` names, in which "%p" stands for the process's number, for writing that never
 * blocks but for a disk. A file is made anew, for its owner only; a pipe, a terminal or a device is
 * written as it is. Where another process, or this one before it became this program
 * (is_inherited: the environment gave it the path), has written the file and lives, "path.PID" is
 * taken in its place, and *is_other is 1. -1 and errno: ENXIO is a pipe that nobody reads, EACCES
 * also a link or pipe that somebody else has put into a sticky folder, EBUSY one of the program's
 * standard streams, or a pipe that another process writes. One thread at a time calls it. Not a
 * point of cancellation. */
__attribute__((visibility("hidden"))) int
vow_platform_create_trace(const char *path, int is_inherited, int *is_other);

/* The name of the file that was opened last. */
__attribute__((visibility("hidden"))) const char *vow_platform_trace_name(void);

/* Takes that file, in which nothing stands yet, away again; a pipe or a device stays. Closes it. */
__attribute__((visibility("hidden"))) void vow_platform_discard_trace(int file);

/* When the process began, in the system's ticks since it was started itself; 0: not known. Together
 * with its number, no other one has that. */
__attribute__((visibility("hidden"))) int64_t vow_platform_process_start(void);

#endif
