/* The two ends of the library's code: scripts/build-lib links what defines them first and last. */
#ifndef VOW_SITE_H
#define VOW_SITE_H

#include <stdint.h>

void vow_text_begin(void);
void vow_text_end(void);

#endif
