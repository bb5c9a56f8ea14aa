/* The copies of the library in this process, each in the program or a shared object. A copy stays
 * in memory once it was used, and two used copies know of each other.
 *
 * Each copy has a note in its object, by which the others find it, because copies hide their
 * symbols from one another. The loader's list of objects is read without the lock under which
 * constructors run. */
#define _GNU_SOURCE /* dl_iterate_phdr, RTLD_NODELETE, syscall */
#include "copies.h"
#include "platform.h"
#include "writing.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdatomic.h>

/* The note that other versions read: a new field comes last. */
typedef struct copy {
    uint32_t size;
    _Atomic uint32_t flags;
} copy;

enum { is_used = 1, is_met = 2 };

__attribute__((used, visibility("hidden"))) copy vow_copy = {sizeof(copy), 0};

#define NOTE_NAME "Vow"
#define NOTE_TYPE 1
__asm__(".pushsection .note.vow, \"a\", %note\n"
        ".balign 4\n"
        ".long 4, 8, 1\n"
        ".asciz \"Vow\"\n"
        "vow_note_desc:\n"
        ".quad vow_copy - vow_note_desc\n"
        ".popsection\n");

/* The note of an object; NULL: none. */
static copy *copy_in(const struct dl_phdr_info *object) {
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[index];
        if (part->p_type != PT_NOTE) {
            continue;
        }
        uintptr_t at = object->dlpi_addr + part->p_vaddr, end = at + part->p_memsz;
        uintptr_t step = part->p_align == 8 ? 8 : 4;
        while (at + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *note = (const void *)at;
            uintptr_t name = at + sizeof *note;
            uintptr_t desc = (name + note->n_namesz + step - 1) & ~(step - 1);
            if (note->n_type == NOTE_TYPE && note->n_namesz == sizeof NOTE_NAME &&
                note->n_descsz == 8 &&
                memcmp((const void *)name, NOTE_NAME, sizeof NOTE_NAME) == 0) {
                int64_t distance;
                memcpy(&distance, (const void *)desc, sizeof distance);
                return (copy *)(desc + (uintptr_t)distance);
            }
            at = (desc + note->n_descsz + step - 1) & ~(step - 1);
        }
    }
    return NULL;
}

static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info *object) {
    for (int index = 0; index < object->dlpi_phnum; index++) {
        if (object->dlpi_phdr[index].p_type == PT_DYNAMIC) {
            return (const void *)(object->dlpi_addr + object->dlpi_phdr[index].p_vaddr);
        }
    }
    return NULL;
}

/* 0: the object has none. Some loaders change addresses there to addresses in memory. */
static uintptr_t entry_of(const struct dl_phdr_info *object, ElfW(Sxword) tag, int is_address) {
    const ElfW(Dyn) *entry = dynamic_of(object);
    while (entry != NULL && entry->d_tag != DT_NULL && entry->d_tag != tag) {
        entry++;
    }
    if (entry == NULL || entry->d_tag == DT_NULL) {
        return 0;
    }
    uintptr_t value = entry->d_un.d_val;
    return is_address && value < object->dlpi_addr ? value + object->dlpi_addr : value;
}

/* The exported function of that name in an object, by its GNU hash table; 0: none. */
static uintptr_t exported(const struct dl_phdr_info *object, const char *name) {
    const uint32_t *table = (const void *)entry_of(object, DT_GNU_HASH, 1);
    const ElfW(Sym) *symbols = (const void *)entry_of(object, DT_SYMTAB, 1);
    const char *names = (const void *)entry_of(object, DT_STRTAB, 1);
    uint32_t hash = 5381;
    if (table == NULL || symbols == NULL || names == NULL || table[0] == 0) {
        return 0;
    }
    for (const char *letter = name; *letter != 0; letter++) {
        hash = hash * 33 + (unsigned char)*letter;
    }
    const uint32_t *buckets = table + 4 + table[2] * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chain = buckets + table[0];
    for (uint32_t index = buckets[hash % table[0]]; index >= table[1] && index != 0; index++) {
        uint32_t other = chain[index - table[1]];
        if ((other | 1) == (hash | 1) && strcmp(names + symbols[index].st_name, name) == 0) {
            const ElfW(Sym) *found = &symbols[index];
            return found->st_shndx == SHN_UNDEF ? 0 : object->dlpi_addr + found->st_value;
        }
        if (other & 1) {
            break;
        }
    }
    return 0;
}

/* The findings of one look through the objects. */
typedef struct finding {
    /* The object of this copy; NULL: it is the program. */
    const char *name;
    /* No call can unload the object. */
    int is_kept;
    int is_seen;
    /* Another used copy, if there is one. */
    copy *other;
    const char *other_name;
    /* One of the two shows its functions. */
    int is_shown;
    /* Whether this is such a copy. */
    const void *wanted;
    int is_wanted;
    /* The first dlopen that there is. A reference to it would have linkers warn of it in static
     * programs. */
    uintptr_t opener;
} finding;

static int look(struct dl_phdr_info *object, size_t size, void *context) {
    finding *found = context;
    (void)size;
    copy *one = copy_in(object);
    found->opener = found->opener != 0 ? found->opener : exported(object, "dlopen");
    if (one == NULL) {
        return 0;
    }
    if (one == &vow_copy) {
        int is_program = object->dlpi_name == NULL || object->dlpi_name[0] == 0;
        found->name = is_program ? NULL : object->dlpi_name;
        found->is_kept = is_program || (entry_of(object, DT_FLAGS_1, 0) & DF_1_NODELETE) != 0;
        found->is_seen = exported(object, "vow_then") != 0;
    } else if (atomic_load(&one->flags) & is_used) {
        found->other = one;
        found->other_name = object->dlpi_name;
        found->is_shown |= exported(object, "vow_then") != 0;
        found->is_wanted |= one == found->wanted;
    }
    return 0;
}

static finding found_in_process(const void *wanted) {
    finding found = {.wanted = wanted};
    dl_iterate_phdr(look, &found);
    found.is_shown |= found.is_seen;
    return found;
}

static const char *named(const char *object) {
    return object == NULL || object[0] == 0 ? "the program" : object;
}

/* Two copies are in order while each keeps to itself, as copies do that hide their functions. */
static void say_once(const finding *found) {
    char text[1024];
#ifndef VOW_CHECKED
    if (!found->is_shown) {
        return;
    }
#endif
    /* Both may find each other at the same time. */
    copy *first = found->other < &vow_copy ? found->other : &vow_copy;
    if (atomic_fetch_or(&first->flags, is_met) & is_met) {
        return;
    }
    int length = snprintf(text, sizeof text,
                          "vow: this process uses two copies of the library, in %s and in %s: what "
                          "one has made is nothing to the other\n",
                          named(found->other_name), named(found->name));
    vow_platform_write(2, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

/* Else threads of the library's and of libdispatch's would go on in memory that is gone. */
static int stay(const finding *found) {
    __typeof__(&dlopen) opener;
    memcpy(&opener, &found->opener, sizeof opener);
    return found->is_kept || opener == NULL ||
           opener(found->name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != NULL;
}

static int stays;

void vow_platform_begin_copy(void) {
    atomic_fetch_or(&vow_copy.flags, is_used);
    finding found = found_in_process(NULL);
    stays = stay(&found);
    if (found.other != NULL) {
        say_once(&found);
    }
}

int vow_platform_stays(void) {
    return stays;
}

uint64_t vow_platform_copy(void) {
    return (uintptr_t)&vow_copy;
}

int vow_platform_is_other_copy(uint64_t copy) {
    return found_in_process((const void *)(uintptr_t)copy).is_wanted;
}

int vow_platform_has_other_copy(void) {
    return found_in_process(NULL).other != NULL;
}
