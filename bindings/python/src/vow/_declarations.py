"""What include/vow.h declares, as cffi reads it.

Pointers to the library's own things and to contexts are whole numbers here (`handle`): they travel in
the same registers, and cost no Python object. A value is three words without the union, which cffi
cannot pass by value; all of the union's members travel in the same register. A test holds each
function against the header.
"""

DECLARATIONS = """
typedef uintptr_t handle;

typedef struct { uint32_t kind; uint32_t reserved; int64_t bits; } vow_value;

typedef vow_value (*vow_handler)(vow_value input, handle context);
typedef vow_value (*vow_reducer)(vow_value accumulated, vow_value item, handle context);
typedef bool (*vow_condition)(vow_value state, handle context);
typedef void (*vow_notice)(handle context);
typedef void (*vow_unhandled_hook)(vow_value error, handle context);
typedef void (*vow_progress_handler)(double fraction, const char *note, handle context);

typedef struct {
    size_t size;
    const char *name;
    vow_notice destroy;
    bool (*subscribe)(handle pointer, handle resolver);
} vow_class;

typedef struct {
    size_t size;
    vow_handler on_fulfilled;
    vow_handler on_rejected;
    handle context;
    vow_notice destroy;
    handle executor;
    handle token;
    uint32_t flags;
    const char *label;
} vow_reaction;

typedef struct {
    size_t size;
    handle context;
    vow_notice destroy;
    handle executor;
    handle token;
    const char *label;
} vow_call;

typedef void (*vow_work)(handle work);

typedef struct {
    size_t size;
    void (*submit)(handle context, vow_work run, handle work);
    bool (*current)(handle context);
    vow_notice destroy;
    uint32_t flags;
} vow_executor_class;

typedef struct {
    size_t size;
    uint64_t attempts;
    int64_t first_delay_ns;
    double factor;
    int64_t max_delay_ns;
    double jitter;
    int64_t deadline_ns;
    vow_condition may_retry;
} vow_retry_policy;

typedef struct {
    size_t size;
    uint64_t created;
    uint64_t settled;
    uint64_t live;
    uint64_t pending;
    uint64_t handlers;
    uint64_t bytes;
    uint64_t spare;
} vow_statistics;

vow_value vow_string(const char *utf8, size_t length);
vow_value vow_object(handle pointer, const vow_class *cls);
vow_value vow_list(const vow_value *items, size_t count);
vow_value vow_error(const char *domain, int64_t code, const char *message);
vow_value vow_error_wrap(const char *domain, int64_t code, const char *message,
                         vow_value cause_or_payload);
vow_value vow_error_plain(vow_value error);
vow_value vow_from_promise(handle promise);
vow_value vow_value_retain(vow_value value);
void vow_value_release(vow_value value);
const char *vow_string_bytes(vow_value value, size_t *length);
handle vow_object_pointer(vow_value value, const vow_class *cls);
size_t vow_list_count(vow_value value);
vow_value vow_list_at(vow_value value, size_t index);
const char *vow_error_domain(vow_value value);
int64_t vow_error_code(vow_value value);
const char *vow_error_message(vow_value value);
vow_value vow_error_payload(vow_value value);
int vow_value_describe(vow_value value, char *buffer, size_t size);
const char *vow_error_name(int64_t code);

handle vow_promise_create(handle *resolver);
handle vow_promise_create_with(handle *resolver, uint32_t flags);
handle vow_promise_with(vow_value value);
handle vow_promise_retain(handle promise);
void vow_promise_release(handle promise);
uint32_t vow_promise_state(handle promise);
bool vow_promise_peek(handle promise, vow_value *out);
bool vow_resolve(handle resolver, vow_value value);
bool vow_reject(handle resolver, vow_value error);
handle vow_resolver_retain(handle resolver);
void vow_resolver_release(handle resolver);

handle vow_then_with(handle promise, const vow_reaction *reaction);
int vow_await(handle promise, int64_t timeout_ns, vow_value *out);

handle vow_executor_inline(void);
handle vow_executor_pool(void);
handle vow_executor_main(void);
handle vow_executor_serial(const char *label);
handle vow_executor_custom(const vow_executor_class *cls, handle context);
handle vow_executor_retain(handle executor);
void vow_executor_release(handle executor);
void vow_executor_set_default(handle executor);
handle vow_executor_current(void);

handle vow_loop_create(void);
handle vow_loop_create_virtual(void);
int vow_loop_advance(handle loop, int64_t ns);
handle vow_loop_executor(handle loop);
int vow_loop_fd(handle loop);
int vow_loop_run_once(handle loop, int64_t timeout_ns);
int vow_loop_run_until(handle loop, handle promise, int64_t timeout_ns);
void vow_loop_wake(handle loop);
void vow_loop_destroy(handle loop);
handle vow_fd_ready(int fd, uint32_t events);

int64_t vow_now(void);
handle vow_delay(int64_t ns);
handle vow_timeout(handle promise, int64_t ns);
handle vow_retry_with(const vow_retry_policy *policy, vow_handler fn, const vow_call *call);
int64_t vow_error_attempts(vow_value value);

bool vow_cancel(handle promise);
bool vow_cancel_with(handle promise, vow_value reason);
handle vow_shield(handle promise);
int vow_resolver_on_cancel(handle resolver, vow_notice fn, handle context, vow_notice destroy);
handle vow_cancel_source_create(void);
handle vow_cancel_source_create_linked(const handle *parents, size_t count);
void vow_cancel_source_release(handle source);
bool vow_cancel_source_cancel_with(handle source, vow_value reason);
handle vow_cancel_source_token(handle source);
handle vow_token_retain(handle token);
void vow_token_release(handle token);
int vow_token_on_cancel(handle token, vow_notice fn, handle context, vow_notice destroy);
bool vow_token_is_cancelled(handle token);
vow_value vow_token_reason(handle token);

handle vow_all(const handle *promises, size_t count);
handle vow_all_settled(const handle *promises, size_t count);
handle vow_any(const handle *promises, size_t count);
handle vow_some(const handle *promises, size_t count, size_t wanted);
handle vow_race(const handle *promises, size_t count);
handle vow_map_with(vow_value list, vow_handler fn, size_t concurrency, const vow_call *call);
handle vow_reduce_with(const handle *promises, size_t count, vow_value initial, vow_reducer fn,
                       const vow_call *call);
handle vow_repeat_with(vow_value state, vow_condition again, vow_handler step,
                       const vow_call *call);
int64_t vow_error_index(vow_value value);
handle vow_scope_create(void);
int vow_scope_add(handle scope, handle promise);
void vow_scope_cancel(handle scope);
handle vow_scope_close(handle scope);
void vow_scope_release(handle scope);

void vow_context_set(vow_value context);
vow_value vow_context_get(void);
void vow_on_unhandled(vow_unhandled_hook hook, handle context);
uint32_t vow_version(void);
int vow_stats(vow_statistics *out);
int64_t vow_shutdown(int64_t timeout_ns);
"""

# Not in every library that this package can be used with: looked up when they are called.
NEWER_DECLARATIONS = """
typedef struct {
    size_t size;
    uint32_t flags;
    int64_t deadline_ns;
    int64_t grace_ns;
    const char *label;
} vow_scope_options;

handle vow_scope_create_with(const vow_scope_options *options);
int vow_promise_set_progress(handle promise, double fraction, const char *note);
int vow_resolver_set_progress(handle resolver, double fraction, const char *note);
int vow_on_progress_with(handle promise, int64_t interval_ns, vow_progress_handler fn,
                         const vow_call *call);
int vow_token_register(handle token, vow_notice fn, handle context, vow_notice destroy,
                       handle *registration);
int vow_resolver_register(handle resolver, vow_notice fn, handle context, vow_notice destroy,
                          handle *registration);
uint32_t vow_registration_leave(handle registration);
uint32_t vow_registration_stage(handle registration);
void vow_registration_release(handle registration);
int vow_current_set_progress(double fraction, const char *note);
size_t vow_trim(void);
int vow_trace_start(const char *path);
int vow_trace_stop(void);
int vow_graph_write(int fd, uint32_t format);
void vow_promise_set_label(handle promise, const char *label);
handle vow_using_with(handle resource, vow_handler use, vow_handler release, const vow_call *call);
"""

# Of the extension, which is the gate as well, and of libc.
EXTENSION_DECLARATIONS = """
typedef void (*vow_submit)(handle context, vow_work run, handle work);
typedef vow_value (*gate_make_error)(const char *domain, int64_t code, const char *message);

vow_handler gate_handler(unsigned number, vow_handler function);
vow_reducer gate_reducer(unsigned number, vow_reducer function);
vow_condition gate_condition(unsigned number, vow_condition function);
vow_notice gate_notice(unsigned number, vow_notice function);
vow_unhandled_hook gate_unhandled(unsigned number, vow_unhandled_hook function);
vow_progress_handler gate_progress(unsigned number, vow_progress_handler function);
vow_submit gate_submit(unsigned number, vow_submit function);
void gate_open(gate_make_error error);
void gate_close(void);
long gate_wait(long milliseconds);
void gate_forked(void);
void gate_shutdown_begin(int64_t (*function)(int64_t timeout_ns), int64_t timeout_ns);
bool gate_shutdown_wait(long milliseconds, int64_t *result);

typedef void (*nothing)(void);

void *malloc(size_t size);
"""
