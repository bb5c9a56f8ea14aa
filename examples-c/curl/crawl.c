/* crawl.c: 1,000 pages found by their links, 16 at a time, with time-outs and retries.
 *
 * Wave by wave: the pages of one wave are fetched, and the new ones that they link to are the next.
 * One thread, no lock, and no count of what is under way: vow_map keeps it, vow_repeat the waves.
 *
 * A terminal shows a progress bar. With VOW_TRACE=crawl.json in the environment the names that
 * pages and requests get here stand in the trace: see docs/tracing.md.
 */
#include <string.h>
#include <unistd.h>

#include "../common.h"
#include "fetch.h"
#include "pages.h"
#include "site.h"

#define AT_A_TIME 16

struct page {
    struct crawl *crawl;
    bool seen; /* in this wave or an earlier one */
    bool arrived;
};

struct crawl {
    unsigned port;
    struct page pages[PAGES];
    unsigned retries;
    unsigned arrived;
    vow_promise *whole; /* for telling how far it is */
};

/* ---------------------------------------------------------------- Progress */

static void tell_progress(struct crawl *crawl) {
    char note[64];
    crawl->arrived++;
    snprintf(note, sizeof note, "%u of %d pages", crawl->arrived, PAGES);
    vow_promise_set_progress(crawl->whole, (double)crawl->arrived / PAGES, note);
}

/* Called every 50 ms at most, and not after the end. */
static void draw_bar(double fraction, const char *note, void *context) {
    static const char full[] = "##################################################";
    int width = (int)sizeof full - 1;
    (void)context;
    fprintf(stderr, "\r[%-*.*s] %s", width, (int)(fraction * width), full, note);
}

/* ---------------------------------------------------------------- One page */

/* What another attempt may help against. */
static bool may_retry(vow_value error, void *context) {
    (void)context;
    if (strcmp(vow_error_domain(error), FETCH_HTTP) == 0) {
        return vow_error_code(error) >= 500;
    }
    return strcmp(vow_error_domain(error), FETCH_CURL) == 0 ||
           vow_error_code(error) == VOW_ETIMEDOUT;
}

static vow_value attempt(vow_value number, void *context) {
    struct page *page = context;
    struct crawl *crawl = page->crawl;
    int index = (int)(page - crawl->pages);
    char url[64], label[32];
    crawl->retries += number.as.integer > 1;
    snprintf(url, sizeof url, "http://127.0.0.1:%u/page/%d", crawl->port, index);
    /* When the time is up, the transfer loses its only reader, and libcurl the transfer. */
    vow_promise *request = vow_timeout(fetch(url), 500 * VOW_MS);
    snprintf(label, sizeof label, "request %d", index);
    vow_promise_set_label(request, label);
    return vow_from_promise(request);
}

/* The pages that a page links to and nobody has seen yet, as a list of numbers. */
static vow_value find_links(vow_value text, void *context) {
    struct page *page = context;
    struct crawl *crawl = page->crawl;
    const char *link = vow_string_bytes(text, NULL);
    vow_value found[8];
    size_t count = 0;
    unsigned number;
    page->arrived = true;
    tell_progress(crawl);
    while (link != NULL && (link = strstr(link, "href=\"/page/")) != NULL && count < 8) {
        if (sscanf(link, "href=\"/page/%u\"", &number) == 1 && number < PAGES &&
            !crawl->pages[number].seen) {
            crawl->pages[number].seen = true;
            found[count++] = vow_int(number);
        }
        link++;
    }
    return vow_list(found, count);
}

static vow_value get_page(vow_value number, void *context) {
    struct crawl *crawl = context;
    struct page *page = &crawl->pages[number.as.integer];
    vow_retry_policy policy = {.size = sizeof policy};
    policy.attempts = 10;
    policy.first_delay_ns = 10 * VOW_MS;
    policy.max_delay_ns = 200 * VOW_MS;
    policy.jitter = 1;
    policy.may_retry = may_retry;
    vow_promise *text = vow_retry(&policy, attempt, page);
    char label[32];
    snprintf(label, sizeof label, "page %" PRId64, number.as.integer);
    vow_promise_set_label(text, label);
    return vow_from_promise(vow_then(text, find_links, page));
}

/* ---------------------------------------------------------------- Wave after wave */

/* From the lists of all pages of a wave, one list. */
static vow_value join(vow_value lists, void *context) {
    vow_value all[PAGES];
    size_t count = 0;
    (void)context;
    for (size_t i = 0; i < vow_list_count(lists); i++) {
        vow_value list = vow_list_at(lists, i);
        for (size_t k = 0; k < vow_list_count(list) && count < PAGES; k++) {
            all[count++] = vow_list_at(list, k); /* numbers: nothing to retain */
        }
    }
    return vow_list(all, count);
}

static bool any_left(vow_value wave, void *context) {
    (void)context;
    return vow_list_count(wave) > 0;
}

static vow_value next_wave(vow_value wave, void *context) {
    vow_promise *lists = vow_map(vow_value_retain(wave), get_page, context, AT_A_TIME);
    return vow_from_promise(vow_then(lists, join, NULL));
}

static vow_promise *crawl_from_first(struct crawl *crawl) {
    vow_value first = vow_int(0);
    crawl->pages[0].seen = true;
    crawl->whole = vow_repeat(vow_list(&first, 1), any_left, next_wave, crawl);
    if (isatty(STDERR_FILENO)) {
        vow_on_progress(crawl->whole, 50 * VOW_MS, draw_bar, NULL, NULL);
    }
    return crawl->whole;
}

/* ---------------------------------------------------------------- The program */

static const char *yes_if(bool condition) {
    return condition ? "yes" : "no";
}

static vow_statistics statistics_now(void) {
    vow_statistics statistics = {.size = sizeof statistics};
    vow_stats(&statistics);
    return statistics;
}

int main(void) {
    static struct crawl crawl;
    static struct pages pages;
    unsigned arrived = 0;
    vow_statistics before = statistics_now();
    struct site *site = site_start(pages_answer, &pages);
    vow_loop *loop = vow_loop_create();
    if (site == NULL || loop == NULL || !fetch_begin()) {
        return 1;
    }
    crawl.port = site_port(site);
    for (int i = 0; i < PAGES; i++) {
        crawl.pages[i].crawl = &crawl;
    }

    int64_t start = vow_now();
    show_result("links left to follow", crawl_from_first(&crawl));
    double seconds = (double)(vow_now() - start) / 1e9;
    bool idle = fetch_running() == 0;

    fetch_end();
    vow_loop_destroy(loop);
    struct site_counts counts = site_stop(site);
    vow_statistics after = statistics_now();
    for (int i = 0; i < PAGES; i++) {
        arrived += crawl.pages[i].arrived;
    }

    printf("pages: %u of %d\n", arrived, PAGES);
    printf("failed at first: %u statuses, %u resets, %u hangs\n", pages.errors, pages.resets,
           pages.hangs);
    unsigned failed = pages.errors + pages.resets + pages.hangs;
    printf("each asked again: %s\n", yes_if(crawl.retries >= failed));
    printf("%d connections at most: %s\n", AT_A_TIME, yes_if(counts.peak <= AT_A_TIME));
    printf("libcurl has nothing left to do: %s\n", yes_if(idle));
    printf("promises pending: %" PRIu64 "\n", after.pending);
    printf("memory is back to where it was: %s\n", yes_if(after.bytes == before.bytes));

    /* What differs from run to run. */
    fprintf(stderr, "%u pages, %u requests, %u retries, peak of %u connections, %.2f s\n", arrived,
            counts.requests, crawl.retries, counts.peak, seconds);
    return nothing_left();
}
