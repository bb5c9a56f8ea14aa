/* Where the library's code ends. */
#include "site.h"

void vow_text_end(void) {
}
