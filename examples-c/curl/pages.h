/* pages.h: a site of 1,000 pages, reached from page 0 by links; every tenth fails at first. */
#ifndef CURL_PAGES_H
#define CURL_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#define PAGES 1000

/* What the site remembers. Zeroed: nothing. */
struct pages {
    bool asked[PAGES];
    unsigned errors, resets, hangs; /* failures so far: 500, broken off, no answer */
};

/* The answer to GET /page/NUMBER, as site.h has it; context is a struct pages. */
int pages_answer(const char *path, char *body, size_t size, void *context);

#endif
