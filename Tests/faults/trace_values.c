/* Tests that what values hold, passwords perhaps, does not stand in a trace unless that is asked
 * for. The program runs itself. */
#define HARNESS_OWN_MAIN
#include "traces.h"

static void settle_secretly(void) {
    static const char secret[] = "hunter2-hunter2";
    vow_value list[2] = {vow_string(secret, sizeof secret - 1), vow_int(860860)};
    label_with("token", vow_string(secret, sizeof secret - 1));
    label_with("number", vow_int(860860));
    label_with("list", vow_list(list, 2));
    label_with("error", vow_error_wrap("net", 17, secret, vow_string(secret, sizeof secret - 1)));
    label_with("nothing", vow_none());
    label_with("truth", vow_bool(true));
    label_with("share", vow_double(0.860860));
    label_with("address", vow_pointer(list));
}

static void ignore(vow_value error, void *context) {
    (void)error;
    (void)context;
}

MODE(has_secrets, "has secrets") {
    vow_on_unhandled(ignore, NULL);
    settle_secretly();
}

TEST("values stand in a trace by kind and length, and nothing of what they hold") {
    static const char *const kinds[][2] = {
        {"\"name\":\"token\"", "\"value\":\"string of 15 bytes\""},
        {"\"name\":\"number\"", "\"value\":\"integer\""},
        {"\"name\":\"list\"", "\"value\":\"list of 2\""},
        {"\"name\":\"error\"", "\"error\":\"net 17\",\"value\":\"error net 17\""},
        {"\"name\":\"nothing\"", "\"value\":\"none\""},
        {"\"name\":\"truth\"", "\"value\":\"bool\""},
        {"\"name\":\"share\"", "\"value\":\"double\""},
        {"\"name\":\"address\"", "\"value\":\"pointer\""},
    };
    char line[8192];
    new_path();
    CHECK_INT_EQ(run_self("has secrets", "VOW_TRACE", trace_path, NULL), 0);
    char *text = whole_file(trace_path);
    CHECK_INT_EQ(COUNT(text, "hunter2"), 0);
    CHECK_INT_EQ(COUNT(text, "860860"), 0);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!CHECK(FIND(text, line, "\"ph\":\"e\"", kinds[i][0], kinds[i][1]))) {
            printf("# no %s\n", kinds[i][1]);
        }
    }
    free(text);
    setenv("VOW_TRACE_VALUES", "0", 1);
    CHECK_INT_EQ(run_self("has secrets", "VOW_TRACE", trace_path, NULL), 0);
    text = whole_file(trace_path);
    CHECK_INT_EQ(COUNT(text, "hunter2"), 0);
    free(text);
    setenv("VOW_TRACE_VALUES", "1", 1);
    CHECK_INT_EQ(run_self("has secrets", "VOW_TRACE", trace_path, NULL), 0);
    unsetenv("VOW_TRACE_VALUES");
    text = whole_file(trace_path);
    unlink(trace_path);
    CHECK_INT_EQ(COUNT(text, "hunter2"), 3);
    CHECK(FIND(text, line, "\"name\":\"number\"", "\"value\":\"860860\""));
    free(text);
}

int main(int count, char **arguments) {
    return traces_main(count, arguments);
}
