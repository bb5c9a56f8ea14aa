/* The file of a trace: one that is new, that only its owner can read, and that no other process
 * writes. */
#ifndef VOW_TRACE_FILE_H
#define VOW_TRACE_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Of each of the two texts of vow_platform_create_trace. */
#define VOW_TRACE_PATH_SIZE 4160

/* Opens what `path` names, in which "%p" stands for the process's number, for writing that never
 * blocks but for a disk. A file is made anew, for its owner only; a pipe, a terminal or a device is
 * written as it is. Where another process, or this one before it became this program
 * (is_inherited: the environment gave it the path), has written the file and lives, "path.PID" is
 * taken in its place, or "path.PID.2" and so on, and *is_other is 1. `name` (VOW_TRACE_PATH_SIZE
 * bytes, as `scratch`) gets the name that was taken. -1 and errno: ENXIO is a pipe that nobody
 * reads, EACCES also a link or pipe that somebody else has put into a sticky folder, EBUSY one of
 * the program's standard streams. Not a point of cancellation.
 */
__attribute__((visibility("hidden"))) int vow_platform_create_trace(const char *path,
                                                                    int is_inherited, char *name,
                                                                    char *scratch, int *is_other);

/* Takes a file that was just made, and in which nothing stands, away again; a pipe or a device
 * stays. Closes it, and keeps errno. */
__attribute__((visibility("hidden"))) void vow_platform_discard_trace(int file, const char *name);

/* When the process began, in the system's ticks since it was started itself; 0: not known. Together
 * with its number, no other one has that. */
__attribute__((visibility("hidden"))) int64_t vow_platform_process_start(void);

#endif
