/* The platform's part of tracing, and the table of live promises, whose layout is C's so that a
 * debugger can read it: packaging/gdb/vow.py does. */
#ifndef VOW_TRACE_H
#define VOW_TRACE_H

#include <stddef.h>
#include <stdint.h>

#define VOW_TRACE_EXECUTOR_SIZE 32

/* One live record: a promise, a combinator's eye on one of its members, or a waiting thread. */
typedef struct vow_trace_entry {
    /* NULL: a free place. */
    const void *record;
    /* From 1, never given twice. */
    uint64_t id;
    /* The promise that this record waits for: its record and id; 0: none. */
    const void *reads;
    uint64_t reads_id;
    /* For an eye the id of the combined promise, for a waiting thread its number in the system. */
    uint64_t owner;
    /* The site: a return address; NULL: not known. */
    const void *site;
    /* Nanoseconds of CLOCK_MONOTONIC; 0: not yet. */
    int64_t made;
    int64_t settled;
    /* The threads that made and settled it. */
    int32_t made_by;
    int32_t settled_by;
    /* See TraceKind and TraceState. */
    uint8_t kind;
    uint8_t state;
    /* It follows the promise that it reads. */
    uint8_t follows;
    /* Its handler has returned: `executor` is where it ran. */
    uint8_t has_run;
    /* Entries that read it; counted only while a graph is written. */
    uint32_t readers;
    /* Below 0: none was reported. */
    double progress;
    /* NULL, or a copy. */
    char *label;
    char executor[VOW_TRACE_EXECUTOR_SIZE];
    /* The id of the promise that a reaction was made to read, which stays when `reads_id` has
     * changed; 0: none. */
    uint64_t reads_at_first;
    /* For an eye, the combined promise, whose id is `owner`. */
    const void *combined;
} vow_trace_entry;

/* Arrays are tuples in Swift. */
static inline char *vow_trace_executor(vow_trace_entry *entry) {
    return entry->executor;
}

/* A debugger looks for this by its name in the symbol table, to which no code can link, or, in a
 * stripped file, by its section, which has the same name. */
typedef struct vow_trace_view {
    /* The version of this layout and of the records': packaging/gdb/vow.py must know it. */
    uint32_t version;
    uint32_t entry_size;
    /* NULL: tracing is off. */
    vow_trace_entry *entries;
    uint64_t capacity;
    uint64_t count;
    /* The sizes of a record and a box before their parts, in this build. */
    uint32_t record_size;
    uint32_t box_size;
    /* 1: a checked build, where each record and box has a seal. */
    uint32_t is_checked;
    uint32_t unused;
    /* In a checked build the seals have this address in them: see copies.h. */
    const void *copy;
} vow_trace_view;
extern vow_trace_view vow_platform_trace_view __attribute__((visibility("hidden")));

__attribute__((visibility("hidden"))) void
vow_platform_show_trace(vow_trace_entry *entries, uint64_t capacity, uint64_t count);

/* The innermost return address on the stack that is not the library's; NULL if it is not known. May
 * allocate the first time. */
__attribute__((visibility("hidden"))) const void *vow_platform_site(void);

/* A site as text, "program+0x1234 (function+0x1c)", as snprintf does. */
__attribute__((visibility("hidden"))) int vow_platform_describe_site(const void *site, char *buffer,
                                                                     size_t size);

/* The system's number of the process. Under the tracing's lock. */
__attribute__((visibility("hidden"))) int32_t vow_platform_process_number(void);

/* In a forked child, with all locks held: the process and its threads have other numbers. */
__attribute__((visibility("hidden"))) void vow_platform_forget_numbers(void);

/* The system's number of the calling thread. Under the tracing's lock. */
__attribute__((visibility("hidden"))) int32_t vow_platform_thread_number(void);

/* The name of the calling thread, 16 bytes at most with the NUL. */
__attribute__((visibility("hidden"))) void vow_platform_thread_name(char *buffer);

/* True once for each thread and each `round`. */
__attribute__((visibility("hidden"))) int vow_platform_is_new_thread(uint32_t round);

/* The program's name, without its folder. */
__attribute__((visibility("hidden"))) const char *vow_platform_program(void);

/* The value of a variable; NULL: none, or the program runs with the rights of another user. */
__attribute__((visibility("hidden"))) const char *vow_platform_environment(const char *name);

/* Has leave() called when the program exits. Only the first call counts. */
__attribute__((visibility("hidden"))) void vow_platform_at_exit(void (*leave)(void));

#endif
