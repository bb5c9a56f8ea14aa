/* vow.h: promises for C.
 *
 * Copyright 2026 the Vow authors. SPDX-License-Identifier: Apache-2.0
 *
 * Chapters, simple things first:
 *   1. Values                    what a promise carries
 *   2. Errors                    why a promise is rejected
 *   3. Promises and resolvers    reading and settling, two capabilities
 *   4. Chaining                  then, catch, finally
 *   5. Waiting                   blocking until a promise settles
 *   6. Where handlers run        executors
 *   7. Event loops               promises in a program's own loop
 *   8. Time                      delays, time-outs, retries
 *   9. Cancellation              stopping work that nobody wants any more
 *  10. Combinators               many promises as one
 *  11. Context                   a value that travels along a chain
 *  12. Unhandled rejections
 *  13. Memory
 *  14. Looking inside            version, statistics, shutdown
 *  15. Progress                  how far the work for a promise is
 *  16. Tracing                   what waits for what, and what has happened
 *
 * Rules that hold for every function here
 *
 *   Ownership has three words, one for every pointer and value below. "borrowed": the library uses
 *   it during the call. "consumed": the caller gives one reference away, whatever the call
 *   returns. "owned": the caller gets one reference.
 *
 *   Threads: every function may be called from any thread, and from inside any handler, destructor
 *   or hook. Callbacks never run while the library holds a lock, so they may call every function,
 *   also on the same promise. No function is a cancellation point of pthread_cancel. No handler of
 *   the pool is one, nor any inside vow_loop_run_once and _until.
 *
 *   Callbacks, by the thread they run on and how often. Each callback sees the context (chapter
 *   11) of the code that registered it; the last two see none.
 *
 *     handler of a reaction,         its executor         at most once, before its promise
 *     of vow_async                                        settles; vow_finally: once
 *     functions of vow_map, reduce,  the call's executor  for each item, step or attempt, one
 *     repeat, retry, using                                after the other on each lane
 *     destroy of these               that executor (pool  once, before the promise settles,
 *                                    and inline: any      also where no handler ran
 *                                    thread)
 *     notified of a cancellation     the cancelling or    at most once; a promise settles after
 *     (chapter 9), its destroy       releasing thread     it, and its destroy comes once
 *     progress listener              its executor         often, one at a time
 *     destroy of that                the same             once, when no call is to come
 *     hook of unhandled rejections   the last releaser    once for each
 *     destroy of an object           the last releaser    once
 *
 *   Callbacks return. A callback that an exception, pthread_exit or the cancellation of its thread
 *   leaves ends the process with a sentence on standard error; after vow_shutdown, the promises of
 *   such a thread stay pending instead. A callback that longjmp leaves ends the process at the
 *   next wait; in a checked build at the next call.
 *
 *   NULL and wrong arguments: where a promise is returned, the answer is a
 *   promise rejected with VOW_EINVAL whose message names function and argument;
 *   where a value is returned, such an error; where an int is returned, a
 *   negative VOW_E... code. Consumed arguments are released all the same.
 *   Retaining or releasing NULL does nothing.
 *
 *   Out of memory: where a promise is returned, it is rejected with VOW_ENOMEM; where a value is
 *   returned, it is such an error. Settling a promise allocates nothing and so cannot fail (only a
 *   thenable object needs memory). Reports of unhandled rejections and the end of a trace need no
 *   memory; a trace leaves out events that it has no memory for. A thread whose first call finds
 *   no memory gets one of sixteen reserved places; without a free place the process ends.
 *
 *   Dropping an owned result is a mistake, and GCC and clang report it (VOW_OWNED), except for the
 *   functions that retain: they return their argument.
 *
 *   Since: a declaration without another mark exists since 0.1.0.
 */
#ifndef VOW_H
#define VOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Marks for compilers and importers. VOW_IMPLEMENTATION is defined only where
 * the library itself is compiled: it must accept NULL wherever C can pass it. */
/* clang-format off */
#ifndef __has_attribute
#define __has_attribute(x) 0
#endif
#if defined(__clang__) && !defined(VOW_IMPLEMENTATION)
#define VOW_NULLABLE _Nullable
#define VOW_NONNULL _Nonnull
#define VOW_ASSUME_NONNULL_BEGIN                                                                   \
    _Pragma("clang diagnostic push")                                                               \
    _Pragma("clang diagnostic ignored \"-Wnullability-extension\"")                                \
    _Pragma("clang assume_nonnull begin")
#define VOW_ASSUME_NONNULL_END                                                                     \
    _Pragma("clang assume_nonnull end")                                                            \
    _Pragma("clang diagnostic pop")
#else
#define VOW_NULLABLE
#define VOW_NONNULL
#define VOW_ASSUME_NONNULL_BEGIN
#define VOW_ASSUME_NONNULL_END
#endif
/* clang-format on */
/* A callback that the library may call on another thread. */
#if __has_attribute(swift_attr) && !defined(VOW_IMPLEMENTATION)
#define VOW_SENDABLE __attribute__((swift_attr("@Sendable")))
#else
#define VOW_SENDABLE
#endif
#if defined(__GNUC__)
#define VOW_API __attribute__((visibility("default")))
#else
#define VOW_API
#endif
/* An owned result: a caller that drops it leaks it, or wants vow_detach. */
#if defined(__GNUC__) && !defined(VOW_IMPLEMENTATION)
#define VOW_OWNED __attribute__((warn_unused_result))
#else
#define VOW_OWNED
#endif

#ifdef __cplusplus
extern "C" {
#endif

VOW_ASSUME_NONNULL_BEGIN

/* ------------------------------------------------------------------ 1. Values
 *
 * A value is 16 bytes and travels in two registers. Scalars carry their content
 * themselves; the other kinds point to an immutable, counted box. Copying the
 * struct copies no reference: retain where you keep one.
 *
 * The kind decides what a value does when a promise is resolved with it or a
 * handler returns it: VOW_PROMISE is adopted, VOW_ERROR rejects, a VOW_OBJECT
 * whose class has `subscribe` is subscribed to, everything else fulfils.
 */

/** A promise: reads a result that is there now or later. Counted; chapter 3. */
typedef struct vow_promise vow_promise;

/** The other end of a promise: settles it. Counted; chapter 3. */
typedef struct vow_resolver vow_resolver;

/** Runs handlers. Counted; chapter 6. */
typedef struct vow_executor vow_executor;

/** Runs handlers in a program's event loop. Has one owner; chapter 7. */
typedef struct vow_loop vow_loop;

/** A right to learn that work is no longer wanted. Counted; chapter 9. */
typedef struct vow_token vow_token;

/** The kind of a value. Not an enum, so that its width is the same everywhere. */
typedef uint32_t vow_kind;
#define VOW_NONE 0u    /**< no content */
#define VOW_BOOL 1u    /**< as.boolean */
#define VOW_INT 2u     /**< as.integer */
#define VOW_DOUBLE 3u  /**< as.real */
#define VOW_POINTER 4u /**< as.pointer, which nobody owns */
#define VOW_STRING 5u  /**< counted, read with vow_string_bytes */
#define VOW_OBJECT 6u  /**< counted, read with vow_object_pointer */
#define VOW_LIST 7u    /**< counted, read with vow_list_at */
#define VOW_ERROR 8u   /**< counted, read with vow_error_code */
#define VOW_PROMISE 9u /**< counted: a promise as a value */

/** A value. `reserved` is 0 where C makes a value; Swift and C++ use it, so copy values
 * as a whole. `as.pointer` of a counted kind belongs to the
 * library: read it with the functions below only. */
typedef struct vow_value {
    vow_kind kind;     /**< says which content is meant */
    uint32_t reserved; /**< 0; not for C */
    union {
        bool boolean;               /**< of a VOW_BOOL */
        int64_t integer;            /**< of a VOW_INT */
        double real;                /**< of a VOW_DOUBLE */
        void *VOW_NULLABLE pointer; /**< of a VOW_POINTER; of a counted kind the library's */
    } as;                           /**< the content */
} vow_value;

/** The value without content. Allocates nothing. */
static inline vow_value vow_none(void) {
    vow_value value;
    value.kind = VOW_NONE;
    value.reserved = 0;
    value.as.integer = 0;
    return value;
}

/** A truth value. Allocates nothing. */
static inline vow_value vow_bool(bool boolean) {
    vow_value value = vow_none();
    value.kind = VOW_BOOL;
    value.as.boolean = boolean;
    return value;
}

/** A whole number. Allocates nothing. */
static inline vow_value vow_int(int64_t integer) {
    vow_value value = vow_none();
    value.kind = VOW_INT;
    value.as.integer = integer;
    return value;
}

/** A floating-point number. Allocates nothing. */
static inline vow_value vow_double(double real) {
    vow_value value = vow_none();
    value.kind = VOW_DOUBLE;
    value.as.real = real;
    return value;
}

/** A plain pointer that nobody owns; NULL is allowed. Allocates nothing. For a
 * pointer that is to be freed, see vow_object. */
static inline vow_value vow_pointer(void *VOW_NULLABLE pointer) {
    vow_value value = vow_none();
    value.kind = VOW_POINTER;
    value.as.pointer = pointer;
    return value;
}

/** As a length: the string ends at its first NUL byte. */
#define VOW_NUL_TERMINATED SIZE_MAX

/** A copy of `length` bytes (borrowed), as an owned string. UTF-8 by convention;
 * the bytes are not checked. A NUL byte is appended and not counted.
 * NULL: allowed with length 0, else an error VOW_EINVAL. Too long: VOW_ENOMEM. */
VOW_API VOW_OWNED vow_value vow_string(const char *VOW_NULLABLE utf8, size_t length);

/** The behaviour of the objects of one class. It must outlive every object of the class,
 * unchanged; a shared object that holds it is not unloaded before. A checked build ends the
 * process when an object is used whose class is gone, and names the class. */
typedef struct vow_class {
    size_t size;      /**< sizeof(vow_class), so that the struct may grow */
    const char *name; /**< for messages; a static string */

    /** Frees the object; called once, at the last release, on the thread that
     * released it. May be NULL. May call every function of this header. */
    void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE pointer);

    /** Makes the class a thenable: a promise resolved with such an object calls this once, with
     * a resolver (consumed: keep it or release it), and follows the value that the resolver
     * gets, now or later, from any thread. The library releases the object when this returns
     * true: code that settles later keeps what it needs. Returning false means "no thenable":
     * unless the resolver was used before, the promise is fulfilled with the object itself, and
     * a kept resolver has no effect any more. Runs as handlers on the inline executor do. May
     * be NULL; does not change while objects live. */
    bool (*VOW_NULLABLE subscribe)(void *VOW_NULLABLE pointer, vow_resolver *resolver);
} vow_class;

/** An owned object: `pointer` (consumed: class->destroy frees it at the last
 * release, also when this call fails) together with its class (borrowed for as
 * long as the object lives). cls NULL or of a wrong size: an error VOW_EINVAL,
 * and the pointer is left alone. */
VOW_API VOW_OWNED vow_value vow_object(void *VOW_NULLABLE pointer, const vow_class *cls);

/** An owned list of `count` values (each consumed, also when this call fails). items NULL:
 * allowed with count 0, else an error VOW_EINVAL. A count that no array can have: VOW_ENOMEM,
 * and the items are not consumed. The items of a list never reject or get adopted. */
VOW_API VOW_OWNED vow_value vow_list(const vow_value *VOW_NULLABLE items, size_t count);

/** An owned error. domain and message are copied (borrowed); message may be NULL.
 * domain NULL: an error VOW_EINVAL instead. The library's own domain is "vow". */
VOW_API VOW_OWNED vow_value vow_error(const char *domain, int64_t code,
                                      const char *VOW_NULLABLE message);

/** As vow_error, with a cause or payload of any kind (consumed). */
VOW_API VOW_OWNED vow_value vow_error_wrap(const char *domain, int64_t code,
                                           const char *VOW_NULLABLE message,
                                           vow_value cause_or_payload);

/** A copy (owned) of an error (borrowed) as data alone: domain, code, message, vow_error_index,
 * vow_error_attempts, and the payload without objects and promises, in lists and causes too, up
 * to 64 deep and a million values; vow_none() takes the place of the rest. The copy calls no
 * function of the program, so it outlives a shared object with the classes of the original.
 * Another kind: an error VOW_EINVAL. */
VOW_API VOW_OWNED vow_value vow_error_plain(vow_value error);

/** A promise (consumed) as a value (owned): returned from a handler or given to
 * vow_resolve, it is adopted. NULL: an error VOW_EINVAL. */
VOW_API VOW_OWNED vow_value vow_from_promise(vow_promise *promise);

/** One more reference to a value (borrowed), which is returned, owned. Does
 * nothing for kinds without a count. */
VOW_API vow_value vow_value_retain(vow_value value);

/** Gives one reference back (consumed). Does nothing for kinds without a count.
 * The last one frees, and runs the destructors of objects, with constant stack
 * however deep the value is nested. */
VOW_API void vow_value_release(vow_value value);

/** The bytes of a string (borrowed), NUL-terminated; NULL for other kinds.
 * length (may be NULL) receives their number, 0 for other kinds. */
VOW_API const char *VOW_NULLABLE vow_string_bytes(vow_value value, size_t *VOW_NULLABLE length);

/** The pointer of an object (borrowed); NULL for other kinds and when the
 * object's class is not `cls` (NULL: any class). */
VOW_API void *VOW_NULLABLE vow_object_pointer(vow_value value, const vow_class *VOW_NULLABLE cls);

/** The number of items in a list (borrowed); 0 for other kinds. */
VOW_API size_t vow_list_count(vow_value value);

/** The item at `index` (borrowed, lives as long as the list); vow_none() for
 * other kinds and beyond the end. */
VOW_API vow_value vow_list_at(vow_value value, size_t index);

/** The domain of an error (borrowed): the name of the set that its code belongs to. NULL for
 * other kinds. */
VOW_API const char *VOW_NULLABLE vow_error_domain(vow_value value);

/** The code of an error (borrowed); 0 for other kinds. */
VOW_API int64_t vow_error_code(vow_value value);

/** The message of an error (borrowed), never NULL; NULL for other kinds. */
VOW_API const char *VOW_NULLABLE vow_error_message(vow_value value);

/** The cause or payload of an error (borrowed), borrowed: it lives as long as the
 * error. vow_none() if there is none, and for other kinds. */
VOW_API vow_value vow_error_payload(vow_value value);

/** Whether a value (borrowed) is a VOW_BOOL; if so, *out (NULL: not wanted) is its content.
 * Each of these readers is for one kind and converts nothing; for another kind it returns false
 * and does not write to its out-parameters. */
VOW_API bool vow_as_bool(vow_value value, bool *VOW_NULLABLE out);

/** Whether a value (borrowed) is a VOW_INT; if so, *out (NULL: not wanted) is its
 * content. */
VOW_API bool vow_as_int(vow_value value, int64_t *VOW_NULLABLE out);

/** Whether a value (borrowed) is a VOW_DOUBLE; if so, *out (NULL: not wanted) is its
 * content. */
VOW_API bool vow_as_double(vow_value value, double *VOW_NULLABLE out);

/** Whether a value (borrowed) is a VOW_POINTER; if so, *out (NULL: not wanted) is the
 * pointer. */
VOW_API bool vow_as_pointer(vow_value value, void *VOW_NULLABLE *VOW_NULLABLE out);

/** Whether a value (borrowed) is a VOW_STRING; if so, *bytes (borrowed; NULL: not
 * wanted) are its bytes, NUL-terminated, and *length (NULL: not wanted) is their
 * number. The bytes live as long as the value. */
VOW_API bool vow_as_string(vow_value value, const char *VOW_NULLABLE *VOW_NULLABLE bytes,
                           size_t *VOW_NULLABLE length);

/** Whether a value (borrowed) is a VOW_OBJECT of the class `cls` (NULL: of any class);
 * if so, *pointer (borrowed; NULL: not wanted) is its pointer, which lives as long as
 * the value. */
VOW_API bool vow_as_object(vow_value value, const vow_class *VOW_NULLABLE cls,
                           void *VOW_NULLABLE *VOW_NULLABLE pointer);

/** Whether a value (borrowed) is a VOW_LIST; if so, *count (NULL: not wanted) is the
 * number of its items, which vow_list_at reads. */
VOW_API bool vow_as_list(vow_value value, size_t *VOW_NULLABLE count);

/** Whether a value (borrowed) is a VOW_ERROR; if so, *domain (borrowed; NULL: not
 * wanted) and *code (NULL: not wanted) are its own. The domain lives as long as the
 * value. */
VOW_API bool vow_as_error(vow_value value, const char *VOW_NULLABLE *VOW_NULLABLE domain,
                          int64_t *VOW_NULLABLE code);

/** Whether a value (borrowed) is a VOW_PROMISE; if so, *promise (borrowed; NULL: not
 * wanted) is that promise. It lives as long as the value: retain it to keep it. */
VOW_API bool vow_as_promise(vow_value value, vow_promise *VOW_NULLABLE *VOW_NULLABLE promise);

/** Writes a text for people about a value (borrowed) into buffer: at most size bytes, NUL
 * included. Lists are abbreviated 8 deep and after 1,000 values. Returns the length of the
 * whole text, without NUL, as snprintf does. buffer NULL: allowed with size 0, else VOW_EINVAL. */
VOW_API int vow_value_describe(vow_value value, char *VOW_NULLABLE buffer, size_t size);

/* ------------------------------------------------------------------ 2. Errors
 *
 * Codes of the domain "vow". A call that returns int gives them as they are; a
 * rejected promise carries them as vow_error_code of its error.
 */

#define VOW_EINVAL (-1)     /**< a wrong argument; the message names function and argument */
#define VOW_ENOMEM (-2)     /**< out of memory, threads or descriptors */
#define VOW_EFORKED (-3)    /**< needs the library's threads, which a forked child has not */
#define VOW_EBROKEN (-4)    /**< the last resolver was released without resolving */
#define VOW_ECYCLE (-5)     /**< the promise would have to wait for itself */
#define VOW_ECANCELLED (-6) /**< cancelled */
#define VOW_ETIMEDOUT (-7)  /**< took too long */
#define VOW_EDEADLOCK (-8)  /**< the wait would block the awaited work */
#define VOW_EAGGREGATE (-9) /**< several failed; the payload is the list of their errors */
#define VOW_ESHUTDOWN (-10) /**< the loop, scope or library that had the work has ended */
#define VOW_EREASON (-11)   /**< rejected with a value that is no error; the payload is the value */

/** The name of a code, such as "VOW_EINVAL": a static string; "unknown" for a
 * number that is none of the above. */
VOW_API const char *vow_error_name(int64_t code);

/* -------------------------------------------------- 3. Promises and resolvers
 *
 * A promise is pending, then settled: fulfilled with a value or rejected with
 * an error, once and for ever. Resolved is not settled: a promise that was
 * resolved with a pending promise is resolved (nobody else can decide about it)
 * and still pending, until the other one settles.
 *
 * Both handles are counted on their own. When the last resolver of a promise is
 * released before it was resolved, the promise is rejected with VOW_EBROKEN.
 */

/** Where a promise stands. */
typedef uint32_t vow_state;
#define VOW_PENDING 0u   /**< not settled */
#define VOW_FULFILLED 1u /**< settled, with a value */
#define VOW_REJECTED 2u  /**< settled, with an error */

/** A pending promise (owned); *resolver (owned) settles it. Out of memory: the
 * promise is rejected with VOW_ENOMEM and the resolver ignores everything.
 * resolver NULL: a promise rejected with VOW_EINVAL. */
VOW_API VOW_OWNED vow_promise *vow_promise_create(vow_resolver *VOW_NULLABLE *VOW_NONNULL resolver);

/** A flag of vow_promise_create_with: the work behind the promise cannot stop at once (a kernel
 * still writes into a buffer, a thread works on). Cancelling the promise only notifies its
 * producer (vow_resolver_on_cancel). The promise stays pending until the producer resolves it
 * or releases the resolver, and is then rejected with VOW_ECANCELLED: vow_resolve releases the
 * value, or cancels the promise that it was given, and returns false. (As the resource of a
 * vow_using the promise is fulfilled with that value, and vow_using releases it.) */
#define VOW_COOPERATIVE 1u

/** As vow_promise_create, with flags: 0 or VOW_COOPERATIVE. Others: a promise rejected
 * with VOW_EINVAL, and *resolver is NULL. */
VOW_API VOW_OWNED vow_promise *
vow_promise_create_with(vow_resolver *VOW_NULLABLE *VOW_NONNULL resolver, uint32_t flags);

/** A promise (owned) resolved with a value (consumed), by its kind: fulfilled, rejected,
 * adopting, or subscribing. For a VOW_PROMISE the result is that promise itself. */
VOW_API VOW_OWNED vow_promise *vow_promise_with(vow_value value);

/** One more reference (owned); returns promise (borrowed). A promise has room for a hundred
 * million references; one more ends the process with a sentence. */
VOW_API vow_promise *VOW_NULLABLE vow_promise_retain(vow_promise *VOW_NULLABLE promise);

/** Gives a reference (consumed) back. A chain of any length is freed with
 * constant stack. May report an unhandled rejection, see chapter 12. */
VOW_API void vow_promise_release(vow_promise *VOW_NULLABLE promise);

/** Gives a reference (consumed) back, and lets the work that leads to promise go on to its end
 * as if it had a reader. A chain goes on after vow_promise_release, too. But the last
 * vow_promise_release of a delay, a descriptor, a combined promise or a promise with a resolver
 * notifies the producer, which ends it (chapter 9); vow_detach does not. A rejection is
 * reported as unhandled, unless another reader handles it; another handle can still cancel
 * promise. Needs a little memory while promise is pending; without memory, promise is only
 * released. NULL: nothing happens. */
VOW_API void vow_detach(vow_promise *VOW_NULLABLE promise);

/** The state at this moment (promise borrowed). NULL: VOW_PENDING. */
VOW_API vow_state vow_promise_state(vow_promise *promise);

/** Whether the promise (borrowed) is settled; if so, *out (may be NULL) is its
 * value or error, borrowed: it lives as long as the promise. Otherwise *out is
 * vow_none(). Receiving an error through `out` counts as having handled it. */
VOW_API bool vow_promise_peek(vow_promise *promise, vow_value *VOW_NULLABLE out);

/** Resolves the promise of a resolver (borrowed) with a value (consumed), by its kind. Returns
 * true for the first call; later calls, from any thread, have no effect and return false.
 * Promises that wait for each other in a ring of any length, by adoption or chaining, are
 * rejected with VOW_ECYCLE. So are rings through a promise that needs each of its members (all,
 * all_settled, map, reduce, repeat, retry, scopes), within 1,024 such members inside each
 * other and 256 members of a scope. A ring through any, race, some or a time-out is
 * none: another member, or time, can end it. Inline handlers run before this returns; inside a
 * handler, after that handler. resolver NULL: false. */
VOW_API bool vow_resolve(vow_resolver *resolver, vow_value value);

/** Rejects with an error (consumed); otherwise as vow_resolve. A value that is no error becomes
 * the payload of an error VOW_EREASON; the promise's own handle as such a payload would keep it
 * alive for ever. */
VOW_API bool vow_reject(vow_resolver *resolver, vow_value error);

/** One more reference (owned); returns resolver (borrowed). A promise has room for two million
 * resolver references; one more ends the process with a sentence. */
VOW_API vow_resolver *VOW_NULLABLE vow_resolver_retain(vow_resolver *VOW_NULLABLE resolver);

/** Gives a reference (consumed) back; releasing the last one of an unresolved promise rejects
 * it with VOW_EBROKEN. A promise that no handle, reaction or adopting promise reads is not
 * rejected, and nothing is reported. */
VOW_API void vow_resolver_release(vow_resolver *VOW_NULLABLE resolver);

/* ---------------------------------------------------------------- 4. Chaining
 *
 * Each function makes a new promise from one that it consumes, so that
 * p = vow_then(p, ...) neither leaks nor needs a temporary. To branch, pass
 * vow_promise_retain(p).
 *
 * The handlers of one promise on one executor start in the order in which they
 * were registered. A handler never runs inside another one, and, except on the
 * inline executor, never inside the call that registered or resolved.
 */

/** A handler. input is borrowed: to return it, return vow_value_retain(input). The library owns
 * the result, which resolves the new promise by its kind. context is the pointer given at
 * registration. */
typedef vow_value (*vow_handler)(vow_value input, void *VOW_NULLABLE context);

/** Runs fn with the value once promise (consumed) is fulfilled; a rejection
 * passes through. Returns the promise of fn's result (owned). */
VOW_API VOW_OWNED vow_promise *vow_then(vow_promise *promise, VOW_SENDABLE vow_handler fn,
                                        void *VOW_NULLABLE context);

/** Runs fn with the error once promise (consumed) is rejected; a value passes through. The
 * result of fn decides: a value recovers, an error rejects again. Returns the promise of fn's
 * result (owned). */
VOW_API VOW_OWNED vow_promise *vow_catch(vow_promise *promise, VOW_SENDABLE vow_handler fn,
                                         void *VOW_NULLABLE context);

/** Runs fn with the value or error once promise (consumed) is settled, and then passes that
 * outcome on. fn's own result counts only if it is an error, which rejects, or a promise, which
 * is waited for and counts if it is rejected. It then replaces an error of promise, which is
 * reported as unhandled (chapter 12), unless promise has another observer, or fn's error has it
 * as a cause or has the same words. Returns the new promise (owned). */
VOW_API VOW_OWNED vow_promise *vow_finally(vow_promise *promise, VOW_SENDABLE vow_handler fn,
                                           void *VOW_NULLABLE context);

/** A flag of a reaction: both handlers are as vow_finally's. */
#define VOW_FINALLY 1u

/** The options of one link. Set size, leave the rest 0. */
typedef struct vow_reaction {
    size_t size;                           /**< sizeof(vow_reaction) */
    vow_handler VOW_NULLABLE on_fulfilled; /**< NULL: a value passes through */
    vow_handler VOW_NULLABLE on_rejected;  /**< NULL: an error passes through */
    void *VOW_NULLABLE context;            /**< for the handlers */
    /** Frees the context, exactly once, before the new promise settles: after the handler has
     * returned and the promise that it returned, if any, has settled; or when it is certain
     * that no handler will run. Runs on the executor, also when no handler runs; with the pool
     * or the inline executor, on any thread; if the executor refuses work (its loop was
     * destroyed), on the thread that finds that out. So a link without a handler to run waits
     * for its executor only if it has a destroy. Each level of a recursion through such
     * promises keeps its context until the last level ends. May be NULL. */
    void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE context);
    vow_executor *VOW_NULLABLE executor; /**< borrowed; NULL: see chapter 6 */
    vow_token *VOW_NULLABLE token;       /**< borrowed; see chapter 9 */
    uint32_t flags;                      /**< 0 or VOW_FINALLY */
    const char *VOW_NULLABLE label;      /**< names the link in messages; a static string */
} vow_reaction;

/** Registers a reaction (borrowed) on promise (consumed); returns the promise of
 * the handler's result (owned). If the call fails, destroy(context) runs. */
VOW_API VOW_OWNED vow_promise *vow_then_with(vow_promise *promise, const vow_reaction *reaction);

/** A context that several links share: `size` bytes, zeroed and aligned to 16, with a reference
 * count of 1 (owned). Each link has its own reference: context = vow_box_retain(box), destroy =
 * vow_box_release. destroy(box) (may be NULL) runs once, at the last release, and the memory is
 * freed. NULL: no memory, or no such size. */
VOW_API VOW_OWNED void *VOW_NULLABLE
vow_box_create(size_t size, void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE box));

/** One more reference (owned); returns box (borrowed). */
VOW_API void *VOW_NULLABLE vow_box_retain(void *VOW_NULLABLE box);

/** Gives a reference (consumed) back. Serves as the `destroy` of any context. */
VOW_API void vow_box_release(void *VOW_NULLABLE box);

/** A code for vow_catch_if: every code. */
#define VOW_ANY_CODE INT64_MIN

/** As vow_catch, for errors of one domain (borrowed and copied; NULL: every domain) and one
 * code (VOW_ANY_CODE: every code). Other errors pass through. */
VOW_API VOW_OWNED vow_promise *vow_catch_if(vow_promise *promise, const char *VOW_NULLABLE domain,
                                            int64_t code, VOW_SENDABLE vow_handler fn,
                                            void *VOW_NULLABLE context);

/* ----------------------------------------------------------------- 5. Waiting */

/** A time-out: no limit. */
#define VOW_FOREVER (-1)

/** Blocks until promise (borrowed) is settled, for at most timeout_ns nanoseconds
 * of the monotonic clock; 0 looks and returns, VOW_FOREVER never gives up.
 * Returns VOW_FULFILLED or VOW_REJECTED, with *out (owned; NULL: not wanted) the
 * value or error; or VOW_PENDING when the time is up; or, with *out vow_none():
 *   VOW_EINVAL     promise is NULL or the time-out is negative
 *   VOW_EDEADLOCK  the wait would block the serial or VOW_BARRIER executor that
 *                  has to run the awaited work; or a handler, the destructor of
 *                  its context or a subscribe waits for its own result, or for
 *                  handlers that wait, without a time-out, for that result or for
 *                  work that this wait holds up
 *   VOW_EFORKED    in a forked child, for work that was left with the parent, or a
 *                  promise that another thread was changing at that moment
 *   VOW_ENOMEM     the wait would take the last thread of the pool (chapter 6), and
 *                  the system gives no other one
 * vow_all gives VOW_EDEADLOCK if one member can never settle, though another could reject it; any,
 * race and some only if no member can. A vow_timeout is no end of such a wait. The library does
 * not recognise a wait whose end depends on facts of the program: a resolver of the waiting
 * thread, a vow_executor_main or custom executor that only the waiting thread serves, or another
 * loop of this thread. Having waited for a rejection counts as having handled it. On the thread of
 * an event loop (chapter 7) vow_await runs the loop instead of blocking it; a handler of the loop,
 * and a fiber (chapter 6), are suspended.
 *
 * Inside a handler on the pool or a serial executor, a wait lends its place in the pool while
 * it blocks, if need be to a new thread: waiting there cannot starve the pool. A wait without a
 * time-out, in a handler on the pool or outside of handlers, first runs, itself, the pool's
 * reaction that the promise waits for, if that is ready and no worker has begun it. So a handler of
 * the pool may run on a thread of the program that would only sleep: in the pool's name
 * (vow_executor_current), with that thread's thread-local variables and signal mask; what its
 * context's destructor makes belongs to that thread. Outside of handlers a thread that has less
 * than 512 KiB of stack left runs none, nor does the thread of an event loop. The waiting thread
 * also runs inline handlers that no other thread could run. */
VOW_API int vow_await(vow_promise *promise, int64_t timeout_ns, vow_value *VOW_NULLABLE out);

/** As vow_await, and gives promise (consumed) up at the end: if the time was up, or the wait was
 * refused, promise is cancelled, unless it has another reader. So straight-line code has nothing to
 * give back: `vow_take(fetch(url), 5 * VOW_SECOND, &page)`. */
VOW_API int vow_take(vow_promise *promise, int64_t timeout_ns, vow_value *VOW_NULLABLE out);

/** Sets whether waits of the calling thread on the thread of an event loop nest (false at first),
 * and returns what was set before. Else the library suspends a handler that waits there with its
 * stack, and runs others meanwhile; the handlers may end in another order. For the binding of a
 * language whose calls must end in reverse order, as an interpreter's: set it around each wait. */
VOW_API bool vow_nest_waits(bool nest);

/* ------------------------------------------------------- 6. Where handlers run
 *
 * A reaction runs on its executor. A reaction that names none gets the executor of the thread that
 * registered it: inside a handler the handler's, on the thread of an event loop (chapter 7) the
 * loop's, elsewhere the default, which is the pool unless vow_executor_set_default changed it.
 *
 * The pool has threads of its own, named "vow worker"; the first is made when the pool, a serial
 * executor or a timer off loops is first used. So handing work over needs no memory and no new
 * thread. If the system gives not even the first thread, the work is rejected with VOW_ENOMEM. As
 * many reactions of the pool run at a time as there are processors that the process may use, at
 * least two; as many handlers of serial executors run beside them, so that neither kind holds up
 * the other. A handler that waits in vow_await does not count, nor one that a waiting thread of the
 * program runs itself. Nor does a handler that sleeps in
 * the system and has had next to no processor time for 10 milliseconds, for up to 256 handlers.
 * There are never more than 2,048 threads. Threads that are not needed end after 200 milliseconds.
 * The program's threads take the signals sent to the process: the pool's threads block all signals
 * but SIGPROF and those that a thread brings on itself.
 *
 * In a child made by fork these threads and libdispatch's are gone: work there for the pool, main,
 * serial or dispatch executors is rejected with VOW_EFORKED; inline and custom executors go on. A
 * handler that another thread was running at the moment of the fork never ends in the child: its
 * promise stays pending there. So does a promise that another thread was changing at that moment:
 * in the child resolving and cancelling it do nothing and return false, a reaction on it waits for
 * ever, vow_await answers VOW_EFORKED, and it can be released.
 */

/** The executor that runs handlers at once, as the last act of the outermost vow call on the
 * settling thread (for a settled promise, on the registering thread); inside handlers,
 * destructors or hooks, when the outermost of these has returned. While another thread still
 * runs earlier inline handlers of that settled promise, the new handler lines up behind them:
 * that thread runs it, perhaps after the registering call has returned. Borrowed, immortal. */
VOW_API vow_executor *vow_executor_inline(void);

/** The library's own threads: handlers run in parallel, and begin in order (except a handler
 * that a waiting thread runs itself, see vow_await). Borrowed, immortal. */
VOW_API vow_executor *vow_executor_pool(void);

/** The dispatch main queue, which the program must run (dispatch_main or a run loop). Serial.
 * Borrowed, immortal. In a process without libdispatch, which the library neither links nor
 * loads, its work is rejected with VOW_ESHUTDOWN. */
VOW_API vow_executor *vow_executor_main(void);

/** A new serial executor (owned) on the pool's threads: one handler at a time, in
 * order. label (borrowed and copied, may be NULL) names it in traces. Out of memory:
 * NULL, which later means "none given". */
VOW_API VOW_OWNED vow_executor *VOW_NULLABLE vow_executor_serial(const char *VOW_NULLABLE label);

/** Each handler is a barrier block: it has a concurrent queue for itself. */
#define VOW_BARRIER 1u
/** The queue is serial: handlers travel to it in one dispatch, and a handler's wait for work
 * that must run there is refused with VOW_EDEADLOCK. (In a block that the program itself sends
 * to the queue such a wait is not recognised.) */
#define VOW_SERIAL 2u

/** An executor (owned) on a dispatch_queue_t of the program (retained for as long as the
 * executor lives). flags: 0, VOW_BARRIER or VOW_SERIAL. Queue NULL, other flags, out of memory,
 * no libdispatch in the process: NULL. libdispatch hands work to such a queue, and to the main
 * one: without memory or a thread it sleeps until it has them. */
VOW_API VOW_OWNED vow_executor *VOW_NULLABLE vow_executor_dispatch(void *dispatch_queue,
                                                                   uint32_t flags);

/** The behaviour of a program's own executor. It must outlive the executor, unchanged, as a
 * vow_class its objects. */
typedef struct vow_executor_class {
    size_t size; /**< sizeof(vow_executor_class) */

    /** Takes one piece of work and must call run(work) exactly once, later, on any thread; in
     * the order of submission if the executor is serial. Called on the thread that settles or
     * registers, with no lock held; it should not wait. A run(work) inside submit itself is put
     * off until the running vow call ends; a serial executor must not call it there, because it
     * would not know when the work has run. A run(work) that the program calls inside a handler
     * runs there. */
    void (*submit)(void *VOW_NULLABLE context, void (*run)(void *work), void *work);

    /** Whether the calling thread belongs to the executor: then reactions made there without an
     * executor run on it. May be NULL: never, except inside its handlers. Called for each such
     * reaction, and wait, outside of handlers and loops, so it should be quick. The executor
     * that last answered true on this thread is asked first; on a thread that belongs to none,
     * each such executor is called. If several answer true, one of them is taken. */
    bool (*VOW_NULLABLE current)(void *VOW_NULLABLE context);

    /** Frees the context, once, when the executor and all its work are gone. */
    void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE context);

    uint32_t flags; /**< 0, or VOW_SERIAL: one handler at a time, in order */
} vow_executor_class;

/** An executor (owned) of the program's own. cls NULL, without submit, of a wrong
 * size or with other flags, or out of memory: NULL, and destroy(context) runs if
 * there is one. */
VOW_API VOW_OWNED vow_executor *VOW_NULLABLE vow_executor_custom(const vow_executor_class *cls,
                                                                 void *VOW_NULLABLE context);

/** One more reference (owned); returns executor (borrowed). */
VOW_API vow_executor *VOW_NULLABLE vow_executor_retain(vow_executor *VOW_NULLABLE executor);

/** Gives a reference (consumed) back. Work that was given to it still runs. */
VOW_API void vow_executor_release(vow_executor *VOW_NULLABLE executor);

/** Sets the executor (borrowed, kept) of reactions registered outside of any handler from now
 * on, in the whole process. NULL: the pool again. Meant for the program, not for libraries in
 * it. */
VOW_API void vow_executor_set_default(vow_executor *VOW_NULLABLE executor);

/** The executor that a reaction registered here and now would run on. Borrowed:
 * retain it to keep it. */
VOW_API vow_executor *vow_executor_current(void);

/** Runs fn(vow_none(), context) on an executor (borrowed; NULL: as for a reaction
 * without one). Returns the promise (owned) of its result. */
VOW_API VOW_OWNED vow_promise *vow_async(vow_executor *VOW_NULLABLE executor,
                                         VOW_SENDABLE vow_handler fn, void *VOW_NULLABLE context);

/** The options of a call of the program's functions. Set size, leave the rest 0. */
typedef struct vow_call {
    size_t size;                /**< sizeof(vow_call) */
    void *VOW_NULLABLE context; /**< for the functions */
    /** Frees the context, exactly once, before the new promise settles: when no call of the
     * functions is running or to come and the promises that they returned have settled. May be
     * NULL. */
    void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE context);
    vow_executor *VOW_NULLABLE executor; /**< borrowed; NULL: that of a reaction made here */
    vow_token *VOW_NULLABLE token;       /**< borrowed; cancelled, it cancels the new promise */
    const char *VOW_NULLABLE label;      /**< names the promise in messages; a static string */
} vow_call;

/** As vow_async, with a call (borrowed; NULL: no options). If it fails, destroy(context) runs,
 * except for a wrong size. */
VOW_API VOW_OWNED vow_promise *vow_async_with(VOW_SENDABLE vow_handler fn,
                                              const vow_call *VOW_NULLABLE call);

/** The options of a fiber. Set size, leave the rest 0. */
typedef struct vow_fiber_options {
    size_t size;                   /**< sizeof(vow_fiber_options) */
    size_t stack;                  /**< bytes, 1 GiB at most; 0: 64 KiB */
    vow_token *VOW_NULLABLE token; /**< borrowed; cancelled, it cancels the fiber */
    /** Frees the context, exactly once, before the fiber's promise settles: when body has returned
     * or will not run, and a promise that it returned has settled. May be NULL. */
    void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE context);
    const char *VOW_NULLABLE label; /**< names the fiber in messages; a static string */
} vow_fiber_options;

/** Runs body(vow_none(), context) as a fiber: on a stack of its own, and on an executor (borrowed;
 * NULL: that of a reaction made here). While body waits, in vow_await, vow_take or
 * vow_loop_run_until of its loop, it holds no thread: the executor goes on with other work, and the
 * fiber goes on as one more piece of the executor's work when its promise has settled or its time
 * is up. Time passes on the clock of the thread's loop, exactly on a virtual one. Returns the
 * promise (owned) of body's result; options (borrowed) may be NULL. Bad arguments, and no memory
 * for a stack: it is rejected, and destroy(context) runs, except for a wrong size.
 *
 * On a loop a fiber stays on the loop's thread. Elsewhere it may go on on another one after each
 * wait: it must not hold a lock across a wait, and must read errno and thread-local variables anew.
 * A wait blocks the thread, as in a handler, if body is not its direct caller: in an inline handler
 * or a destructor that runs inside a vow call of body.
 *
 * A fiber is cancelled like other work (chapter 10): from then on its waits for pending promises,
 * the present one too, answer VOW_REJECTED with the cancellation, except for a vow_shield; body
 * cleans up, and the promise settles when it has returned. Besides vow_await's codes a wait gives
 * VOW_ECYCLE if the fiber would wait for itself, also through other fibers; and VOW_ESHUTDOWN if
 * the fiber's executor takes no more work when the wait would end. Then body goes on on the thread
 * that found that out.
 *
 * A write beyond the stack's end ends the process: with the fiber's label on standard error, unless
 * the program handles SIGSEGV itself. Stacks are mapped from the system, with a guard page each,
 * and kept for later fibers; vow_set_allocator does not concern them. In a process with shadow
 * stacks (x86-64) no fiber can run: each is rejected with VOW_ENOMEM. */
VOW_API VOW_OWNED vow_promise *vow_fiber(vow_executor *VOW_NULLABLE executor,
                                         VOW_SENDABLE vow_handler body, void *VOW_NULLABLE context,
                                         const vow_fiber_options *VOW_NULLABLE options);

/** Lets the executor of the running fiber do other work first. Returns 0, or VOW_EINVAL: body is
 * not the direct caller. */
VOW_API int vow_fiber_yield(void);

/** As vow_catch_if, with a call (borrowed; see vow_call). */
VOW_API VOW_OWNED vow_promise *vow_catch_if_with(vow_promise *promise,
                                                 const char *VOW_NULLABLE domain, int64_t code,
                                                 VOW_SENDABLE vow_handler fn,
                                                 const vow_call *VOW_NULLABLE call);

/** Whether the promise of the handler that is running on this thread was cancelled, so that
 * long work can end early: its result has no reader. Also true inside vow_map and its like if
 * their promise was cancelled or another item has failed. Outside of handlers: false. */
VOW_API bool vow_current_is_cancelled(void);

/* -------------------------------------------------------------- 7. Event loops
 *
 * A loop puts promises into the program's event loop. It is a serial executor whose handlers run
 * inside vow_loop_run_once, on the program's own thread, and a file descriptor that is readable
 * exactly while there is work: a handler, a timer that is due, a ready descriptor of vow_fd_ready.
 * With more than eight timers it may rarely be readable early, a few times for many of them.
 * One poll, epoll, libuv or GLib source is enough, without a thread.
 *
 * A loop's thread is the thread that made it or that last ran it. Reactions that are made there
 * without an executor, outside of other executors' handlers, run on the loop; delays and
 * vow_fd_ready use it; and vow_await runs it instead of blocking.
 *
 * A handler that waits on its loop, in vow_await or vow_loop_run_until, is suspended with its
 * stack, and so is a destructor or hook. The loop goes on with other work: each wait keeps its own
 * time, and vow_loop_run_once may return while handlers wait. A later run on the same thread goes
 * on with them; until then another thread gets VOW_EINVAL if it runs the loop, and must not destroy
 * it (the process ends with a message). If its own thread destroys the loop, or ends, the waits
 * block that thread. Handlers have a stack as large as a thread's (RLIMIT_STACK, 8 MiB at most), of
 * which the system gives what they touch. Without memory for a further stack a wait runs the loop
 * inside itself, and waits end in reverse order; see also vow_nest_waits.
 *
 * In a child made by fork the loop is a copy whose descriptor is still the
 * parent's: the child must destroy it before it uses promises on that thread.
 */

/** A new loop (owned). NULL: no memory, or no descriptors. */
VOW_API VOW_OWNED vow_loop *VOW_NULLABLE vow_loop_create(void);

/** A new loop (owned; NULL: no memory) whose clock stands still until vow_loop_advance moves
 * it, for tests of programs that wait: an hour passes at once, and always in the same way.
 * While vow_loop_run_until and vow_await find nothing else to run there, they move the clock to
 * the next timer. */
VOW_API VOW_OWNED vow_loop *VOW_NULLABLE vow_loop_create_virtual(void);

/** Moves the clock of a virtual loop (borrowed) on by `ns` nanoseconds, running timers and
 * handlers in order of time as vow_loop_run_once does. Returns the number of handlers and
 * timers that ran; VOW_EINVAL: no virtual loop, or a negative time. Time ends at INT64_MAX:
 * later timers come then. */
VOW_API int vow_loop_advance(vow_loop *loop, int64_t ns);

/** The loop's executor. Borrowed: it may be retained and outlive the loop, and then rejects its
 * work with VOW_ESHUTDOWN. Loop NULL: NULL. */
VOW_API vow_executor *VOW_NULLABLE vow_loop_executor(vow_loop *loop);

/** The descriptor of the loop, which owns it: only watch it for input. Level-triggered. NULL:
 * VOW_EINVAL. */
VOW_API int vow_loop_fd(vow_loop *loop);

/** Waits for work, for at most timeout_ns nanoseconds (0: not at all; VOW_FOREVER), and runs it:
 * due timers, handlers, and the work that these hand to the loop, up to a bound that keeps the
 * program's loop alive. Returns how many ran: 0 when the time was up or vow_loop_wake was called.
 * Called inside a handler of the loop, it runs the others.
 *   VOW_EINVAL     loop is NULL, or the time-out is negative; or another thread
 *                  is running the loop
 *   VOW_EDEADLOCK  it is called so deep inside handlers that no stack is left
 *   VOW_ESHUTDOWN  a handler destroyed the loop
 *   VOW_EFORKED    the loop is the parent's */
VOW_API int vow_loop_run_once(vow_loop *loop, int64_t timeout_ns);

/** Runs the loop until promise (borrowed) is settled. Returns as vow_await does,
 * and as vow_loop_run_once if it cannot run. Inside a handler it runs the others. */
VOW_API int vow_loop_run_until(vow_loop *loop, vow_promise *promise, int64_t timeout_ns);

/** Makes a waiting vow_loop_run_once, or else the next one, return. From any thread, and from a
 * signal handler: it only writes to a descriptor once. */
VOW_API void vow_loop_wake(vow_loop *VOW_NULLABLE loop);

/** Ends a loop (consumed). Its queued work, delays and descriptors are rejected with
 * VOW_ESHUTDOWN, and contexts destroyed, before this returns; these rejections of delays and
 * descriptors are not reported as unhandled, here and in vow_shutdown. No other thread may be
 * running the loop. Inside one of its own handlers: the handler ends, and the function that
 * runs the loop returns VOW_ESHUTDOWN. */
VOW_API void vow_loop_destroy(vow_loop *VOW_NULLABLE loop);

/** A descriptor is watched for input, or ready for it. */
#define VOW_READ 1u

/** A descriptor is watched for room for output, or ready for it. */
#define VOW_WRITE 2u

/** A promise (owned) that is fulfilled once fd can be read or written (VOW_READ, VOW_WRITE or
 * both) without blocking, or is at its end or broken: with VOW_INT, the events. On a loop's
 * thread the loop watches fd, elsewhere a thread of the library. Keep fd open until the promise
 * is settled: then the watch has ended, on every thread. Cancelling the promise, or releasing
 * it unsettled, ends the watch before that call returns. If fd is closed while it is watched,
 * the promise is rejected with VOW_EINVAL when another watch of that number begins, fires or
 * ends (in a checked build also when its loop has nothing else to do, or with any watch off
 * loops), and pending until then; an open duplicate of fd is reported under fd's number, also
 * to later watches of that number. A regular file is always ready. Not open: VOW_EINVAL. */
VOW_API VOW_OWNED vow_promise *vow_fd_ready(int fd, uint32_t events);

/* -------------------------------------------------------------------- 8. Time
 *
 * Times are nanoseconds of the monotonic clock. On a loop's thread a timer is the loop's,
 * elsewhere the library's: one thread tells the time, and the pool's threads run the code that
 * timers and descriptors call (inline handlers, hooks, destructors). That code may be slow, or
 * wait for another timer or descriptor: after a millisecond another thread goes on with the next
 * ones. Up to 31 threads may be held up; then the others wait until one returns. Without threads
 * or descriptors for that: VOW_ENOMEM.
 *
 * A timer is removed at once when its promise is cancelled or its last handle and reaction are
 * gone. Timers stand in a wheel through their promises' memory: setting, removing and firing one
 * each take constant time, amortised, however many there are.
 */

/** One nanosecond, the unit of every time of this header: int64_t, as the following. */
#ifdef __cplusplus
#define VOW_NS INT64_C(1)
#else
#define VOW_NS ((int64_t)1)
#endif

/** A microsecond in nanoseconds. */
#define VOW_US (VOW_NS * 1000)

/** A millisecond in nanoseconds: vow_delay(50 * VOW_MS). */
#define VOW_MS (VOW_NS * 1000000)

/** A second in nanoseconds. */
#define VOW_SECOND (VOW_NS * 1000000000)

/** The time in nanoseconds of the clock that a delay made here and now would use: the monotonic
 * clock, or on a virtual loop's thread the virtual one. */
VOW_API int64_t vow_now(void);

/** A promise (owned) that is fulfilled with vow_none() after `ns` nanoseconds, at
 * the earliest. Negative: VOW_EINVAL. Cancelling removes its timer. */
VOW_API VOW_OWNED vow_promise *vow_delay(int64_t ns);

/** Limits promise (consumed) to `ns` nanoseconds: returns a promise (owned) of the same
 * outcome, or of VOW_ETIMEDOUT; then promise is cancelled as by vow_cancel, if it has no other
 * reader. VOW_FOREVER: no limit. Other negative: VOW_EINVAL. */
VOW_API VOW_OWNED vow_promise *vow_timeout(vow_promise *promise, int64_t ns);

/** The number of attempts and the delays between them. Set size, leave unused fields 0. */
typedef struct vow_retry_policy {
    size_t size;            /**< sizeof(vow_retry_policy) */
    uint64_t attempts;      /**< at most so many; 0: without a bound */
    int64_t first_delay_ns; /**< between the first and the second */
    double factor;          /**< each delay is so many times the one before; 0: 2 */
    int64_t max_delay_ns;   /**< but no longer than this; 0: one hour */
    /** The random part of each delay, 0 to 1: a delay d lasts between (1 - jitter) * d and d. 1
     * is "full jitter". */
    double jitter;
    int64_t deadline_ns; /**< all attempts and delays together; 0: none */
    /** Whether to try again after this error (borrowed); runs on the executor, and
     * gets the context of the call. NULL: always. */
    bool (*VOW_NULLABLE may_retry)(vow_value error, void *VOW_NULLABLE context);
} vow_retry_policy;

/** Runs fn on the executor that a reaction made here would get, with the number of the attempt
 * (VOW_INT, from 1), until the promise of its result is fulfilled. Returns the promise (owned)
 * of that value. It is rejected with the last error if may_retry refuses or no attempt is left;
 * at the deadline, which cancels the attempt under way, with VOW_ETIMEDOUT, whose payload is
 * the last error. Both errors carry vow_error_attempts. Cancelling the promise cancels attempt
 * and delay. It settles when no call of fn is running and the promises that they returned have
 * settled. policy (borrowed, copied) NULL: 3 attempts, at once. Wrong policy: VOW_EINVAL. */
VOW_API VOW_OWNED vow_promise *vow_retry(const vow_retry_policy *VOW_NULLABLE policy,
                                         VOW_SENDABLE vow_handler fn, void *VOW_NULLABLE context);

/** As vow_retry, with a call (borrowed; see vow_call). */
VOW_API VOW_OWNED vow_promise *vow_retry_with(const vow_retry_policy *VOW_NULLABLE policy,
                                              VOW_SENDABLE vow_handler fn,
                                              const vow_call *VOW_NULLABLE call);

/** How many attempts vow_retry made before it gave up with this error (borrowed);
 * 0 for other errors and kinds. */
VOW_API int64_t vow_error_attempts(vow_value value);

/* ------------------------------------------------------------ 9. Cancellation
 *
 * Cancelling says that an outcome is not wanted. It is an input, and the handlers decide the
 * result. A cancelled link is never fulfilled. In place of its input it reads VOW_ECANCELLED:
 * success handlers are skipped, handlers of vow_catch and vow_finally run with that error. But a
 * vow_finally whose input has settled already reads that input, so a resource that has just
 * arrived is still given back. An error that such a handler returns passes on; else the link is
 * rejected with VOW_ECANCELLED, and a promise that the handler returned is cancelled.
 *
 * If the link is the last reader of its input, the input is cancelled first, and so on up to the
 * producer, which may have registered to be notified; the rejection comes down from there, or an
 * earlier one. A promise that has another handle or reaction is not cancelled, and the link reads
 * VOW_ECANCELLED at once; but a promise that the link's own handler has returned is waited for,
 * because it may use the context. (A vow_timeout or vow_race around the link ends the wait
 * earlier.) A running handler finishes; then its result is released and its promise rejected. So a
 * chain is rejected before vow_cancel returns if it has no handlers for rejections, no running
 * code and no contexts that another thread's executor destroys.
 *
 * Settled means quiet (G14): when a promise is settled, cancelled or not, its own handler has
 * returned, its context is destroyed, and no call of a function that was given for it (vow_map,
 * vow_reduce, vow_repeat, vow_retry, vow_async, vow_using) is running or to come. Clean-up runs
 * (G15): the handler of a vow_finally, and the release of vow_using, run exactly once, however the
 * chain ends. Only an executor that refuses all work (of a destroyed loop, after vow_shutdown, in
 * a forked child) prevents that; then the context is destroyed, and the rejection says so.
 *
 * Prompt or quiet: vow_timeout, vow_race, vow_any, vow_some and vow_all combine existing promises;
 * they settle at the moment of decision, and the promises that they cancel end later. Scopes,
 * vow_using and the combinators that call functions settle when all of it has ended.
 *
 * Releasing a handle cancels no reaction: a chain without handles runs to its end. But a promise
 * without handles and reactions has no reader, and its producer is notified.
 *
 * A rejection with VOW_ECANCELLED is not reported as unhandled. Nor are the errors of members that
 * lose in vow_race, vow_any, vow_some, vow_all, vow_map and vow_timeout. The error of a
 * vow_finally that is cancelled while its handler runs is reported.
 */

/** Cancels a promise (borrowed), as above. Returns true if it was pending and not cancelled
 * before; else false, without effect. Before this returns (inside a handler, destructor or
 * hook, after that has returned), contexts that may be destroyed here are destroyed, and
 * handlers of the inline executor run. */
VOW_API bool vow_cancel(vow_promise *promise);

/** As vow_cancel, with a reason (consumed). The reason is the payload of the error if the
 * cancellation finds a waiting promise or a running handler; a reaction that handles rejections
 * and that its executor has already reads the plain error. */
VOW_API bool vow_cancel_with(vow_promise *promise, vow_value reason);

/** A promise (owned), the shield, that settles as promise (consumed) does. Cancelling the
 * shield does not cancel promise: the shield waits for it, and is then rejected with
 * VOW_ECANCELLED. So a handler of vow_finally can return clean-up that no cancellation may end.
 * Releasing the shield does not cancel promise either: of the shields of one promise that have
 * no reader one stays, and its rejection is reported as unhandled; the others are freed at
 * once. */
VOW_API VOW_OWNED vow_promise *vow_shield(vow_promise *promise);

/** Calls fn(context) once, if the promise of a resolver (borrowed) is cancelled or loses its
 * last reader before it is resolved: the work for it can stop. Called on the thread that
 * cancels or releases, as its last act, or at once if that has happened already; inside a
 * destructor or another such fn, after that has returned. Not called after the promise was
 * resolved; another thread may resolve it at the moment of the call. destroy(context) (destroy
 * may be NULL) runs exactly once in every case, after fn. Several are called in the order of
 * registration. A cancelled promise settles when all have returned and their contexts are
 * destroyed (G14); a wait for it in fn or destroy is refused with VOW_EDEADLOCK. Returns 0;
 * VOW_EINVAL: resolver or fn is NULL; VOW_ENOMEM. */
VOW_API int
vow_resolver_on_cancel(vow_resolver *resolver, VOW_SENDABLE void (*fn)(void *VOW_NULLABLE context),
                       void *VOW_NULLABLE context,
                       VOW_SENDABLE void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE context));

/** One switch for many reactions: the source cancels, and reactions get its token
 * (vow_reaction.token). Cancelling the source cancels them all, as vow_cancel does, but not the
 * promises that they wait for: they read VOW_ECANCELLED at once. A promise that a handler has
 * returned belongs to its link, and is cancelled. A reaction that has ended has left its token;
 * a reaction made with a cancelled token is cancelled at once. */
typedef struct vow_cancel_source vow_cancel_source;

/** A new source (owned). NULL: no memory, which later means "no token". */
VOW_API VOW_OWNED vow_cancel_source *VOW_NULLABLE vow_cancel_source_create(void);

/** As vow_cancel_source_create; the source is also cancelled when one of `count` other tokens
 * (borrowed; NULL entries are ignored) is, with that token's reason, as long as there are
 * references to the source or its token. Every promise made with the token has one while it
 * exists. At the last release the source leaves its parents. NULL also: parents is NULL with a
 * count, or no array can have that count. */
VOW_API VOW_OWNED vow_cancel_source *VOW_NULLABLE
vow_cancel_source_create_linked(vow_token *VOW_NULLABLE const *VOW_NULLABLE parents, size_t count);

/** One more reference (owned); returns source (borrowed). */
VOW_API vow_cancel_source *VOW_NULLABLE
vow_cancel_source_retain(vow_cancel_source *VOW_NULLABLE source);

/** Gives a reference (consumed) back. After the last release the source's reactions and
 * functions stay, and can only be cancelled by a parent of a linked source. */
VOW_API void vow_cancel_source_release(vow_cancel_source *VOW_NULLABLE source);

/** Cancels a source (borrowed). Returns true the first time, else false without effect. */
VOW_API bool vow_cancel_source_cancel(vow_cancel_source *source);

/** As vow_cancel_source_cancel, with a reason (consumed), the payload of the errors. */
VOW_API bool vow_cancel_source_cancel_with(vow_cancel_source *source, vow_value reason);

/** The token of a source (borrowed), borrowed: it lives as long as the source, or
 * longer, when retained. NULL: NULL. */
VOW_API vow_token *VOW_NULLABLE vow_cancel_source_token(vow_cancel_source *VOW_NULLABLE source);

/** One more reference (owned); returns token (borrowed). */
VOW_API vow_token *VOW_NULLABLE vow_token_retain(vow_token *VOW_NULLABLE token);

/** Gives a reference (consumed) back. After the last release of the token of a freed source,
 * functions registered with it are never called. */
VOW_API void vow_token_release(vow_token *VOW_NULLABLE token);

/** Calls fn(context) once, when the token (borrowed) is cancelled: on the cancelling thread, or
 * at once if it is cancelled already. destroy(context) (may be NULL) runs exactly once: after
 * fn, or when no cancellation is possible any more, because the sources of the token and of all
 * parents, or the tokens, are gone. Returns as vow_resolver_on_cancel. */
VOW_API int
vow_token_on_cancel(vow_token *token, VOW_SENDABLE void (*fn)(void *VOW_NULLABLE context),
                    void *VOW_NULLABLE context,
                    VOW_SENDABLE void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE context));

/** A function registered with a token or a resolver, as a handle with which it can leave.
 * Counted. It keeps no promise and no token. */
typedef struct vow_registration vow_registration;

/** The stage of a registered function. */
typedef uint32_t vow_stage;
#define VOW_WAITING 0u    /**< it may be called still */
#define VOW_RUNNING 1u    /**< it was called, and has not returned */
#define VOW_HAS_RUN 2u    /**< it was called, and has returned */
#define VOW_NEVER_RUNS 3u /**< it was not called, and never will be */

/** As vow_token_on_cancel; *registration (owned) is set before fn can be called, and is NULL
 * after an error. registration NULL: VOW_EINVAL. */
VOW_API int
vow_token_register(vow_token *token, VOW_SENDABLE void (*fn)(void *VOW_NULLABLE context),
                   void *VOW_NULLABLE context,
                   VOW_SENDABLE void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE context),
                   vow_registration *VOW_NULLABLE *VOW_NONNULL registration);

/** As vow_resolver_on_cancel, and vow_token_register. */
VOW_API int
vow_resolver_register(vow_resolver *resolver, VOW_SENDABLE void (*fn)(void *VOW_NULLABLE context),
                      void *VOW_NULLABLE context,
                      VOW_SENDABLE void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE context),
                      vow_registration *VOW_NULLABLE *VOW_NONNULL registration);

/** Takes the function of a registration (borrowed) out: it is not called any more. Takes constant
 * time; allowed anywhere, at any time, also inside the function, and more than once. Returns the
 * stage of the function, never VOW_WAITING:
 *   VOW_NEVER_RUNS  the function is never called. Its context is destroyed before this returns;
 *                   inside a destructor or another such function, after that has returned;
 *                   by another thread if that is cancelling at this moment
 *   VOW_RUNNING     too late: the function is running, on this thread or on another one
 *   VOW_HAS_RUN     the function has returned before
 * The call never waits for a running function, so it cannot block. destroy(context) runs after
 * the function in every case, and so shows its end. NULL: VOW_NEVER_RUNS. */
VOW_API vow_stage vow_registration_leave(vow_registration *VOW_NULLABLE registration);

/** The stage of the function of a registration (borrowed) at this moment. NULL: VOW_NEVER_RUNS. */
VOW_API vow_stage vow_registration_stage(vow_registration *VOW_NULLABLE registration);

/** One more reference (owned); returns registration (borrowed). */
VOW_API vow_registration *VOW_NULLABLE
vow_registration_retain(vow_registration *VOW_NULLABLE registration);

/** Gives a reference (consumed) back. The function stays registered, if it has not left. */
VOW_API void vow_registration_release(vow_registration *VOW_NULLABLE registration);

/** Whether the token (borrowed) is cancelled. NULL: false. */
VOW_API bool vow_token_is_cancelled(vow_token *VOW_NULLABLE token);

/** The reason that a token (borrowed) was cancelled with (owned), else vow_none(). */
VOW_API VOW_OWNED vow_value vow_token_reason(vow_token *VOW_NULLABLE token);

/* ------------------------------------------------------------ 10. Combinators
 *
 * Each combinator makes one promise (owned) of many, in one piece of memory, beside the list of
 * results. `promises` is an array (borrowed) whose promises are consumed; a promise may be in it
 * several times. NULL entries, or an array that is NULL with a count: VOW_EINVAL, and the other
 * promises are released. More than 268 million (INT32_MAX / 8): VOW_ENOMEM, and the promises are
 * not consumed. Results stand in the order of the promises.
 *
 * Once the outcome is decided, the combinator releases the other members at once, and cancels
 * those without another reader. Cancelling the combined promise does the same to all. Releasing it
 * unsettled releases all members but cancels none: it only notifies producers without readers, as
 * in chapter 9. The combinators that call functions (vow_map, vow_reduce, vow_repeat, vow_retry)
 * go on then, as a reaction does, and so do the members of a scope.
 *
 * An error that rejects the combined promise, or stands in the list of VOW_EAGGREGATE, has the
 * domain, code, message and payload of the member's error, and the member's place:
 * vow_error_index.
 */

/** Fulfilled with the VOW_LIST of all values; rejected with the first error. No promises: the
 * empty list. */
VOW_API VOW_OWNED vow_promise *vow_all(vow_promise *VOW_NULLABLE const *VOW_NULLABLE promises,
                                       size_t count);

/** Fulfilled, when all are settled, with the VOW_LIST of all values and errors (VOW_ERROR). No
 * promises: the empty list. */
VOW_API VOW_OWNED vow_promise *
vow_all_settled(vow_promise *VOW_NULLABLE const *VOW_NULLABLE promises, size_t count);

/** Fulfilled with the first value; rejected when all promises are, with VOW_EAGGREGATE, whose
 * payload is the VOW_LIST of all errors. No promises: VOW_EAGGREGATE with an empty list. */
VOW_API VOW_OWNED vow_promise *vow_any(vow_promise *VOW_NULLABLE const *VOW_NULLABLE promises,
                                       size_t count);

/** Fulfilled as soon as `wanted` promises are, with the VOW_LIST of their values (a reference
 * to each), in the order of the promises; the list does not say which promise a value is of.
 * Rejected as soon as too few promises are left, with VOW_EAGGREGATE, whose payload is the
 * VOW_LIST of the errors so far. 0 wanted: the empty list. */
VOW_API VOW_OWNED vow_promise *vow_some(vow_promise *VOW_NULLABLE const *VOW_NULLABLE promises,
                                        size_t count, size_t wanted);

/** Settles as the first promise to settle. No promises: VOW_EINVAL, because a promise that
 * never settles helps no caller. */
VOW_API VOW_OWNED vow_promise *vow_race(vow_promise *VOW_NULLABLE const *VOW_NULLABLE promises,
                                        size_t count);

/** Runs fn with each item of a list (consumed) on the executor that a reaction made here would
 * get; promises that fn returns are waited for. Fulfilled with the VOW_LIST of the results. At
 * most `concurrency` items are under way (0: all together), in order. After the first rejection
 * no further item is begun, and the items under way are cancelled; the promise is rejected when
 * they have ended, and so it is when it is cancelled. Once it is settled, no call of fn is
 * running or to come, and the context can go. Memory: the results and the items under way. Not
 * a list: VOW_EINVAL. */
VOW_API VOW_OWNED vow_promise *vow_map(vow_value list, VOW_SENDABLE vow_handler fn,
                                       void *VOW_NULLABLE context, size_t concurrency);

/** As vow_map, with a call (borrowed; see vow_call). */
VOW_API VOW_OWNED vow_promise *vow_map_with(vow_value list, VOW_SENDABLE vow_handler fn,
                                            size_t concurrency, const vow_call *VOW_NULLABLE call);

/** As a handler, with two inputs, both borrowed. */
typedef vow_value (*vow_reducer)(vow_value accumulated, vow_value item, void *VOW_NULLABLE context);

/** Waits for each promise in turn and runs fn with the accumulated value (at first `initial`,
 * consumed) and the promise's, on the executor that a reaction made here would get; a promise
 * that fn returns is waited for. Fulfilled with the last result. No promises: fulfilled with
 * initial. Once it is settled, the context can go, as in vow_map. */
VOW_API VOW_OWNED vow_promise *vow_reduce(vow_promise *VOW_NULLABLE const *VOW_NULLABLE promises,
                                          size_t count, vow_value initial,
                                          VOW_SENDABLE vow_reducer fn, void *VOW_NULLABLE context);

/** As vow_reduce, with a call (borrowed; see vow_call). */
VOW_API VOW_OWNED vow_promise *
vow_reduce_with(vow_promise *VOW_NULLABLE const *VOW_NULLABLE promises, size_t count,
                vow_value initial, VOW_SENDABLE vow_reducer fn, const vow_call *VOW_NULLABLE call);

/** An asynchronous loop, in constant memory and stack however often it runs: while
 * again(state, context), state (at first consumed) becomes the result of
 * step(state, context), which may be a promise. Both run on the executor that a
 * reaction made here would get. Fulfilled with the last state; a rejected step
 * rejects. When it is settled, the context can go, as in vow_map. */
VOW_API VOW_OWNED vow_promise *
vow_repeat(vow_value state, VOW_SENDABLE bool (*again)(vow_value state, void *VOW_NULLABLE context),
           VOW_SENDABLE vow_handler step, void *VOW_NULLABLE context);

/** As vow_repeat, with a call (borrowed; see vow_call). */
VOW_API VOW_OWNED vow_promise *
vow_repeat_with(vow_value state,
                VOW_SENDABLE bool (*again)(vow_value state, void *VOW_NULLABLE context),
                VOW_SENDABLE vow_handler step, const vow_call *VOW_NULLABLE call);

/** A resource that is given back, however its use ends. When `resource` (consumed) is
 * fulfilled, use runs with its value. When use and the promise that it returned have ended,
 * release runs with the same value; the promise that release returns is waited for. Both run on
 * the executor that a reaction made here would get. The outcome is that of use. A failing
 * release rejects a success; beside another error it is reported as unhandled, and that error
 * stays. Cancelling the returned promise (owned) cancels resource or use, and never release. A
 * value that resource has after a cancellation is released without being used, whether from a
 * resolver, a handler that was running, or through a vow_catch, vow_finally, vow_shield,
 * vow_timeout, vow_retry, vow_reduce or vow_repeat; and the promise is rejected with
 * VOW_ECANCELLED when all has ended. If resource is rejected, so is the promise, and no
 * function runs. Releasing needs no memory. destroy(context) (may be NULL) runs once, before
 * the promise settles. resource, use or release NULL: VOW_EINVAL. Without memory: VOW_ENOMEM,
 * and the resource is cancelled. */
VOW_API VOW_OWNED vow_promise *
vow_using(vow_promise *resource, VOW_SENDABLE vow_handler use, VOW_SENDABLE vow_handler release,
          void *VOW_NULLABLE context,
          VOW_SENDABLE void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE context));

/** As vow_using, with a call (borrowed; see vow_call). */
VOW_API VOW_OWNED vow_promise *vow_using_with(vow_promise *resource, VOW_SENDABLE vow_handler use,
                                              VOW_SENDABLE vow_handler release,
                                              const vow_call *VOW_NULLABLE call);

/** The end of the use, for the release function of vow_using before it returns. VOW_FULFILLED
 * or VOW_REJECTED, and *outcome (may be NULL) is the value or error, borrowed until release
 * returns; VOW_ECANCELLED if the use was cancelled. VOW_PENDING: the use never began.
 * Elsewhere, also in handlers that run inside release: VOW_EINVAL. */
VOW_API int vow_using_ended(vow_value *VOW_NULLABLE outcome);

/** The place, from 0, of the failed member in an error (borrowed) of a combined promise; -1 for
 * other errors and kinds, and if there was no memory for it. */
VOW_API int64_t vow_error_index(vow_value value);

/** The owner of work that must not be left behind: closing a scope gives a promise of the end of
 * all its members. Counted: a member may hold a reference, and add others.
 *
 * A promise is made under a scope if the function of vow_scope_async creates it, or a reaction
 * or call created under the scope does: the scope travels as the context does (chapter 11), on
 * every thread. Such a promise takes over the scope's deadline, but is no member of the scope.
 * vow_scope_add makes a promise a member, but does not put it under the scope. */
typedef struct vow_scope vow_scope;

/** A new scope (owned). A scope made under another scope takes over its deadline. NULL: no
 * memory. */
VOW_API VOW_OWNED vow_scope *VOW_NULLABLE vow_scope_create(void);

/** A flag of a scope: the first failure of a member (see vow_scope_close) cancels the others.
 * They read VOW_ECANCELLED, whose payload is that error; the end comes after the last of them. */
#define VOW_SCOPE_FAIL_FAST 1u

/** The options of a scope. Set size, leave unused fields 0. */
typedef struct vow_scope_options {
    size_t size;    /**< sizeof(vow_scope_options) */
    uint32_t flags; /**< 0 or VOW_SCOPE_FAIL_FAST */
    /** Nanoseconds, by the clock that a delay made here would use, after which the scope is
     * cancelled: its members read VOW_ECANCELLED, whose payload is an error VOW_ETIMEDOUT, and
     * its end is rejected with VOW_ETIMEDOUT, unless a member failed before. Timed promises
     * made under the scope end then, too, if they would take longer: vow_delay, vow_timeout,
     * vow_fd_ready and vow_retry are rejected with VOW_ETIMEDOUT, and scopes with a later
     * deadline take this one. (Not on a thread with another clock: the times of a virtual loop
     * and the real clock do not compare.) 0: only the deadline of the scope that this scope is
     * made under. */
    int64_t deadline_ns;
    /** Nanoseconds after the cancellation of the scope at which members that have not settled
     * are reported, each once, as chapter 12 says, with the label and, while tracing is on, the
     * place of creation. The scope waits for them all the same. 0: no report. */
    int64_t grace_ns;
    const char *VOW_NULLABLE label; /**< names the scope in messages; a static string */
} vow_scope_options;

/** As vow_scope_create, with options (borrowed; NULL: none). NULL: no memory. Wrong options: a
 * scope that refuses members with VOW_EINVAL, and whose end is rejected with VOW_EINVAL and a
 * message that names the wrong option. */
VOW_API VOW_OWNED vow_scope *VOW_NULLABLE
vow_scope_create_with(const vow_scope_options *VOW_NULLABLE options);

/** One more reference (owned); returns scope (borrowed). */
VOW_API vow_scope *VOW_NULLABLE vow_scope_retain(vow_scope *VOW_NULLABLE scope);

/** Makes promise (consumed) a member, also after another holder has closed the scope, as long
 * as the scope has members: then the end waits for promise, too. Returns 0; VOW_EINVAL,
 * VOW_ENOMEM: promise is released; VOW_ECYCLE: promise waits for the scope's end, which would
 * wait for it: promise is released, and the end is rejected with VOW_ECYCLE as by a failed
 * member; VOW_ECANCELLED: the scope was cancelled; promise is cancelled, too, and its end is
 * waited for; VOW_ESHUTDOWN: the scope has ended, and promise is cancelled. */
VOW_API int vow_scope_add(vow_scope *scope, vow_promise *promise);

/** Runs fn(vow_none(), context) as a member, on an executor (borrowed; NULL: as for a reaction
 * without one); everything that fn creates is made under the scope. Returns the promise (owned)
 * of its result; the scope observes it as well, so the caller may drop it with
 * vow_promise_release. destroy(context) (may be NULL) runs exactly once, before that promise
 * settles, also if fn does not run: then the promise is rejected with VOW_ECANCELLED: the scope
 * was cancelled; VOW_ESHUTDOWN: it has ended; VOW_EINVAL; VOW_ENOMEM. */
VOW_API VOW_OWNED vow_promise *
vow_scope_async(vow_scope *scope, vow_executor *VOW_NULLABLE executor, VOW_SENDABLE vow_handler fn,
                void *VOW_NULLABLE context,
                VOW_SENDABLE void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE context));

/** Cancels the members of a scope (borrowed), and members that are added later. The scope ends
 * when they have. */
VOW_API void vow_scope_cancel(vow_scope *scope);

/** Gives a reference (consumed) back and returns the promise (owned) of the scope's end. It
 * settles when all members have settled, including later ones: fulfilled with vow_none(), or
 * rejected with the first failure of a member: any error but a VOW_ECANCELLED that the scope
 * has asked for. Later failures are reported as unhandled, unless the member has another
 * reader. Cancelling the end cancels the members. A member that waits for the end is refused
 * with VOW_EDEADLOCK; a member's own promise that adopts it is rejected with VOW_ECYCLE. Each
 * holder of a shared scope gives its own reference back, and all get the same promise. NULL:
 * VOW_EINVAL. */
VOW_API VOW_OWNED vow_promise *vow_scope_close(vow_scope *scope);

/** Gives a reference (consumed) back. The last release of a scope that was never closed cancels
 * its members; an error that would have rejected its end is reported as unhandled, once all
 * members have settled. */
VOW_API void vow_scope_release(vow_scope *VOW_NULLABLE scope);

/* ---------------------------------------------------------------- 11. Context
 *
 * One value that travels along: a request's identity, a trace span, a user. A callback gets the
 * value that was set at its registration, and each call begins with that value. Such callbacks are
 * reactions, the functions of vow_async, vow_map, vow_reduce, vow_repeat, vow_retry and vow_using,
 * functions notified of a cancellation or of progress, and the destroy of each. A context that is
 * never set costs nothing.
 */

/** Sets the context (consumed) until the running callback returns; outside of these callbacks,
 * on this thread until it is set again. vow_none(): none. A context that a handler has set is
 * released before the handler's result counts, like a context of its own. */
VOW_API void vow_context_set(vow_value context);

/** The context here and now, borrowed until it is set again. */
VOW_API vow_value vow_context_get(void);

/* ----------------------------------------------------- 12. Unhandled rejections
 *
 * A rejected promise that is freed is reported once, unless it had a reaction, or was awaited,
 * adopted or asked for its error. So is a member that holds up the end of its cancelled scope
 * (vow_scope_options.grace_ns).
 */

/** Sets the function that reports: hook(error, context), with a borrowed error, on the thread
 * that released the last reference. For a member that holds up its scope the error is the
 * library's VOW_ETIMEDOUT, whose message names the member, on the thread of the scope's timer.
 * NULL: the default again, which writes a line to standard error for each of the first ten,
 * then each time their number has doubled, and their number at the end of the process or in
 * vow_shutdown. The line shows control characters, and bytes that are no UTF-8, as hexadecimal
 * escapes. vow_on_unhandled_with takes a context to be freed. */
VOW_API void vow_on_unhandled(VOW_SENDABLE void (*VOW_NULLABLE hook)(vow_value error,
                                                                     void *VOW_NULLABLE context),
                              void *VOW_NULLABLE context);

/** As vow_on_unhandled, with a context that is freed: destroy(context) (may be NULL) runs
 * exactly once, after either function has replaced the hook and no call of it is running:
 * before that function returns, or on the thread of the last call. Returns 0; VOW_EINVAL: hook
 * is NULL; VOW_ENOMEM; after both the context is destroyed, and the hook stays as it was. */
VOW_API int
vow_on_unhandled_with(VOW_SENDABLE void (*hook)(vow_value error, void *VOW_NULLABLE context),
                      void *VOW_NULLABLE context,
                      VOW_SENDABLE void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE context));

/* ----------------------------------------------------------------- 13. Memory */

/** The source of all memory of the library: promises, values, executors, traces, and the state
 * of a thread, some 550 bytes from its first call to its end. The functions are called from any
 * thread, deallocate also where that thread ends, among the destructors of its other data: so
 * they must work as long as threads that called the library live. They must not call vow
 * functions. libdispatch, the C library and, in a program that imports Vow, Swift do not use
 * this allocator for their own memory. */
typedef struct vow_allocator {
    size_t size; /**< sizeof(vow_allocator) */
    /** `bytes` bytes aligned to 16, or NULL when there are none. */
    void *VOW_NULLABLE (*VOW_NONNULL allocate)(void *VOW_NULLABLE context, size_t bytes);
    /** Frees what allocate returned for the same number of bytes. */
    void (*deallocate)(void *VOW_NULLABLE context, void *pointer, size_t bytes);
    void *VOW_NULLABLE context; /**< given to both */
} vow_allocator;

/** Sets the allocator (borrowed and copied; NULL: malloc and free), before any other use of the
 * library except uncounted values. Returns 0, or VOW_EINVAL: too late, a function missing, or a
 * wrong size. */
VOW_API int vow_set_allocator(const vow_allocator *VOW_NULLABLE allocator);

/* ---------------------------------------------------------- 14. Looking inside */

/** The version of this header, semantic: another major version is another interface. */
#define VOW_VERSION_MAJOR 0

/** The minor version: until 1.0 each one may change the ABI. */
#define VOW_VERSION_MINOR 1

/** The patch version: it changes neither. */
#define VOW_VERSION_PATCH 0

/** The version as text. */
#define VOW_VERSION_STRING "0.1.0"

/** major << 16 | minor << 8 | patch, as a plain number for importers of other languages. */
#define VOW_VERSION 0x000100
#if VOW_VERSION != (VOW_VERSION_MAJOR << 16 | VOW_VERSION_MINOR << 8 | VOW_VERSION_PATCH)
#error "VOW_VERSION is not the number of VOW_VERSION_STRING"
#endif

/** The version of the running library, in the form of VOW_VERSION. */
VOW_API uint32_t vow_version(void);

/** Counters of the whole process. Each is exact once the threads that use the
 * library rest; while they work, they are a moment's view. */
typedef struct vow_statistics {
    size_t size;       /**< sizeof(vow_statistics), set by the caller */
    uint64_t created;  /**< promises made */
    uint64_t settled;  /**< promises that were fulfilled or rejected */
    uint64_t live;     /**< promises not yet freed */
    uint64_t pending;  /**< live promises that are not settled */
    uint64_t handlers; /**< reactions that wait for a promise or for their executor */
    uint64_t bytes;    /**< memory held by promises, values and executors */
    uint64_t spare;    /**< of freed promises, kept for new ones; not among the bytes */
    uint64_t stacks;   /**< of fibers that have begun and not ended, and one or more of each loop */
    uint64_t deepest;  /**< the most bytes that a fiber has used of its stack, as stacks kept for
                          later show */
} vow_statistics;

/** Fills *out, as far as out->size goes. Returns 0, or VOW_EINVAL. */
VOW_API int vow_stats(vow_statistics *out);

/** Frees the spare memory of the calling thread, what threads have laid aside for each other, and
 * the memory of the stacks that are kept for later fibers (256 MiB at most, of which they touch a
 * part). Returns the number of bytes, without the stacks. Then, unless vow_set_allocator was
 * called, the C library gives its free memory back to the system (malloc_trim of glibc). By itself
 * it gives small pieces back late or never.
 *
 * A thread keeps the memory of promises that it freed for its next ones: of each of four sizes
 * 1,024 at most, some 400 KB with the allocator's own part. What it has beyond that, and, when it
 * rests in the library (it sleeps in vow_await, or sleeps in or returns from vow_loop_run_once and
 * _until), what it has not needed since it last rested, except 32 to 95 of each size, it lays aside
 * for threads that need it: at most 4,096 of each size. So promises that one thread makes and
 * another frees cost no call of the allocator. A thread that rests, or has slept for a tenth of a
 * second, frees what was laid aside and not needed for a tenth of a second. vow_trim is for threads
 * that never rest there and have had a burst. A thread frees all of it at its end, and the calling
 * thread in vow_shutdown. No memory is kept if vow_set_allocator was called. */
VOW_API size_t vow_trim(void);

/** Ends the library's work in the process, for good: a leak check for tests, and for plug-ins
 * that unload. From now on work for the pool, main, serial and dispatch executors, and delays
 * and descriptors off loops, are refused with VOW_ESHUTDOWN. Work that was queued before runs,
 * for at most timeout_ns nanoseconds (VOW_FOREVER: no limit). Then the pool's queued work, and
 * the delays and descriptors off loops, are rejected with VOW_ESHUTDOWN, and the library's
 * threads end as soon as they have nothing to do. (On the main thread, the call does not wait
 * for work queued for that thread.) Returns the number of live promises, or VOW_EINVAL: a
 * negative time-out; VOW_EDEADLOCK: called on an executor of the library. */
VOW_API int64_t vow_shutdown(int64_t timeout_ns);

/* --------------------------------------------------------------- 15. Progress
 *
 * The producer of a promise reports progress, and listeners hear of it, no more often than they
 * want, and of parts never after the promise has settled. Progress belongs to one promise: a
 * derived promise has its own. vow_all, vow_all_settled, vow_map and vow_reduce report the share
 * of their promises or items that is done, up to the last, which is fraction 1.
 */

/** Reports the progress of promise (borrowed): `fraction`, from 0 to 1 and cut to that, and a
 * `note` (borrowed and copied, 127 bytes at most; NULL: none). It may go back. Has no effect
 * without listeners or on a settled promise. Returns 0, or VOW_EINVAL: NULL, or no number. */
VOW_API int vow_promise_set_progress(vow_promise *promise, double fraction,
                                     const char *VOW_NULLABLE note);

/** As vow_promise_set_progress, for the promise of a resolver (borrowed). */
VOW_API int vow_resolver_set_progress(vow_resolver *resolver, double fraction,
                                      const char *VOW_NULLABLE note);

/** As vow_promise_set_progress, for the promise of the handler or call that runs on this thread
 * (see vow_current_is_cancelled), so it needs no handle. A function of vow_map or vow_reduce
 * reports for its item, which counts as its share of all, and never backwards. Outside of
 * handlers it has no effect. */
VOW_API int vow_current_set_progress(double fraction, const char *VOW_NULLABLE note);

/** A listener: fraction and note (borrowed, NULL: none) are the newest. */
typedef void (*vow_progress_handler)(double fraction, const char *VOW_NULLABLE note,
                                     void *VOW_NULLABLE context);

/** Calls fn with the progress of promise (borrowed; a listener neither keeps promise alive nor
 * observes its rejection) on the executor that a reaction made here would get, one call at a
 * time. Between two calls lie at least `interval_ns` nanoseconds of that executor's time,
 * except before the last one, of fraction 1; faster reports are replaced by newer ones, and the
 * newest is told when the time is over. No call begins once the promise is settled, with one
 * exception: a fraction 1, reported before the promise settled and not taken back, is told in
 * any case, perhaps beside or after the promise's handlers. So data that fn uses must live
 * until destroy, not until the handlers run. destroy(context) (may be NULL) runs exactly once:
 * when the promise is freed and no call is running or to come. A promise may have several
 * listeners. Returns 0; VOW_EINVAL: NULL, or a negative interval; VOW_ENOMEM; then the context
 * is destroyed. */
VOW_API int vow_on_progress(vow_promise *promise, int64_t interval_ns,
                            VOW_SENDABLE vow_progress_handler fn, void *VOW_NULLABLE context,
                            VOW_SENDABLE void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE context));

/** As vow_on_progress, with a call (borrowed; see vow_call): on its executor, and until its
 * token is cancelled; then the listener leaves, in constant time, and destroy(context) runs
 * when no call is running. The label is not used. Wrong size: VOW_EINVAL, and the context is
 * not destroyed. */
VOW_API int vow_on_progress_with(vow_promise *promise, int64_t interval_ns,
                                 VOW_SENDABLE vow_progress_handler fn,
                                 const vow_call *VOW_NULLABLE call);

/* ---------------------------------------------------------------- 16. Tracing
 *
 * Tracing is off unless asked for, and then costs one branch at each step. While it is on, every
 * live promise is known with its age, its label, the place of its creation and its wait; and each
 * step can be written to a file in Chrome's trace event format, which Perfetto shows;
 * docs/tracing.md describes it.
 *
 * The environment switches tracing on at the first use of the library: VOW_TRACE=file writes the
 * history to that file ("%p" in it: the number of the process), VOW_TRACK=1 keeps only the live
 * graph. A forked child is not traced.
 *
 * A history does its host no harm. Its file is made anew, for its owner alone; a file that another
 * living process has written (a parent with the same VOW_TRACE) stays, and "file.PID" is taken in
 * its place, as a line on standard error says. No thread waits for the reader of a pipe: events
 * that the reader does not take in time are left out and counted. Tracing makes no thread and
 * raises no SIGPIPE or SIGXFSZ. Values stand in it by kind and length; with VOW_TRACE_VALUES=1 in
 * the environment, as they are.
 */

/** Switches tracing on, with a history in the file `path` (borrowed, replaced; see above) or,
 * for NULL, without. Promises made earlier are known from their next step on. Returns 0;
 * VOW_EINVAL: it is on, or the file cannot be made or written (errno tells why: ENXIO, a
 * pipe that nobody reads; ENOSYS, a library made with MINIMAL=1); VOW_ENOMEM. */
VOW_API int vow_trace_start(const char *VOW_NULLABLE path);

/** Ends the file and switches tracing off, as the exit of the program does; waits a second at
 * most for a reader that takes nothing. Returns 0; VOW_EINVAL: it is off; or, above 0, the
 * number of events missing from the file (INT_MAX: or more), and errno gives the reason:
 * EAGAIN, its reader was slow; ENOMEM. The first time a line on standard error says so, too. */
VOW_API int vow_trace_stop(void);

/** Names promise (borrowed) in traces, graphs and reports of unhandled rejections with a copy
 * of label (borrowed, 255 bytes at most; NULL: none again). Does nothing while tracing is
 * off. (vow_reaction.label names a reaction from its beginning.) */
VOW_API void vow_promise_set_label(vow_promise *promise, const char *VOW_NULLABLE label);

#define VOW_GRAPH_DOT 0u  /**< for Graphviz: the pending promises */
#define VOW_GRAPH_JSON 1u /**< all live promises */

/** Writes the live promises and the waits between them to the descriptor fd. Waits for fd's
 * reader as write does, and holds up no other thread; raises no SIGPIPE. Returns 0; VOW_EINVAL:
 * tracing is off, no such format, or fd takes nothing (errno gives the reason); VOW_ENOMEM. */
VOW_API int vow_graph_write(int fd, uint32_t format);

/* Blocks, where the compiler has them (clang -fblocks; link BlocksRuntime). */
#if defined(__BLOCKS__) && !defined(VOW_IMPLEMENTATION)
/** A function of the compiler's runtime. */
extern void *_Block_copy(const void *block);
/** A function of the compiler's runtime. */
extern void _Block_release(const void *block);

/** A handler that is a block. It is copied, and released exactly once. */
typedef vow_value (^vow_block)(vow_value input);

/** Calls the block that is the context: not for programs. */
static inline vow_value vow_block_call(vow_value input, void *VOW_NULLABLE context) {
    return ((vow_block)context)(input);
}

/** Releases the block that is the context: not for programs. */
static inline void vow_block_destroy(void *VOW_NULLABLE context) {
    _Block_release(context);
}

/** A reaction whose handlers are a block: not for programs. */
static inline VOW_OWNED vow_promise *vow_block_link(vow_promise *promise, vow_block block,
                                                    bool fulfilled, bool rejected, uint32_t flags) {
    vow_reaction reaction;
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = fulfilled ? vow_block_call : NULL;
    reaction.on_rejected = rejected ? vow_block_call : NULL;
    reaction.context = (void *)_Block_copy(block);
    reaction.destroy = vow_block_destroy;
    reaction.executor = NULL;
    reaction.token = NULL;
    reaction.flags = flags;
    reaction.label = NULL;
    return vow_then_with(promise, &reaction);
}

/** As vow_then, with a block, which is copied, and released exactly once. */
static inline VOW_OWNED vow_promise *vow_then_b(vow_promise *promise, vow_block block) {
    return vow_block_link(promise, block, true, false, 0);
}

/** As vow_catch, with a block, which is copied, and released exactly once. */
static inline VOW_OWNED vow_promise *vow_catch_b(vow_promise *promise, vow_block block) {
    return vow_block_link(promise, block, false, true, 0);
}

/** As vow_finally, with a block, which is copied, and released exactly once. */
static inline VOW_OWNED vow_promise *vow_finally_b(vow_promise *promise, vow_block block) {
    return vow_block_link(promise, block, true, true, VOW_FINALLY);
}
#endif

VOW_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif
