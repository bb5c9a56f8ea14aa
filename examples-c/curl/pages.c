/* pages.c: page n links to pages 3n + 1 to 3n + 3, to itself and to the first. */
#include "pages.h"

#include <stdio.h>

#include "site.h"

/* The first answer of pages 7, 17, 27 ... is one of three failures, in turn. */
static int fail_at_first(struct pages *pages, unsigned number) {
    switch (number / 10 % 3) {
    case 0:
        pages->errors++;
        return 500;
    case 1:
        pages->resets++;
        return SITE_RESET;
    default:
        pages->hangs++;
        return SITE_HANG;
    }
}

int pages_answer(const char *path, char *body, size_t size, void *context) {
    struct pages *pages = context;
    unsigned number;
    if (sscanf(path, "/page/%u", &number) != 1 || number >= PAGES) {
        return 404;
    }
    int length = snprintf(body, size, "<a href=\"/page/0\"> <a href=\"/page/%u\">", number);
    for (unsigned link = 3 * number + 1; link <= 3 * number + 3 && link < PAGES; link++) {
        length += snprintf(body + length, size - (size_t)length, " <a href=\"/page/%u\">", link);
    }
    bool first = !pages->asked[number];
    pages->asked[number] = true;
    return first && number % 10 == 7 ? fail_at_first(pages, number) : 200;
}
