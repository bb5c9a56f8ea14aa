/* The choice of a trace's file, behind trace_file.h.
 *
 * The writer of a file has it locked (flock), until its process ends in any way. The first line of
 * the file names the process, so that a child that comes after the end of its parent's trace leaves
 * that file alone, too. A process takes the name from a file only while it has that file locked, so
 * of two that come at once one finds the other's lock. */
#define _GNU_SOURCE /* F_SETPIPE_SZ, realpath */
#include "trace_file.h"

#include "platform.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

enum { own_flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK, most_tries = 16 };

/* ------------------------------------------------------------------- processes */

/* The beginning of a process; 0: there is none, or it has ended and waits for its parent. */
static int64_t start_of(long process) {
    char path[40];
    char text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return 0;
    }
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0) {
        return 0;
    }
    text[length] = 0;
    /* "7 (name, which may be anything) S 1 ...": the state is the third field, this the 22nd. */
    const char *at = strrchr(text, ')');
    if (at == NULL || at[1] == 0 || at[2] == 'Z') {
        return 0;
    }
    for (int field = 2; at != NULL && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    return at != NULL ? strtoll(at, NULL, 10) : 0;
}

int64_t vow_platform_process_start(void) {
    int cancel = vow_platform_hold_cancel();
    int64_t start = start_of((long)getpid());
    vow_platform_let_cancel(cancel);
    return start;
}

static long long number_behind(const char *text, const char *key) {
    const char *at = strstr(text, key);
    return at != NULL ? strtoll(at + strlen(key), NULL, 10) : 0;
}

/* Whether the process that has written this trace goes on: then only that process may replace the
 * file. False for another kind of file, or a file that was written elsewhere. */
static int is_in_use(int file, int is_inherited) {
    char text[512];
    ssize_t length = pread(file, text, sizeof text - 1, 0);
    if (length <= 0) {
        return 0;
    }
    text[length] = 0;
    long process = (long)number_behind(text, "\"process\":");
    int64_t start = number_behind(text, "\"process_start\":");
    if (process <= 0 || (process == (long)getpid() && !is_inherited)) {
        return 0;
    }
    return start == 0 ? kill((pid_t)process, 0) == 0 || errno == EPERM : start_of(process) == start;
}

/* ----------------------------------------------------------------------- files */

static int is_same(const struct stat *one, const struct stat *other) {
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

/* False: another process has the file locked. Without locks no process has. */
static int lock_file(int file) {
    return flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

/* Whether the path still leads to this file: another process may have taken the name before the
 * lock. */
static int is_named(int file, const char *path) {
    struct stat here;
    struct stat there;
    return fstat(file, &here) == 0 && lstat(path, &there) == 0 && is_same(&here, &there);
}

static int is_standard_stream(const struct stat *what) {
    struct stat stream;
    for (int i = 0; i < 3; i++) {
        if (fstat(i, &stream) == 0 && is_same(&stream, what)) {
            return 1;
        }
    }
    return 0;
}

/* Whether another user has put this link or pipe into a folder where every user may, as /tmp: a
 * link could lead anywhere, and a pipe be read by him. (Most systems ask so themselves:
 * fs.protected_symlinks and its like.) */
static int is_planted(const char *path, const struct stat *what) {
    struct stat folder;
    char copy[PATH_MAX];
    strcpy(copy, path);
    return stat(dirname(copy), &folder) == 0 && (folder.st_mode & S_ISVTX) != 0 &&
           (folder.st_mode & S_IWOTH) != 0 && what->st_uid != geteuid() &&
           what->st_uid != folder.st_uid;
}

/* Closes a file, and sets errno to the reason. */
static int refuse(int file, int error) {
    close(file);
    errno = error;
    return -1;
}

/* Takes the name of a plain file away, so that it can be made anew; true also if another process
 * has done so. False and errno: EEXIST, another process's. */
static int remove_old(const char *path, int is_inherited) {
    struct stat status;
    int file = open(path, O_RDONLY | O_NOFOLLOW | own_flags);
    if (file < 0) {
        return errno == ENOENT || errno == ELOOP;
    }
    int error = 0;
    if (!lock_file(file)) {
        error = EEXIST;
    } else if (is_named(file, path) && fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
        if (is_standard_stream(&status)) {
            error = EBUSY;
        } else if (is_in_use(file, is_inherited)) {
            error = EEXIST;
        } else if (unlink(path) != 0) {
            error = errno;
        }
    }
    close(file);
    errno = error;
    return error == 0;
}

/* Opens a pipe, a terminal or a device, which is written as it is. */
static int open_other(const char *path) {
    struct stat status;
    int file = open(path, O_WRONLY | own_flags);
    if (file < 0 || fstat(file, &status) != 0) {
        return file;
    }
    if (S_ISREG(status.st_mode)) {
        /* Another process has just put a plain file there, which is not written but replaced. */
        return refuse(file, EEXIST);
    }
    if (S_ISFIFO(status.st_mode)) {
        if (!lock_file(file)) {
            return refuse(file, EBUSY);
        }
        /* Its reader may be late by so much; where that is not allowed, by less. */
        (void)fcntl(file, F_SETPIPE_SZ, 1 << 20);
    }
    return file;
}

/* -1 and errno, EEXIST: another process has that name. A link in `path` to a file is resolved. */
static int open_trace(char *path, int is_inherited) {
    struct stat link;
    struct stat found;
    char target[PATH_MAX];
    for (int tries = 0; tries < most_tries; tries++) {
        int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | own_flags, 0600);
        if (file >= 0) {
            if (lock_file(file) && is_named(file, path)) {
                /* The mask may have taken away the owner's rights. */
                (void)fchmod(file, 0600);
                return file;
            }
            close(file);
        } else if (errno != EEXIST) {
            return -1;
        } else if (lstat(path, &link) != 0) {
            /* Another process has just taken it away. */
            continue;
        } else if (S_ISREG(link.st_mode)) {
            if (!remove_old(path, is_inherited)) {
                return -1;
            }
        } else if (is_planted(path, &link)) {
            errno = EACCES;
            return -1;
        } else if (stat(path, &found) != 0) {
            return -1;
        } else if (!S_ISREG(found.st_mode)) {
            return open_other(path);
        } else if (is_standard_stream(&found)) {
            errno = EBUSY;
            return -1;
        } else if (realpath(path, target) == NULL) {
            return -1;
        } else {
            strcpy(path, target);
        }
    }
    errno = EEXIST;
    return -1;
}

static char name[PATH_MAX];

const char *vow_platform_trace_name(void) {
    return name;
}

/* The path with the process's number for "%p", and behind it if that is wanted. */
static int write_name(const char *path, int is_other) {
    long process = (long)getpid();
    const char *mark = strstr(path, "%p");
    char own[24] = "";
    if (is_other) {
        snprintf(own, sizeof own, ".%ld", process);
    }
    int length = mark == NULL ? snprintf(name, sizeof name, "%s%s", path, own)
                              : snprintf(name, sizeof name, "%.*s%ld%s%s", (int)(mark - path), path,
                                         process, mark + 2, own);
    return length >= 0 && length < (int)sizeof name;
}

int vow_platform_create_trace(const char *path, int is_inherited, int *is_other) {
    int cancel = vow_platform_hold_cancel();
    int file = -1;
    errno = EEXIST;
    for (int number = 0; file < 0 && errno == EEXIST && number < 2; number++) {
        *is_other = number > 0;
        if (write_name(path, *is_other)) {
            file = open_trace(name, is_inherited);
        } else {
            errno = ENAMETOOLONG;
        }
    }
    vow_platform_let_cancel(cancel);
    return file;
}

void vow_platform_discard_trace(int file) {
    struct stat status;
    int cancel = vow_platform_hold_cancel();
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && is_named(file, name)) {
        unlink(name);
    }
    close(file);
    vow_platform_let_cancel(cancel);
}
