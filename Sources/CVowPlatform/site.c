/* Where a promise was made: the first return address on the stack that is not in the library. */
#define _GNU_SOURCE /* dladdr */
#include "site.h"
#include "trace.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <string.h>

#ifdef VOW_LIBRARY
enum { deepest = 32 };

static vow_owner owner_of(const void *address) {
    int is_own = (uintptr_t)address >= (uintptr_t)vow_text_begin &&
                 (uintptr_t)address < (uintptr_t)vow_text_end;
    return is_own ? vow_own : vow_program;
}

static vow_function function_at(const char *call) {
    Dl_info info;
    if (dladdr(call, &info) == 0) {
        return (vow_function){NULL, NULL};
    }
    return (vow_function){info.dli_sname, info.dli_saddr};
}

static const char *readable(const char *name, char *buffer, size_t size) {
    (void)buffer;
    (void)size;
    return name;
}
#else
/* Built into a Swift package it has no place of its own, and a call of the Swift face has many
 * frames. */
enum { deepest = 64 };

static vow_owner owner_of(const void *address) {
    return vow_owner_of(address);
}

static vow_function function_at(const char *call) {
    return vow_function_at(call);
}

static const char *readable(const char *name, char *buffer, size_t size) {
    return vow_readable_name(name, buffer, size);
}
#endif

const void *vow_platform_site(void) {
    void *addresses[deepest];
    int count = backtrace(addresses, deepest);
    /* The first is this function. */
    for (int index = 1; index < count; index++) {
        /* A return address may be the beginning of what comes next: the call is before it. */
        if (owner_of((const char *)addresses[index] - 1) == vow_program) {
            return addresses[index];
        }
    }
    return NULL;
}

int vow_platform_describe_site(const void *site, char *buffer, size_t size) {
    Dl_info info;
    const char *call = (const char *)site - 1;
    if (dladdr(call, &info) == 0 || info.dli_fname == NULL) {
        return snprintf(buffer, size, "%p", (const void *)call);
    }
    const char *slash = strrchr(info.dli_fname, '/');
    const char *module = slash == NULL ? info.dli_fname : slash + 1;
    size_t offset = (size_t)(call - (const char *)info.dli_fbase);
    vow_function found = function_at(call);
    if (found.name == NULL) {
        return snprintf(buffer, size, "%s+0x%zx", module, offset);
    }
    char name[256];
    return snprintf(buffer, size, "%s+0x%zx (%s+0x%zx)", module, offset,
                    readable(found.name, name, sizeof name),
                    (size_t)(call - (const char *)found.start));
}
