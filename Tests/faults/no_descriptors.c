/* Tests a process that has no descriptor left, as in a flood of connections: time, the pool and
 * serial executors need none, and what does says so. */
#include "limited.h"
#include <dirent.h>
#include <errno.h>

#define MOST 64
static int first_taken = MOST;

static void take_all_descriptors(void) {
    struct rlimit limit;
    CHECK_INT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = MOST;
    CHECK_INT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (int taken = dup(1); taken >= 0; taken = dup(1)) {
        first_taken = taken < first_taken ? taken : first_taken;
    }
    CHECK_INT_EQ(errno, EMFILE);
}

/* Sanitizers look at the process once more when it ends. */
static void give_descriptors_back(void) {
    for (int taken = first_taken; taken < MOST; taken++) {
        close(taken);
    }
}

static vow_value fail_twice(vow_value attempt, void *context) {
    (void)context;
    return attempt.as.integer < 3 ? vow_error("test", 1, "not yet") : vow_value_retain(attempt);
}

static void use_all(void) {
    vow_retry_policy policy = {sizeof policy, 3, 1000, 1, 0, 0, 0, NULL};
    vow_resolver *resolver;
    vow_executor *serial = vow_executor_serial(NULL);
    CHECK_INT_EQ(code_of(vow_delay(MILLISECOND)), 0);
    CHECK_INT_EQ(code_of(vow_timeout(vow_promise_create(&resolver), MILLISECOND)), VOW_ETIMEDOUT);
    CHECK_INT_EQ(int_of(vow_retry(&policy, fail_twice, NULL)), 3);
    CHECK_INT_EQ(int_of(then_on(vow_executor_pool(), fulfilled_int(1), add_one, NULL)), 2);
    CHECK_INT_EQ(int_of(then_on(serial, fulfilled_int(1), add_one, NULL)), 2);
    CHECK_INT_EQ(code_of(vow_fd_ready(0, VOW_WRITE)), VOW_ENOMEM);
    CHECK(vow_loop_create() == NULL);
    vow_resolver_release(resolver);
    vow_executor_release(serial);
}

static void play_first_use(void) {
    take_all_descriptors();
    use_all();
    give_descriptors_back();
}

TEST("the first delay, time-out, retry, pool and serial work need no descriptor; what does is "
     "VOW_ENOMEM") {
    goes_well("first use");
}

/* What was begun before goes on. */
static void play_in_the_middle(void) {
    int ends[2];
    char byte = 1;
    CHECK_INT_EQ(pipe(ends), 0);
    vow_promise *readable = vow_fd_ready(ends[0], VOW_READ);
    vow_promise *delay = vow_delay(20 * MILLISECOND);
    take_all_descriptors();
    CHECK_INT_EQ(write(ends[1], &byte, 1), 1);
    CHECK_INT_EQ(int_of(readable), VOW_READ);
    CHECK_INT_EQ(int_of(vow_fd_ready(ends[1], VOW_WRITE)), VOW_WRITE);
    CHECK_INT_EQ(code_of(delay), 0);
    give_descriptors_back();
    close(ends[0]);
    close(ends[1]);
}

TEST("what watched a descriptor before the last one was gone goes on, and takes more") {
    goes_well("in the middle");
}

static int open_descriptors(void) {
    struct dirent *entry;
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        count += entry->d_name[0] != '.';
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return count;
}

static void play_counting(void) {
    enum { WATCHES = 20 };
    vow_promise *watches[WATCHES];
    int ends[2];
    CHECK_INT_EQ(pipe(ends), 0);
    int before = open_descriptors();
    vow_loop *loop = vow_loop_create();
    CHECK_INT_EQ(open_descriptors() - before, 3);
    CHECK_INT_EQ(int_of(vow_fd_ready(ends[1], VOW_WRITE)), VOW_WRITE);
    CHECK_INT_EQ(open_descriptors() - before, 3);
    vow_loop_destroy(loop);
    CHECK_INT_EQ(open_descriptors(), before);
    for (int i = 0; i < WATCHES; i++) {
        watches[i] = vow_fd_ready(ends[0], VOW_READ);
    }
    CHECK_INT_EQ(code_of(vow_delay(MILLISECOND)), 0);
    CHECK_INT_EQ(int_of(then_on(vow_executor_pool(), fulfilled_int(1), add_one, NULL)), 2);
    CHECK_INT_EQ(open_descriptors() - before, 1);
    for (int i = 0; i < WATCHES; i++) {
        vow_promise_release(watches[i]);
    }
    close(ends[0]);
    close(ends[1]);
}

TEST("a loop has three descriptors until it is destroyed, all watches off loops one") {
    goes_well("counting");
}

static const limited_scene scenes[] = {{"counting", play_counting},
                                       {"first use", play_first_use},
                                       {"in the middle", play_in_the_middle},
                                       {NULL, NULL}};

int main(int count, char **arguments) {
    return limited_main(count, arguments, scenes);
}
