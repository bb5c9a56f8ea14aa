/* How the library's own code is told from a program's. */
#ifndef VOW_SITE_H
#define VOW_SITE_H

#include <stddef.h>
#include <stdint.h>

typedef struct vow_function {
    /* NULL: not known. As the linker has it. */
    const char *name;
    const void *start;
} vow_function;

/* The two ends of the library's code: scripts/build-lib links what defines them first and last. */
void vow_text_begin(void);
void vow_text_end(void);

/* What follows is for Swift packages, whose code is told by names. */
typedef enum vow_owner {
    /* Also of the Swift runtime and other libraries of the system. */
    vow_own = 1,
    vow_program
} vow_owner;

/* By the symbol table of the file that this is linked into, else by the dynamic linker. */
vow_function vow_function_at(const void *address);
vow_owner vow_owner_of(const void *address);

vow_owner vow_owner_of_name(const char *name);

/* "closure in shop.Page.load", in the buffer; or the name as it is. */
const char *vow_readable_name(const char *name, char *buffer, size_t size);

#endif
