/* The copies of the library in a process. */
#ifndef VOW_COPIES_H
#define VOW_COPIES_H

#include <stdint.h>

/* Before this copy's first use: from now on its object stays in memory, where the loader can do
 * that, and the next copy that is used finds it. */
__attribute__((visibility("hidden"))) void vow_platform_begin_copy(void);

/* Whether its object stays. */
__attribute__((visibility("hidden"))) int vow_platform_stays(void);

/* A number that no other copy in this process has. */
__attribute__((visibility("hidden"))) uint64_t vow_platform_copy(void);

/* Its address is that number, as a constant. */
extern const char vow_copy_place[] __asm__("vow_copy") __attribute__((visibility("hidden")));

/* Whether another copy that was used has this number; whether there is another one that was. */
__attribute__((visibility("hidden"))) int vow_platform_is_other_copy(uint64_t copy);
__attribute__((visibility("hidden"))) int vow_platform_has_other_copy(void);

#endif
