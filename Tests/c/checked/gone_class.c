/* Tests the checked build: an object, or an executor, whose class is gone is named where it is
 * used. */
#include "aborts.h"
#include <sys/mman.h>

/* Memory that is gone after that, as the data of a shared object that is unloaded. */
static void *map(void) {
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        abort();
    }
    return memory;
}

static void destroy_nothing(void *pointer) {
    (void)pointer;
}

static vow_value object_without_class(void) {
    vow_class *class = map();
    *class = (vow_class){sizeof *class, "plug", destroy_nothing, NULL};
    vow_value object = vow_object(class, class);
    munmap(class, 4096);
    return object;
}

static void release_object(void) {
    vow_value_release(object_without_class());
}

static void release_error(void) {
    vow_value_release(vow_error_wrap("test", 1, NULL, object_without_class()));
}

static void read_object(void) {
    (void)vow_object_pointer(object_without_class(), &counter_class);
}

static void ask_object(void) {
    (void)vow_as_object(object_without_class(), &counter_class, NULL);
}

static void describe_object(void) {
    vow_value_describe(object_without_class(), NULL, 0);
}

static void resolve_with_object(void) {
    vow_promise_release(vow_promise_with(object_without_class()));
}

TEST("an object whose class is gone is named by its class, wherever it is used") {
    static void (*const parts[])(void) = {release_object, release_error,   read_object,
                                          ask_object,     describe_object, resolve_with_object};
    for (int i = 0; i < 6; i++) {
        check_aborts(parts[i], "vow: the class plug of an object is gone");
    }
}

static void release_changed(void) {
    static vow_class class = {sizeof class, "plug", destroy_nothing, NULL};
    vow_value object = vow_object(NULL, &class);
    class.name = "another";
    vow_value_release(object);
}

TEST("memory that was used anew for something else is no class") {
    check_aborts(release_changed, "vow: the class plug of an object is gone");
}

static void run_at_once(void *context, void (*run)(void *), void *work) {
    (void)context;
    run(work);
}

static bool is_never_current(void *context) {
    (void)context;
    return false;
}

static vow_executor *executor_without_class(bool is_listed) {
    vow_executor_class *class = map();
    *class = (vow_executor_class){.size = sizeof *class, .submit = run_at_once};
    class->current = is_listed ? is_never_current : NULL;
    vow_executor *executor = vow_executor_custom(class, NULL);
    munmap(class, 4096);
    return executor;
}

static void release_executor(void) {
    vow_executor_release(executor_without_class(false));
}

static void submit_to_executor(void) {
    vow_detach(vow_async(executor_without_class(false), add_one, NULL));
}

static void look_for_current(void) {
    (void)executor_without_class(true);
    (void)vow_executor_current();
}

TEST("so is an executor") {
    check_aborts(release_executor, "vow: the class of an executor is gone");
    check_aborts(submit_to_executor, "vow: the class of an executor is gone");
    check_aborts(look_for_current, "vow: the class of an executor is gone");
}
