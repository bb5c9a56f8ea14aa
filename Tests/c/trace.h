/* Reads what tracing writes: a history file, and graphs, line by line. */
#ifndef VOW_TEST_TRACE_H
#define VOW_TEST_TRACE_H

#include "tools.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static char trace_path[64];

/* A new name, of a file that is not there. */
static inline void make_path(char *path, size_t size) {
    snprintf(path, size, P_tmpdir "/vow-trace-XXXXXX");
    int file = mkstemp(path);
    if (file >= 0) {
        close(file);
        unlink(path);
    }
}

static inline const char *new_path(void) {
    make_path(trace_path, sizeof trace_path);
    return trace_path;
}

/* All of a file, with a NUL; to be freed. */
static inline char *whole_file(const char *path) {
    int file = open(path, O_RDONLY);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) {
        return calloc(1, 1);
    }
    char *text = calloc(1, (size_t)status.st_size + 1);
    ssize_t got = text != NULL ? read(file, text, (size_t)status.st_size) : 0;
    CHECK(got == status.st_size);
    close(file);
    return text;
}

/* Ends the trace and gives its text, to be freed. */
static inline char *end_trace(void) {
    CHECK_INT_EQ(vow_trace_stop(), 0);
    char *text = whole_file(trace_path);
    unlink(trace_path);
    return text;
}

static inline void begin_trace(void) {
    /* With the environment's tracing the tests have their own in its place. */
    vow_trace_stop();
    CHECK_INT_EQ(vow_trace_start(new_path()), 0);
}

/* The line that has all the parts (NULL ends them), copied into `line`; false: none has. */
static inline bool find_line(const char *text, char *line, size_t size, const char *const *parts) {
    while (*text != 0) {
        const char *end = strchr(text, '\n');
        size_t length = end != NULL ? (size_t)(end - text) : strlen(text);
        snprintf(line, size, "%.*s", (int)(length < size ? length : size - 1), text);
        bool has_all = true;
        for (const char *const *part = parts; *part != NULL && has_all; part++) {
            has_all = strstr(line, *part) != NULL;
        }
        if (has_all) {
            return true;
        }
        text += length + (end != NULL);
    }
    line[0] = 0;
    return false;
}

#define FIND(text, line, ...)                                                                      \
    find_line((text), (line), sizeof(line), (const char *const[]){__VA_ARGS__, NULL})

static inline int count_lines(const char *text, const char *const *parts) {
    int count = 0;
    char line[8192];
    while (*text != 0) {
        const char *end = strchr(text, '\n');
        size_t length = end != NULL ? (size_t)(end - text) : strlen(text);
        snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : 0), text);
        bool has_all = true;
        for (const char *const *part = parts; *part != NULL && has_all; part++) {
            has_all = strstr(line, *part) != NULL;
        }
        count += has_all;
        text += length + (end != NULL);
    }
    return count;
}

#define COUNT(text, ...) count_lines((text), (const char *const[]){__VA_ARGS__, NULL})

/* Copies the text between the quotation marks behind a key, "\"id\":". */
static inline bool text_after(const char *line, const char *key, char *out, size_t size) {
    const char *begin = strstr(line, key);
    if (begin == NULL || begin[strlen(key)] != '"') {
        out[0] = 0;
        return false;
    }
    begin += strlen(key) + 1;
    size_t length = 0;
    while (begin[length] != 0 && begin[length] != '"') {
        length += begin[length] == '\\' ? 2 : 1;
    }
    snprintf(out, size, "%.*s", (int)length, begin);
    return true;
}

/* The id of the promise that is called so, as it stands in the file: "\"id\":\"0x1f\"". */
typedef struct id_text {
    char text[40]; /* 0x1f */
} id_text;

static inline id_text id_of(const char *text, const char *name) {
    char line[8192];
    char part[320];
    id_text id;
    snprintf(part, sizeof part, "\"name\":\"%s\"", name);
    CHECK(FIND(text, line, "\"ph\":\"b\"", part));
    CHECK(text_after(line, "\"id\":", id.text, sizeof id.text));
    return id;
}

/* key:"id" */
static inline const char *with(char *out, size_t size, const char *key, id_text id) {
    snprintf(out, size, "\"%s\":\"%s\"", key, id.text);
    return out;
}

/* What vow_graph_write writes, to be freed. */
static inline char *graph(uint32_t format) {
    char path[64];
    make_path(path, sizeof path);
    int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    CHECK_INT_EQ(vow_graph_write(file, format), 0);
    close(file);
    char *text = whole_file(path);
    unlink(path);
    return text;
}

#endif
