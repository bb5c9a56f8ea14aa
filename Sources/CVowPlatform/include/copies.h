/* The copies of the library in a process. */
#ifndef VOW_COPIES_H
#define VOW_COPIES_H

#include <stdint.h>

/* Called before this copy's first use: from then on its object stays in memory, if the loader can
 * keep it, and the next used copy finds it. */
__attribute__((visibility("hidden"))) void vow_platform_begin_copy(void);

/* Whether this copy's object stays. */
__attribute__((visibility("hidden"))) int vow_platform_stays(void);

/* A number that no other copy in this process has. */
__attribute__((visibility("hidden"))) uint64_t vow_platform_copy(void);

/* The address is that number, as a constant. */
extern const char vow_copy_place[] __asm__("vow_copy") __attribute__((visibility("hidden")));

/* Whether another used copy has this number; whether there is another used copy. */
__attribute__((visibility("hidden"))) int vow_platform_is_other_copy(uint64_t copy);
__attribute__((visibility("hidden"))) int vow_platform_has_other_copy(void);

#endif
