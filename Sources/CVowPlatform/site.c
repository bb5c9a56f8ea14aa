/* Where a promise was made: the first return address on the stack that is not in the library. */
#define _GNU_SOURCE /* dladdr */
#include "site.h"
#include "trace.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <string.h>

enum { deepest = 32 };

static int is_own(const void *address) {
#ifdef VOW_LIBRARY
    return (uintptr_t)address >= (uintptr_t)vow_text_begin &&
           (uintptr_t)address < (uintptr_t)vow_text_end;
#else
    /* Built into a Swift package, where it has no place of its own: told by its symbols' names. */
    Dl_info info;
    return dladdr(address, &info) == 0 || info.dli_sname == NULL ||
           strncmp(info.dli_sname, "vow_", 4) == 0 ||
           strncmp(info.dli_sname, "$s7VowCore", 10) == 0 ||
           strncmp(info.dli_sname, "$s3Vow", 6) == 0;
#endif
}

const void *vow_platform_site(void) {
    void *addresses[deepest];
    int count = backtrace(addresses, deepest);
    /* The first is this function. */
    for (int index = 1; index < count; index++) {
        if (!is_own(addresses[index])) {
            return addresses[index];
        }
    }
    return NULL;
}

int vow_platform_describe_site(const void *site, char *buffer, size_t size) {
    Dl_info info;
    /* A return address may be the beginning of what comes next: the call is before it. */
    const char *call = (const char *)site - 1;
    if (dladdr(call, &info) == 0 || info.dli_fname == NULL) {
        return snprintf(buffer, size, "%p", (const void *)call);
    }
    const char *slash = strrchr(info.dli_fname, '/');
    const char *module = slash == NULL ? info.dli_fname : slash + 1;
    size_t offset = (size_t)(call - (const char *)info.dli_fbase);
    if (info.dli_sname == NULL) {
        return snprintf(buffer, size, "%s+0x%zx", module, offset);
    }
    return snprintf(buffer, size, "%s+0x%zx (%s+0x%zx)", module, offset, info.dli_sname,
                    (size_t)(call - (const char *)info.dli_saddr));
}
