/* Where the library's code begins. */
#include "site.h"

void vow_text_begin(void) {
}
