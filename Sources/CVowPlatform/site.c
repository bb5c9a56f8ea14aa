/* Where a promise was made: the first return address on the stack that is not in the library. */
#define _GNU_SOURCE /* dladdr, dl_iterate_phdr, program_invocation_short_name */
#include "site.h"
#include "trace.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <link.h>
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
/* Built into a Swift package, the library has no place of its own, and a call of the Swift face has
 * many frames. */
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
    /* The first frame is this function's. */
    for (int index = 1; index < count; index++) {
        /* A return address may be the beginning of the next function: the call is before it. */
        if (owner_of((const char *)addresses[index] - 1) == vow_program) {
            return addresses[index];
        }
    }
    return NULL;
}

/* The program or library of an address. */
typedef struct module {
    uintptr_t address;
    char name[64];
    /* Where the address is in the file as its linker saw it. */
    uintptr_t offset;
} module;

static int look_into(struct dl_phdr_info *object, size_t size, void *context) {
    module *wanted = context;
    (void)size;
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[index];
        uintptr_t start = object->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && wanted->address - start < part->p_memsz) {
            const char *path = object->dlpi_name, *slash = strrchr(path, '/');
            /* The program itself has no name there. */
            const char *name = *path == 0      ? program_invocation_short_name
                               : slash == NULL ? path
                                               : slash + 1;
            snprintf(wanted->name, sizeof wanted->name, "%s", name);
            wanted->offset = wanted->address - object->dlpi_addr;
            return 1;
        }
    }
    return 0;
}

int vow_platform_describe_site(const void *site, char *buffer, size_t size) {
    const char *call = (const char *)site - 1;
    module in = {.address = (uintptr_t)call};
    if (dl_iterate_phdr(look_into, &in) == 0) {
        return snprintf(buffer, size, "%p", (const void *)call);
    }
    vow_function found = function_at(call);
    if (found.name == NULL) {
        return snprintf(buffer, size, "%s+0x%zx", in.name, (size_t)in.offset);
    }
    char name[256];
    return snprintf(buffer, size, "%s+0x%zx (%s+0x%zx)", in.name, (size_t)in.offset,
                    readable(found.name, name, sizeof name),
                    (size_t)(call - (const char *)found.start));
}
