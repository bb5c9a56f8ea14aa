/* 16-waits-for.c: a program that waits for something that never comes asks what that is.
 *
 * Tracing need not be written into a program: VOW_TRACK=1 or VOW_TRACE=file in the environment do
 * the same, and a debugger shows the same (see docs/debugging.md).
 */
#define _POSIX_C_SOURCE 200809L
#include <string.h>

#include "common.h"

static vow_value greet(vow_value input, void *context) {
    (void)input, (void)context;
    return vow_string("hello", VOW_NUL_TERMINATED);
}

/* Prints what the graph says of each pending promise: its name. */
static void print_pending(FILE *graph) {
    char line[1024];
    while (fgets(line, sizeof line, graph) != NULL) {
        char *label = strstr(line, "\"label\":\"");
        if (strstr(line, "\"state\":\"pending\"") != NULL && label != NULL) {
            label += strlen("\"label\":\"");
            printf("  pending: %.*s\n", (int)strcspn(label, "\""), label);
        }
    }
}

int main(void) {
    vow_resolver *user, *password;
    FILE *graph = tmpfile();
    if (graph == NULL || vow_trace_start(NULL) != 0) {
        return 1;
    }
    vow_promise *answers[] = {vow_promise_create(&user), vow_promise_create(&password)};
    vow_promise_set_label(answers[0], "user");
    vow_promise_set_label(answers[1], "password");
    vow_promise *login = vow_then(vow_all(answers, 2), greet, NULL);
    vow_resolve(user, vow_string("ada", VOW_NUL_TERMINATED));

    if (vow_await(login, 20 * VOW_MS, NULL) == VOW_PENDING) {
        printf("nobody has logged in, because of:\n");
        /* As a picture, for Graphviz: VOW_GRAPH_DOT. */
        vow_graph_write(fileno(graph), VOW_GRAPH_JSON);
        rewind(graph);
        print_pending(graph);
    }
    fclose(graph);
    vow_trace_stop();

    vow_resolve(password, vow_string("secret", VOW_NUL_TERMINATED));
    vow_resolver_release(user);
    vow_resolver_release(password);
    show_result("at last", login);
    return nothing_left();
}
