/* Which file a trace is written to, behind trace_file.h.
 *
 * Who writes a file has it locked (flock), which ends with the process, however that ends. And its
 * first line says which process that is, so that a child that comes when the trace of its parent
 * has ended leaves that alone, too. A name is only taken from a file by who has that file locked,
 * so of two that come at once one finds the other's lock. */
#define _GNU_SOURCE /* F_SETPIPE_SZ, realpath */
#include "trace_file.h"

#include "platform.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

enum { own_flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK, most_tries = 16, most_names = 10 };

/* ------------------------------------------------------------------- processes */

/* When it began; 0: there is none, or only what its parent has not asked for yet. */
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

/* Whether the process that has written this trace goes on: then it is not to be replaced, but by
 * that process itself. Of a file that is something else, or was written elsewhere, nobody. */
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

/* False: another process has it locked. Where there are no locks, none has. */
static int lock_file(int file) {
    return flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

/* Whether the path still leads to this file: it may have been taken away before it was locked. */
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

/* A link or pipe that somebody else has put into a folder where anybody may, as /tmp: it could lead
 * anywhere, or be read by him. (Most systems ask so themselves: fs.protected_symlinks and its
 * like.) */
static int is_planted(char *path, const struct stat *what) {
    struct stat folder;
    char *slash = strrchr(path, '/');
    int is_known;
    if (slash == NULL) {
        is_known = stat(".", &folder) == 0;
    } else {
        char kept = slash == path ? slash[1] : *slash;
        char *cut = slash == path ? slash + 1 : slash;
        *cut = 0;
        is_known = stat(path, &folder) == 0;
        *cut = kept;
    }
    return is_known && (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0 &&
           what->st_uid != geteuid() && what->st_uid != folder.st_uid;
}

/* Closes a file, and has errno say why. */
static int refuse(int file, int error) {
    close(file);
    errno = error;
    return -1;
}

static int lock_pipe(int file, int is_link) {
    if (!lock_file(file)) {
        /* Beside a link there is no name to go to. */
        return refuse(file, is_link ? EBUSY : EEXIST);
    }
    /* Its reader may be late by so much; where that is not allowed, by less. */
    (void)fcntl(file, F_SETPIPE_SZ, 1 << 20);
    return file;
}

/* A regular file that is there. Takes its name away, so that it can be made anew: then 0. Where
 * that is not possible, in a folder of somebody else's, and the file is the user's own, it is
 * emptied: then it is the one. -1 and errno: EEXIST, another process's. */
static int replace(const char *path, int is_inherited, int *emptied) {
    struct stat status;
    int file = open(path, O_RDWR | O_NOFOLLOW | own_flags);
    if (file < 0) {
        return errno == ENOENT || errno == ELOOP ? 0 : -1;
    }
    if (!lock_file(file)) {
        return refuse(file, EEXIST);
    }
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || !is_named(file, path)) {
        close(file);
        return 0;
    }
    if (is_standard_stream(&status)) {
        return refuse(file, EBUSY);
    }
    if (is_in_use(file, is_inherited)) {
        return refuse(file, EEXIST);
    }
    if (unlink(path) == 0) {
        close(file);
        return 0;
    }
    if (status.st_uid != geteuid() || ftruncate(file, 0) != 0 || fchmod(file, 0600) != 0) {
        return refuse(file, errno);
    }
    *emptied = file;
    return 0;
}

/* -1 and errno, EEXIST: another process has that name. Symbolic links in `path` are resolved. */
static int open_trace(char *path, int is_inherited, char *scratch) {
    struct stat link;
    struct stat found;
    for (int tries = 0; tries < most_tries; tries++) {
        int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | own_flags, 0600);
        if (file >= 0) {
            if (!lock_file(file) || !is_named(file, path)) {
                close(file);
                continue;
            }
            /* The mask may have taken away what the owner needs. */
            (void)fchmod(file, 0600);
            return file;
        }
        if (errno != EEXIST) {
            return -1;
        }
        if (lstat(path, &link) != 0) {
            if (errno == ENOENT) {
                continue;
            }
            return -1;
        }
        /* A plain file is not written but replaced. */
        if (!S_ISREG(link.st_mode) && is_planted(path, &link)) {
            errno = EACCES;
            return -1;
        }
        if (stat(path, &found) != 0) {
            if (errno == ENOENT && !S_ISLNK(link.st_mode)) {
                continue;
            }
            return -1;
        }
        if (!S_ISREG(found.st_mode)) {
            file = open(path, O_WRONLY | own_flags);
            if (file < 0 || fstat(file, &found) != 0 || S_ISFIFO(found.st_mode)) {
                return file < 0 ? -1 : lock_pipe(file, S_ISLNK(link.st_mode));
            }
            if (!S_ISREG(found.st_mode)) {
                return file;
            }
            close(file);
        } else if (S_ISLNK(link.st_mode)) {
            if (is_standard_stream(&found)) {
                errno = EBUSY;
                return -1;
            }
            if (realpath(path, scratch) == NULL) {
                return -1;
            }
            strcpy(path, scratch);
        } else {
            int emptied = -1;
            if (replace(path, is_inherited, &emptied) < 0) {
                return -1;
            }
            if (emptied >= 0) {
                return emptied;
            }
        }
    }
    errno = EEXIST;
    return -1;
}

/* ----------------------------------------------------------------------- names */

/* The first name, or one with the process's number. */
static int write_name(const char *path, int number, char *name) {
    const char *mark = strstr(path, "%p");
    long process = (long)getpid();
    char own[48] = "";
    if (number > 1) {
        snprintf(own, sizeof own, number > 2 ? ".%ld.%d" : ".%ld", process, number - 1);
    }
    int length = mark == NULL ? snprintf(name, PATH_MAX, "%s%s", path, own)
                              : snprintf(name, PATH_MAX, "%.*s%ld%s%s", (int)(mark - path), path,
                                         process, mark + 2, own);
    return length >= 0 && length < PATH_MAX;
}

int vow_platform_create_trace(const char *path, int is_inherited, char *name, char *scratch,
                              int *is_other) {
    int cancel = vow_platform_hold_cancel();
    int file = -1;
    errno = EEXIST;
    for (int number = 1; file < 0 && errno == EEXIST && number <= most_names; number++) {
        if (!write_name(path, number, name)) {
            errno = ENAMETOOLONG;
            break;
        }
        *is_other = number > 1;
        file = open_trace(name, is_inherited, scratch);
    }
    vow_platform_let_cancel(cancel);
    return file;
}

void vow_platform_discard_trace(int file, const char *name) {
    struct stat status;
    int error = errno;
    int cancel = vow_platform_hold_cancel();
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && is_named(file, name)) {
        unlink(name);
    }
    close(file);
    vow_platform_let_cancel(cancel);
    errno = error;
}
