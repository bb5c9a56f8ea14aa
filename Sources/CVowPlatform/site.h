/* The difference between the library's own code and a program's. */
#ifndef VOW_SITE_H
#define VOW_SITE_H

#include <stddef.h>
#include <stdint.h>

typedef struct vow_function {
    /* As the linker has it; NULL: not known. */
    const char *name;
    const void *start;
} vow_function;

/* The two ends of the library's code: scripts/build-lib links their objects first and last. */
void vow_text_begin(void);
void vow_text_end(void);

/* The functions below are for Swift packages, whose code is recognised by names. */
typedef enum vow_owner {
    /* Also of the Swift runtime and other libraries of the system. */
    vow_own = 1,
    vow_program
} vow_owner;

/* By the symbol table of the file that has this code, else by the dynamic linker. */
vow_function vow_function_at(const void *address);
vow_owner vow_owner_of(const void *address);

vow_owner vow_owner_of_name(const char *name);

/* "closure in shop.Page.load", in the buffer; or the name as it is. */
const char *vow_readable_name(const char *name, char *buffer, size_t size);

#endif
