/* The functions of the file that a Swift package is linked into, by the file's own symbol table.
 * The dynamic linker knows only the functions that a program exports, which are none by default. */
#ifndef VOW_LIBRARY
#define _GNU_SOURCE /* dl_iterate_phdr, dladdr */
#include "site.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct symbol {
    uintptr_t start;
    uintptr_t end;
    const char *name;
    /* A vow_owner, or 0: found out at the first question. */
    _Atomic unsigned char owner;
} symbol;

/* Made once and kept, as is the file in memory: the names are in it. */
static struct {
    uintptr_t base;
    symbol *symbols;
    size_t count;
} table;
static pthread_once_t loading = PTHREAD_ONCE_INIT;

static int by_start(const void *left, const void *right) {
    uintptr_t a = ((const symbol *)left)->start, b = ((const symbol *)right)->start;
    return (a > b) - (a < b);
}

/* Takes the functions out of a whole file in memory, of `size` bytes. */
static void read_functions(const char *file, size_t size) {
    const ElfW(Ehdr) *head = (const void *)file;
    if (size < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_shentsize != sizeof(ElfW(Shdr)) || head->e_shoff > size ||
        (size - head->e_shoff) / sizeof(ElfW(Shdr)) < head->e_shnum) {
        return;
    }
    const ElfW(Shdr) *sections = (const void *)(file + head->e_shoff);
    for (size_t index = 0; index < head->e_shnum; index++) {
        const ElfW(Shdr) *section = &sections[index];
        if (section->sh_type != SHT_SYMTAB || section->sh_link >= head->e_shnum) {
            continue;
        }
        const ElfW(Shdr) *names = &sections[section->sh_link];
        if (section->sh_offset > size || section->sh_size > size - section->sh_offset ||
            names->sh_offset > size || names->sh_size > size - names->sh_offset ||
            names->sh_size == 0 || file[names->sh_offset + names->sh_size - 1] != 0) {
            return;
        }
        const ElfW(Sym) *found = (const void *)(file + section->sh_offset);
        size_t count = section->sh_size / sizeof *found;
        table.symbols = malloc(count * sizeof(symbol));
        for (size_t place = 0; table.symbols != NULL && place < count; place++) {
            if ((found[place].st_info & 15) == STT_FUNC && found[place].st_size > 0 &&
                found[place].st_name < names->sh_size) {
                symbol *next = &table.symbols[table.count++];
                next->start = found[place].st_value;
                next->end = found[place].st_value + found[place].st_size;
                next->name = file + names->sh_offset + found[place].st_name;
                atomic_init(&next->owner, 0);
            }
        }
        qsort(table.symbols, table.count, sizeof(symbol), by_start);
        return;
    }
}

/* The object of this function. */
static int read_object(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    (void)context;
    uintptr_t here = (uintptr_t)&read_object;
    int is_this = 0;
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[index];
        uintptr_t start = object->dlpi_addr + part->p_vaddr;
        is_this |= part->p_type == PT_LOAD && here >= start && here < start + part->p_memsz;
    }
    if (!is_this) {
        return 0;
    }
    table.base = object->dlpi_addr;
    int is_main = object->dlpi_name == NULL || object->dlpi_name[0] == 0;
    int file = open(is_main ? "/proc/self/exe" : object->dlpi_name, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0) {
        size_t length = (size_t)status.st_size;
        void *bytes = mmap(NULL, length, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            read_functions(bytes, length);
            if (table.count == 0) {
                munmap(bytes, length);
            }
        }
    }
    if (file >= 0) {
        close(file);
    }
    return 1;
}

static void load(void) {
    dl_iterate_phdr(read_object, NULL);
}

/* NULL: none, or the file was stripped. */
static symbol *find(const void *address) {
    pthread_once(&loading, load);
    uintptr_t wanted = (uintptr_t)address - table.base;
    size_t low = 0, high = table.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table.symbols[middle].start <= wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    /* Several functions may begin at one place, and one of them be the longest. */
    for (size_t back = 0; back < 4 && back < low; back++) {
        if (wanted < table.symbols[low - 1 - back].end) {
            return &table.symbols[low - 1 - back];
        }
    }
    return NULL;
}

static int begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* A library of the system: of C, of Swift, of Foundation. */
static int is_system(const char *path) {
    static const char *const names[] = {"libswift",    "libFoundation",    "lib_Foundation",
                                        "libdispatch", "libBlocksRuntime", "libc.so",
                                        "libstdc++",   "libpthread",       "ld-linux"};
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
        if (begins(name, names[index])) {
            return 1;
        }
    }
    return 0;
}

vow_function vow_function_at(const void *address) {
    symbol *found = find(address);
    if (found != NULL) {
        return (vow_function){found->name, (const void *)(found->start + table.base)};
    }
    Dl_info info;
    if (dladdr(address, &info) != 0 && info.dli_sname != NULL) {
        return (vow_function){info.dli_sname, info.dli_saddr};
    }
    return (vow_function){NULL, NULL};
}

vow_owner vow_owner_of(const void *address) {
    symbol *found = find(address);
    if (found != NULL) {
        unsigned char owner = atomic_load_explicit(&found->owner, memory_order_relaxed);
        if (owner == 0) {
            owner = vow_owner_of_name(found->name);
            atomic_store_explicit(&found->owner, owner, memory_order_relaxed);
        }
        return owner;
    }
    Dl_info info;
    if (dladdr(address, &info) == 0 || info.dli_sname == NULL || info.dli_fname == NULL ||
        is_system(info.dli_fname)) {
        return vow_own;
    }
    return vow_owner_of_name(info.dli_sname);
}
#else
/* The library knows where its code is: see site.c. */
typedef int vow_no_symbols;
#endif
