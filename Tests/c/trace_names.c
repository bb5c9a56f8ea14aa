/* Tests the labels and sites of promises, in traces and in reports. */
#include "trace_tools.h"

/* NULL in a way that compilers do not refuse as an argument that must not be NULL. */
static vow_promise *no_promise;

static char line[8192];

TEST("labels are escaped, cut at 255 bytes, and made valid UTF-8 without controls") {
    begin_trace();
    vow_resolver *resolver;
    char longest[600];
    memset(longest, 'l', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    static const char *const given[] = {"a \"b\" \\c",
                                        "tab\there\x01\x7f.",
                                        "new\nline",
                                        "\xff\xc3(",
                                        "\xe2\x82\xac \xf0\x9f\x98\x80",
                                        "csi \xc2\x9b."};
    static const char *const written[] = {"\"label\":\"a \\\"b\\\" \\\\c\"",
                                          "\"label\":\"tab here  .\"",
                                          "\"label\":\"new\\nline\"",
                                          "\"label\":\"\xef\xbf\xbd\xef\xbf\xbd(\"",
                                          "\"label\":\"\xe2\x82\xac \xf0\x9f\x98\x80\"",
                                          "\"label\":\"csi \xef\xbf\xbd\xef\xbf\xbd.\""};
    enum { labels = sizeof given / sizeof *given };
    for (int i = 0; i < labels; i++) {
        vow_promise *promise = named(given[i], &resolver);
        fulfil(resolver, vow_none());
        vow_promise_release(promise);
    }
    vow_promise *overlong = named(longest, &resolver);
    fulfil(resolver, vow_none());
    vow_promise_release(overlong);
    vow_promise *renamed = named("before", &resolver);
    vow_promise_set_label(renamed, "after");
    vow_promise_set_label(renamed, NULL);
    vow_promise_set_label(no_promise, "nobody");
    fulfil(resolver, vow_none());
    vow_promise_release(renamed);
    char *text = end_trace();
    for (int i = 0; i < labels; i++) {
        if (!CHECK(FIND(text, line, "\"ph\":\"b\"", written[i]))) {
            printf("# %s\n", written[i]);
        }
    }
    longest[255] = '"';
    longest[256] = 0;
    CHECK(FIND(text, line, "\"ph\":\"b\"", longest));
    longest[255] = 'l';
    longest[256] = '"';
    longest[257] = 0;
    CHECK_INT_EQ(COUNT(text, longest), 0);
    CHECK_INT_EQ(COUNT(text, "before"), 0);
    CHECK_INT_EQ(COUNT(text, "after"), 0);
    free(text);
}

static vow_value reject_it(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_error("test", 1, "no");
}

/* What goes to the standard error output while fn runs; to be freed. */
static char *said_by(void (*fn)(void)) {
    int saved = dup(2);
    const char *path = new_path();
    int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    dup2(file, 2);
    close(file);
    fn();
    dup2(saved, 2);
    close(saved);
    char *text = whole_file(path);
    unlink(path);
    return text;
}

static void leaves_rejections(void) {
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = reject_it;
    reaction.executor = vow_executor_inline();
    vow_promise *plain = then_inline(fulfilled_int(1), reject_it, NULL);
    vow_promise *unnamed = vow_then_with(fulfilled_int(1), &reaction);
    reaction.label = "at first";
    vow_promise *renamed = vow_then_with(fulfilled_int(1), &reaction);
    vow_promise *kept = vow_then_with(fulfilled_int(1), &reaction);
    vow_promise_set_label(plain, "plain");
    vow_promise_set_label(unnamed, "unnamed");
    vow_promise_set_label(renamed, "renamed");
    vow_promise_release(plain);
    vow_promise_release(unnamed);
    vow_promise_release(renamed);
    vow_promise_release(kept);
}

TEST("reports of unhandled rejections have the label that the promise has now, and its site") {
    vow_trace_stop();
    CHECK_INT_EQ(vow_trace_start(NULL), 0);
    char *text = said_by(leaves_rejections);
    CHECK(FIND(text, line, "of 'plain' made at "));
    CHECK(FIND(text, line, "of 'unnamed' made at "));
    CHECK(FIND(text, line, "of 'renamed' made at "));
    CHECK(FIND(text, line, "of 'at first' made at "));
    CHECK_INT_EQ(COUNT(text, "unhandled rejection"), 4);
    free(text);
    CHECK_INT_EQ(vow_trace_stop(), 0);
    text = said_by(leaves_rejections);
    CHECK_INT_EQ(COUNT(text, "of 'at first'"), 2);
    CHECK_INT_EQ(COUNT(text, "made at"), 0);
    free(text);
}

__attribute__((noinline)) static vow_promise *made_here(vow_resolver **resolver) {
    vow_promise *promise = vow_promise_create(resolver);
    vow_promise_set_label(promise, "site plain");
    return promise;
}

__attribute__((noinline)) static vow_promise *combined_here(void) {
    vow_promise *two[2] = {fulfilled_int(1), vow_delay(50 * MILLISECOND)};
    vow_promise *all = vow_all(two, 2);
    vow_promise_set_label(all, "site all");
    return all;
}

static vow_value wait_a_while(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_from_promise(vow_delay(50 * MILLISECOND));
}

__attribute__((noinline)) static vow_promise *mapped_here(void) {
    vow_value one = vow_int(1);
    vow_promise *map = vow_map(vow_list(&one, 1), wait_a_while, NULL, 0);
    vow_promise_set_label(map, "site map");
    return map;
}

/* Of the program, which comes first. */
static int take_base(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    *(uintptr_t *)context = object->dlpi_addr;
    return 1;
}

/* Whether the site is the program's, and in the 512 bytes behind the function. */
static void site_is_in(const char *text, const char *label, const void *function) {
    char site[600];
    char name[80];
    snprintf(name, sizeof name, "\"label\":\"%s\"", label);
    CHECK(FIND(text, line, "\"ph\":\"b\"", name));
    if (!CHECK(text_after(line, "\"site\":", site, sizeof site))) {
        return;
    }
    CHECK(strncmp(site, program_invocation_short_name, strlen(program_invocation_short_name)) == 0);
    const char *plus = strchr(site, '+');
    uintptr_t base = 0;
    dl_iterate_phdr(take_base, &base);
    if (CHECK(plus != NULL)) {
        uintptr_t at = base + strtoull(plus + 1, NULL, 16);
        if (!CHECK(at > (uintptr_t)function && at < (uintptr_t)function + 512)) {
            printf("# %s is at %s\n", label, site);
        }
    }
}

TEST("a promise's site is the program's function that made it") {
    begin_trace();
    vow_resolver *resolver;
    vow_promise *promise = made_here(&resolver);
    fulfil(resolver, vow_none());
    vow_promise_release(promise);
    CHECK_INT_EQ(code_of(combined_here()), 0);
    CHECK_INT_EQ(code_of(mapped_here()), 0);
    char *text = end_trace();
    site_is_in(text, "site plain", (const void *)(uintptr_t)made_here);
    site_is_in(text, "site all", (const void *)(uintptr_t)combined_here);
    site_is_in(text, "site map", (const void *)(uintptr_t)mapped_here);
    free(text);
}
