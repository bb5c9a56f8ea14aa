/* The storage of threads, from their first call of the library to their end, and where their stacks
 * are. */
#define _GNU_SOURCE /* pthread_getattr_np, syscall */
#include "copies.h"
#include "platform.h"
#include "stacks.h"
#include "writing.h"

#include <stdatomic.h>

_Thread_local vow_thread_storage *vow_thread;

/* A reserve for threads that find no memory. A thread that has a place here had no other chance. */
enum { places = 16 };
static vow_thread_storage reserve[places];
static atomic_flag is_taken[places];

static vow_thread_storage *reserved(void) {
    for (int place = 0; place < places; place++) {
        if (!atomic_flag_test_and_set_explicit(&is_taken[place], memory_order_acquire)) {
            return &reserve[place];
        }
    }
    return NULL;
}

void *vow_platform_open_thread(void *memory) {
    static const char sentence[] = "vow: no memory for what a thread carries\n";
    vow_thread_storage *storage = memory;
    if (storage == NULL && (storage = reserved()) == NULL) {
        vow_platform_write(2, sentence, sizeof sentence - 1);
        abort();
    }
    memset(storage, 0, sizeof *storage);
    vow_thread = storage;
    return storage;
}

void *vow_platform_close_thread(void) {
    vow_thread_storage *storage = vow_thread;
    vow_platform_end_alternate_stack(storage->alternate);
    vow_thread = NULL;
    if (storage < reserve || storage >= reserve + places) {
        return storage;
    }
    atomic_flag_clear_explicit(&is_taken[storage - reserve], memory_order_release);
    return NULL;
}

/* One key for the process; its value on each thread is the thread's storage. */
static pthread_key_t exit_key;
static int has_key;

static void run_leaving(void *storage) {
    ((vow_thread_storage *)storage)->leave();
}

static void make_exit_key(void) {
    if (pthread_key_create(&exit_key, run_leaving) != 0) {
        abort();
    }
    has_key = 1;
}

/* At the end of the process, and when this code is unloaded, which only a loader does that cannot
 * keep it: from then on threads that used the library end without calling code that is gone. */
__attribute__((destructor)) static void delete_exit_key(void) {
    if (has_key && !vow_platform_stays()) {
        pthread_key_delete(exit_key);
    }
}

int vow_platform_at_thread_exit(void (*leave)(void)) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_exit_key);
    vow_thread->leave = leave;
    return pthread_setspecific(exit_key, vow_thread) == 0;
}

/* The stack of the calling thread, which has entered; NULL: it is not known. */
static const vow_thread_storage *stack(void) {
    vow_thread_storage *mine = vow_thread;
    if (mine->limit == 0) {
        pthread_attr_t attributes;
        void *lowest = NULL;
        size_t size = 0;
        if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
            return NULL;
        }
        pthread_attr_getstack(&attributes, &lowest, &size);
        pthread_attr_destroy(&attributes);
        mine->lower = (uintptr_t)lowest;
        mine->upper = mine->lower + size;
        mine->limit = mine->lower + (size / 4 < 128 * 1024 ? size / 4 : 128 * 1024);
    }
    return mine;
}

int vow_platform_has_stack_left(void) {
    const vow_thread_storage *own = stack();
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    /* Else the stack is the program's own, of a coroutine say, about which nothing is known. (The
     * frame, not a variable: a sanitizer may keep those elsewhere.) */
    return own == NULL || here > own->limit || here < own->lower || here > own->upper;
}

int vow_platform_has_stack_for(size_t size) {
    const vow_thread_storage *own = stack();
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return own != NULL && here >= own->lower && here <= own->upper && here - own->lower >= size;
}

int vow_platform_is_left(const void *place) {
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), there = (uintptr_t)place;
    if (there > here) {
        return 0;
    }
    /* On different stacks the comparison says nothing. */
    const vow_thread_storage *own = stack();
    return own != NULL && there >= own->lower && here <= own->upper;
}
