/* See cpeer.h. */
#define _GNU_SOURCE
#include "cpeer.h"

#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>
#include <unistd.h>

bool cpeer_read(bench_counts *counts) {
    static bench_counts (*read)(void);
    if (read == NULL) {
        *(void **)&read = dlsym(RTLD_DEFAULT, "bench_count_read");
    }
    if (read == NULL) {
        return false;
    }
    *counts = read();
    return true;
}

void cpeer_pin(long processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)(processor % sysconf(_SC_NPROCESSORS_ONLN)), &set);
    sched_setaffinity(0, sizeof set, &set);
}
