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
 *   Ownership has three words, and each comment below uses one of them for
 *   every pointer and value. "borrowed": used during the call. "consumed": the
 *   caller gives one reference away, whatever the call returns. "owned": the
 *   caller gets one reference.
 *
 *   Threads: every function may be called from any thread, and from inside any
 *   handler, destructor or hook. Callbacks never run while the library holds a
 *   lock, so they may call every function, also on the same promise. No
 *   function is a point where pthread_cancel ends a thread, and on the threads of
 *   the pool and inside vow_loop_run_once and _until no handler is.
 *
 *   Callbacks, by the thread they run on and how often. Each sees the context (chapter 11)
 *   of who gave it, but for the last two, which see none of theirs.
 *
 *     handler of a reaction,         its executor         at most once, before its promise
 *     of vow_async                                        settles; vow_finally: once
 *     functions of vow_map, reduce,  the call's executor  for each item, step or attempt, one
 *     repeat, retry, using                                after the other on each lane
 *     destroy of these               that executor (pool  once, before the promise settles,
 *                                    and inline: any      also where no handler ran
 *                                    thread)
 *     told of a cancellation         who cancels          at most once; a promise settles after
 *     (chapter 9), its destroy       or releases          it, and its destroy comes once
 *     told of progress               its executor         often, one at a time
 *     destroy of that                the same             once, when no call is to come
 *     hook of unhandled rejections   who released last    once for each
 *     destroy of an object           who released last    once
 *
 *   Callbacks return. One that is left by an exception, by pthread_exit or by
 *   the cancellation of its thread ends the process with a sentence on standard
 *   error; of a thread that ends so after vow_shutdown, its promises stay
 *   pending instead. One that is left by longjmp, which nobody sees, ends the
 *   process at the next wait; in a checked build at the next call.
 *
 *   NULL and wrong arguments: where a promise is returned, the answer is a
 *   promise rejected with VOW_EINVAL whose message names function and argument;
 *   where a value is returned, such an error; where an int is returned, a
 *   negative VOW_E... code. Consumed arguments are released all the same.
 *   Retaining or releasing NULL does nothing.
 *
 *   Out of memory: where a promise is returned, one that is rejected with
 *   VOW_ENOMEM; where a value is returned, such an error. Settling a promise
 *   allocates nothing and so cannot fail (only a thenable object needs memory).
 *   A report of an unhandled rejection and the end of a trace need no memory, and
 *   what a trace finds none for is not in it. A thread whose first call finds none
 *   gets a place of a reserve: sixteen at a time, then the process ends.
 *
 *   Dropping an owned result is a mistake, and GCC and clang say so (VOW_OWNED), but
 *   for the functions that retain: they give back what they were given.
 *
 *   Since: what has no other mark is here since 0.1.0.
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
/* A result that is owned: who drops it leaks it, or meant vow_detach. */
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

/** Tells that work is no longer wanted. Counted; chapter 9. */
typedef struct vow_token vow_token;

/** What a value is. Not an enum, so that its width is the same everywhere. */
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
    vow_kind kind;     /**< what it is, and which content is meant */
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

/** How objects of one class behave. Must outlive every object of the class, unchanged: one in a
 * shared object, that is not unloaded before. A checked build ends the process where an object is
 * used whose class is gone, and names it. */
typedef struct vow_class {
    size_t size;      /**< sizeof(vow_class), so that the struct may grow */
    const char *name; /**< for messages; a static string */

    /** Frees the object; called once, at the last release, on the thread that
     * released it. May be NULL. May call every function of this header. */
    void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE pointer);

    /** Makes the class a thenable: a promise resolved with such an object calls
     * this once, with a resolver (consumed: keep it or release it), and follows
     * what that resolver is given, now or later, from any thread. The library
     * releases the object when this returns true: whoever settles later keeps
     * what it needs. Returning false says "no thenable after all": unless the
     * resolver was used before, the promise is fulfilled with the object itself,
     * and a resolver that was kept is of no use any more. Runs as handlers on
     * the inline executor do. May be NULL; does not change while objects live. */
    bool (*VOW_NULLABLE subscribe)(void *VOW_NULLABLE pointer, vow_resolver *resolver);
} vow_class;

/** An owned object: `pointer` (consumed: class->destroy frees it at the last
 * release, also when this call fails) together with its class (borrowed for as
 * long as the object lives). cls NULL or of a wrong size: an error VOW_EINVAL,
 * and the pointer is left alone. */
VOW_API VOW_OWNED vow_value vow_object(void *VOW_NULLABLE pointer, const vow_class *cls);

/** An owned list of `count` values (each consumed, also when this call fails).
 * items NULL: allowed with count 0, else an error VOW_EINVAL. So many that no array
 * can be meant: VOW_ENOMEM, and the items are left alone. A list is never
 * rejected or adopted by what is inside it. */
VOW_API VOW_OWNED vow_value vow_list(const vow_value *VOW_NULLABLE items, size_t count);

/** An owned error. domain and message are copied (borrowed); message may be NULL.
 * domain NULL: an error VOW_EINVAL instead. The library's own domain is "vow". */
VOW_API VOW_OWNED vow_value vow_error(const char *domain, int64_t code,
                                      const char *VOW_NULLABLE message);

/** The same with a cause or payload of any kind (consumed). */
VOW_API VOW_OWNED vow_value vow_error_wrap(const char *domain, int64_t code,
                                           const char *VOW_NULLABLE message,
                                           vow_value cause_or_payload);

/** The same error (borrowed) as data alone (owned): domain, code, message, vow_error_index and
 * vow_error_attempts, and of the payload what is no object and no promise, in lists and causes,
 * too, as far as 64 deep and a million values; the rest is vow_none(). So it calls nothing of the
 * program's, and can be kept when the shared object whose classes were in it is unloaded. Another
 * kind: an error VOW_EINVAL. */
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

/** The domain of an error (borrowed): who gives its codes their meaning. NULL for
 * other kinds. */
VOW_API const char *VOW_NULLABLE vow_error_domain(vow_value value);

/** The code of an error (borrowed); 0 for other kinds. */
VOW_API int64_t vow_error_code(vow_value value);

/** The message of an error (borrowed), never NULL; NULL for other kinds. */
VOW_API const char *VOW_NULLABLE vow_error_message(vow_value value);

/** The cause or payload of an error (borrowed), borrowed: it lives as long as the
 * error. vow_none() if there is none, and for other kinds. */
VOW_API vow_value vow_error_payload(vow_value value);

/** Whether a value (borrowed) is a VOW_BOOL; if so, *out (NULL: not wanted) is its
 * content. Like each of the following readers it is for one kind and converts
 * nothing; for every other kind it returns false and leaves what `out` leads to
 * alone. */
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

/** Writes what a value (borrowed) is, for people, into buffer: at most size
 * bytes, NUL included. Lists are abbreviated 8 deep and after 1,000 values.
 * Returns the length that the whole text has, without NUL, as snprintf does.
 * buffer NULL: allowed with size 0, else VOW_EINVAL. */
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
#define VOW_EDEADLOCK (-8)  /**< the wait would block what it waits for */
#define VOW_EAGGREGATE (-9) /**< several failed; the payload is the list of their errors */
#define VOW_ESHUTDOWN (-10) /**< what was to run the work is gone */
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

/** As a flag of vow_promise_create_with: the work behind the promise cannot stop at
 * once (a kernel still writes into a buffer, a thread works on). Cancelling the promise
 * only tells its producer (vow_resolver_on_cancel): it stays pending until that
 * resolves it or lets go of it, and is rejected with VOW_ECANCELLED then; the value is
 * released, a promise cancelled, and vow_resolve returns false. (As the resource of a
 * vow_using it is fulfilled with that value, which is released by it.) */
#define VOW_COOPERATIVE 1u

/** As vow_promise_create, with flags: 0 or VOW_COOPERATIVE. Others: a promise rejected
 * with VOW_EINVAL, and *resolver is NULL. */
VOW_API VOW_OWNED vow_promise *
vow_promise_create_with(vow_resolver *VOW_NULLABLE *VOW_NONNULL resolver, uint32_t flags);

/** A promise (owned) of a value (consumed), by its kind: fulfilled, rejected,
 * adopting, or subscribing. For a VOW_PROMISE it is that promise itself. */
VOW_API VOW_OWNED vow_promise *vow_promise_with(vow_value value);

/** One more reference (owned); returns promise (borrowed). A promise has room for a
 * hundred million; who goes on taking them ends the process with a sentence. */
VOW_API vow_promise *VOW_NULLABLE vow_promise_retain(vow_promise *VOW_NULLABLE promise);

/** Gives a reference (consumed) back. A chain of any length is freed with
 * constant stack. May report an unhandled rejection, see chapter 12. */
VOW_API void vow_promise_release(vow_promise *VOW_NULLABLE promise);

/** Gives a reference (consumed) back, and says that what leads to promise is wanted
 * all the same: it goes on to its end as if somebody waited for it. A chain does
 * so when it is released, too; but of a delay, a descriptor, a combined promise or
 * one with a resolver, the last vow_promise_release tells the producer that nobody
 * is left to read it, which ends it (chapter 9), and this does not. A rejection is
 * reported as unhandled, unless another reader handles it; cancelling promise by
 * another handle is possible as before. Needs a little memory while promise is
 * pending; without, promise is only released. NULL: nothing happens. */
VOW_API void vow_detach(vow_promise *VOW_NULLABLE promise);

/** The state at this moment (promise borrowed). NULL: VOW_PENDING. */
VOW_API vow_state vow_promise_state(vow_promise *promise);

/** Whether the promise (borrowed) is settled; if so, *out (may be NULL) is its
 * value or error, borrowed: it lives as long as the promise. Otherwise *out is
 * vow_none(). Receiving an error through `out` counts as having handled it. */
VOW_API bool vow_promise_peek(vow_promise *promise, vow_value *VOW_NULLABLE out);

/** Resolves the promise of a resolver (borrowed) with a value (consumed), by its
 * kind. True for the first call, and false, with no effect, for every later
 * one, however many threads try. Promises that wait for each other in a ring of
 * any length, by adoption or chaining, are rejected with VOW_ECYCLE. So they are
 * by way of what needs each of its members (all, all_settled, map, reduce, repeat,
 * retry, scopes), which is looked through as far as 1,024 members of such ones
 * inside each other and 256 members of a scope. A ring that any, race, some
 * or a time-out is part of is none: another member, or time, can end it. Inline
 * handlers run before this returns, unless a handler is running on this thread:
 * then after that one. resolver NULL: false. */
VOW_API bool vow_resolve(vow_resolver *resolver, vow_value value);

/** Rejects with an error (consumed). A value that is no error becomes the
 * payload of one with the code VOW_EREASON; the promise's own handle as such a
 * payload would keep it alive for ever. Else as vow_resolve. */
VOW_API bool vow_reject(vow_resolver *resolver, vow_value error);

/** One more reference (owned); returns resolver (borrowed). A promise has room for
 * two million; who goes on taking them ends the process with a sentence. */
VOW_API vow_resolver *VOW_NULLABLE vow_resolver_retain(vow_resolver *VOW_NULLABLE resolver);

/** Gives a reference (consumed) back; the last one of an unresolved promise
 * rejects it with VOW_EBROKEN. If neither a promise handle nor a reaction nor an
 * adopting promise is left then, nothing is rejected, and nothing reported. */
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

/** A handler. input is borrowed: to return it, return vow_value_retain(input).
 * The result is owned by the library and resolves the new promise by its kind.
 * context is what was given at registration. */
typedef vow_value (*vow_handler)(vow_value input, void *VOW_NULLABLE context);

/** Runs fn with the value once promise (consumed) is fulfilled; a rejection
 * passes through. Returns the promise of fn's result (owned). */
VOW_API VOW_OWNED vow_promise *vow_then(vow_promise *promise, VOW_SENDABLE vow_handler fn,
                                        void *VOW_NULLABLE context);

/** Runs fn with the error once promise (consumed) is rejected; a value passes
 * through. What fn returns decides: a value recovers, an error rejects again.
 * Returns the promise of fn's result (owned). */
VOW_API VOW_OWNED vow_promise *vow_catch(vow_promise *promise, VOW_SENDABLE vow_handler fn,
                                         void *VOW_NULLABLE context);

/** Runs fn with the value or error once promise (consumed) is settled, and then
 * passes that outcome on. fn's own result counts only when it is an error,
 * which rejects, or a promise, which is waited for and counts if it is
 * rejected. An error of promise that it takes the place of is reported as unhandled
 * (chapter 12), unless somebody else observes it, or fn's error has it as a cause or is
 * the same in words. Returns the new promise (owned). */
VOW_API VOW_OWNED vow_promise *vow_finally(vow_promise *promise, VOW_SENDABLE vow_handler fn,
                                           void *VOW_NULLABLE context);

/** As a flag of a reaction: both handlers are as vow_finally's. */
#define VOW_FINALLY 1u

/** Everything that can be said about one link. Set size, leave the rest 0. */
typedef struct vow_reaction {
    size_t size;                           /**< sizeof(vow_reaction) */
    vow_handler VOW_NULLABLE on_fulfilled; /**< NULL: a value passes through */
    vow_handler VOW_NULLABLE on_rejected;  /**< NULL: an error passes through */
    void *VOW_NULLABLE context;            /**< for the handlers */
    /** Frees the context, exactly once, before the new promise settles: after the
     * handler returned and the promise that it returned, if it did, has settled; or when
     * it is certain that none will run. It is called on the executor, also when no handler
     * runs; with the pool or the inline executor, on any thread; when the executor refuses
     * (its loop was destroyed), on the thread that finds that out. So a link that no handler
     * runs for waits for its executor if it has a destroy, and for nothing without. Each
     * level of a recursion through such promises keeps its context, and so its memory, until
     * the last one. May be NULL. */
    void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE context);
    vow_executor *VOW_NULLABLE executor; /**< borrowed; NULL: see chapter 6 */
    vow_token *VOW_NULLABLE token;       /**< borrowed; see chapter 9 */
    uint32_t flags;                      /**< 0 or VOW_FINALLY */
    const char *VOW_NULLABLE label;      /**< names the link in messages; a static string */
} vow_reaction;

/** Registers a reaction (borrowed) on promise (consumed); returns the promise of
 * the handler's result (owned). If the call fails, destroy(context) runs. */
VOW_API VOW_OWNED vow_promise *vow_then_with(vow_promise *promise, const vow_reaction *reaction);

/** A context that several links share: `size` bytes, zeroed and aligned to 16, with a
 * count of references, of which the caller gets one (owned). Each link has one of its own:
 * context = vow_box_retain(box), destroy = vow_box_release. destroy(box) (may be NULL) runs
 * once, with the last one, and then the memory goes. NULL: no memory, or no such size. */
VOW_API VOW_OWNED void *VOW_NULLABLE
vow_box_create(size_t size, void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE box));

/** One more reference (owned); returns box (borrowed). */
VOW_API void *VOW_NULLABLE vow_box_retain(void *VOW_NULLABLE box);

/** Gives a reference (consumed) back. It is a `destroy` for whatever takes a context. */
VOW_API void vow_box_release(void *VOW_NULLABLE box);

/** As a code: every one. */
#define VOW_ANY_CODE INT64_MIN

/** As vow_catch, for errors of one domain (borrowed and copied; NULL: every one) and
 * one code (VOW_ANY_CODE: every one). Other errors pass through. */
VOW_API VOW_OWNED vow_promise *vow_catch_if(vow_promise *promise, const char *VOW_NULLABLE domain,
                                            int64_t code, VOW_SENDABLE vow_handler fn,
                                            void *VOW_NULLABLE context);

/* ----------------------------------------------------------------- 5. Waiting */

/** As a time-out: none. */
#define VOW_FOREVER (-1)

/** Blocks until promise (borrowed) is settled, for at most timeout_ns nanoseconds
 * of the monotonic clock; 0 looks and returns, VOW_FOREVER never gives up.
 * Returns VOW_FULFILLED or VOW_REJECTED, with *out (owned; NULL: not wanted) the
 * value or error; or VOW_PENDING when the time is up; or, with *out vow_none():
 *   VOW_EINVAL     promise is NULL or the time-out is negative
 *   VOW_EDEADLOCK  the wait would block the serial or VOW_BARRIER executor that
 *                  has to run what is waited for; or a handler, the destructor
 *                  of its context or a subscribe waits for its own result; or
 *                  for handlers that wait for it, or hold up what it needs, in
 *                  turn, without a time-out
 *   VOW_EFORKED    in a forked child, for work that was left with the parent, or a
 *                  promise that another thread was changing at that moment
 *   VOW_ENOMEM     the wait would take the last thread of the pool (chapter 6), and
 *                  the system gives no other one
 * Of vow_all one member that can never settle so is enough for VOW_EDEADLOCK, though
 * another one could reject it; of any, race and some it takes all. A vow_timeout is
 * no end of such a wait. A wait is not recognised whose end depends on what only the
 * program knows: that a resolver is used by a thread which waits, that nobody serves
 * vow_executor_main or a custom executor because the thread which would is waiting, or that
 * the loop which has to run is another one of this thread.
 * Having waited for a rejection counts as having handled it. On the thread of an
 * event loop (chapter 7) it runs the loop instead of blocking it.
 *
 * Inside a handler on the pool or a serial executor, a wait lends its place in the
 * pool while it blocks, if need be to a new thread: waiting there cannot starve the
 * pool. One on the pool without a time-out first runs what it waits for itself,
 * inside, if that is ready on the pool and nobody has begun it. Inline handlers that
 * only the waiting thread could run are run by it. */
VOW_API int vow_await(vow_promise *promise, int64_t timeout_ns, vow_value *VOW_NULLABLE out);

/* ------------------------------------------------------- 6. Where handlers run
 *
 * A reaction runs on its executor. Without one it runs on the executor of the
 * thread that registered it: inside a handler that handler's, on the thread of an
 * event loop (chapter 7) the loop's, elsewhere the default, which is the pool unless
 * vow_executor_set_default changed it.
 *
 * The pool has threads of its own, named "vow worker"; the first is made when the
 * pool, a serial executor or a timer off loops is first used. So handing work over
 * needs no memory and no new thread. Where the system gives not even the first one,
 * the work is rejected with VOW_ENOMEM. Reactions of the pool run on as many at a time
 * as there are processors that the process may use, at least two; handlers of serial
 * executors on as many again, so that neither hold up the other. A handler that waits
 * in vow_await does not count; nor does one that for 10 milliseconds has had next to
 * none of the processor's time, because it sleeps in the system, for up to 256 of these.
 * There are never more than 2,048 threads. Those beyond what is needed end after 200
 * milliseconds. Signals sent to the process are the program's threads' to take: the
 * pool's block all but those that a thread brings on itself, and SIGPROF.
 *
 * In a child made by fork these threads are gone, and libdispatch's: what would run on
 * the pool, main, serial or dispatch executors there is rejected with VOW_EFORKED;
 * inline and custom executors go on. What another thread was running at the
 * moment of the fork never ends in the child: its promise stays pending there.
 * So does a promise that another thread was changing at that moment: in the child
 * resolving and cancelling it do nothing and return false, a reaction on it waits
 * for ever, vow_await answers VOW_EFORKED, and it can be released.
 */

/** The executor that runs handlers at once: on the settling thread (or, for a
 * settled promise, the registering one), as the last act of the outermost vow
 * call there; inside a handler, destructor or hook, when the outermost of these
 * has returned. While another thread still
 * runs earlier inline handlers of that settled promise, the new one lines up
 * behind them: that thread runs it, perhaps after the registering call has
 * returned. Borrowed, immortal. */
VOW_API vow_executor *vow_executor_inline(void);

/** The library's own threads: handlers run in parallel, and are begun in order
 * (but for one that a waiting handler runs itself, see vow_await). Borrowed,
 * immortal. */
VOW_API vow_executor *vow_executor_pool(void);

/** The dispatch main queue, which the program must run (dispatch_main or a run
 * loop). Serial. Borrowed, immortal. */
VOW_API vow_executor *vow_executor_main(void);

/** A new serial executor (owned) on the pool's threads: one handler at a time, in
 * order. label (borrowed and copied, may be NULL) names it in traces. Out of memory:
 * NULL, which later means "none given". */
VOW_API VOW_OWNED vow_executor *VOW_NULLABLE vow_executor_serial(const char *VOW_NULLABLE label);

/** Each handler is a barrier block: it has a concurrent queue for itself. */
#define VOW_BARRIER 1u
/** The queue is serial: handlers travel to it in one dispatch, and waiting in one
 * of them for work that must run there is refused with VOW_EDEADLOCK. (In a block
 * that the program itself sends to the queue such a wait is not recognised.) */
#define VOW_SERIAL 2u

/** An executor (owned) on a dispatch_queue_t of the program (retained for as long
 * as the executor lives). flags: 0, VOW_BARRIER or VOW_SERIAL. Queue NULL, other
 * flags, out of memory: NULL. Handing work to such a queue, as to the main one, is
 * libdispatch's: where it gets no memory or no thread, it sleeps until it does. */
VOW_API VOW_OWNED vow_executor *VOW_NULLABLE vow_executor_dispatch(void *dispatch_queue,
                                                                   uint32_t flags);

/** How a program's own executor works. Must outlive the executor, unchanged, as a vow_class its
 * objects. */
typedef struct vow_executor_class {
    size_t size; /**< sizeof(vow_executor_class) */

    /** Takes one piece of work and must call run(work) exactly once, later, on
     * any thread; in the order of submission if the executor is serial. Called
     * on the thread that settles or registers, with no lock held; it should not
     * wait. A run(work) inside submit itself is put off until the running vow
     * call ends, which a serial executor must not ask for: it would not know
     * when the work has run. One that the program makes inside a handler runs
     * there. */
    void (*submit)(void *VOW_NULLABLE context, void (*run)(void *work), void *work);

    /** Whether the calling thread belongs to the executor: then reactions made
     * there without an executor run on it. May be NULL: never, except inside
     * its handlers. Asked for each such reaction, and wait, outside of handlers
     * and loops, so it should be quick. The executor that said so last on this
     * thread is asked first; a thread that belongs to none costs a call of each
     * executor that has this function. Of several that say so it is one. */
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

/** What reactions registered outside of any handler run on, from now on, in the
 * whole process (executor borrowed, kept). NULL: the pool again. Meant for the
 * program, not for libraries in it. */
VOW_API void vow_executor_set_default(vow_executor *VOW_NULLABLE executor);

/** The executor that a reaction registered here and now would run on. Borrowed:
 * retain it to keep it. */
VOW_API vow_executor *vow_executor_current(void);

/** Runs fn(vow_none(), context) on an executor (borrowed; NULL: as for a reaction
 * without one). Returns the promise (owned) of its result. */
VOW_API VOW_OWNED vow_promise *vow_async(vow_executor *VOW_NULLABLE executor,
                                         VOW_SENDABLE vow_handler fn, void *VOW_NULLABLE context);

/** Everything that can be said about a call of functions of the program, beside the
 * functions. Set size, leave the rest 0. */
typedef struct vow_call {
    size_t size;                /**< sizeof(vow_call) */
    void *VOW_NULLABLE context; /**< for the functions */
    /** Frees the context, exactly once: when no call of the functions is running or to
     * come, and what they returned is through; before the new promise settles. May be
     * NULL. */
    void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE context);
    vow_executor *VOW_NULLABLE executor; /**< borrowed; NULL: that of a reaction made here */
    vow_token *VOW_NULLABLE token;       /**< borrowed; cancelled, it cancels the new promise */
    const char *VOW_NULLABLE label;      /**< names the promise in messages; a static string */
} vow_call;

/** The same with a call (borrowed; NULL: nothing is said). If it fails, destroy(context)
 * runs, but with a wrong size. */
VOW_API VOW_OWNED vow_promise *vow_async_with(VOW_SENDABLE vow_handler fn,
                                              const vow_call *VOW_NULLABLE call);

/** As vow_catch_if, with a call (borrowed; see vow_call). */
VOW_API VOW_OWNED vow_promise *vow_catch_if_with(vow_promise *promise,
                                                 const char *VOW_NULLABLE domain, int64_t code,
                                                 VOW_SENDABLE vow_handler fn,
                                                 const vow_call *VOW_NULLABLE call);

/** Whether the promise of the handler that is running on this thread was cancelled, so
 * that its result is for nobody: long work can end early. It is so too where the
 * promise of vow_map and its like was cancelled, or another item has failed. Outside of
 * handlers: false. */
VOW_API bool vow_current_is_cancelled(void);

/* -------------------------------------------------------------- 7. Event loops
 *
 * A loop puts promises into an event loop that the program has already. It is a
 * serial executor whose handlers run inside vow_loop_run_once, on the program's
 * own thread, and a file descriptor that is readable exactly while something
 * waits to be run: a handler, a timer that is due, a descriptor of vow_fd_ready.
 * So one poll, epoll, libuv or GLib source is all that it takes, and no thread.
 *
 * The thread that made a loop, and after that each thread that runs it, is the
 * loop's thread until another one runs it. Reactions that are made there without
 * an executor, outside of other executors' handlers, run on the loop; delays and
 * vow_fd_ready use it; and vow_await runs it instead of blocking.
 *
 * In a child made by fork the loop is a copy whose descriptor is still the
 * parent's: the child must destroy it before it uses promises on that thread.
 */

/** A new loop (owned). NULL: no memory, or no descriptors. */
VOW_API VOW_OWNED vow_loop *VOW_NULLABLE vow_loop_create(void);

/** A new loop (owned; NULL: no memory) whose clock stands still and is moved by vow_loop_advance,
 * for tests of programs that wait: an hour passes at once, and always in the same way. While
 * vow_loop_run_until and vow_await find nothing else to run there, they move the
 * clock to the next timer themselves. */
VOW_API VOW_OWNED vow_loop *VOW_NULLABLE vow_loop_create_virtual(void);

/** Moves the clock of a virtual loop (borrowed) on by `ns` nanoseconds, running
 * timers and handlers in order of time as vow_loop_run_once does. Returns how
 * many handlers and timers ran; VOW_EINVAL: no virtual loop, or a negative time.
 * Time ends at INT64_MAX: what would come later comes then. */
VOW_API int vow_loop_advance(vow_loop *loop, int64_t ns);

/** The loop's executor. Borrowed: it may be retained and outlive the loop, after
 * which it rejects what it is given with VOW_ESHUTDOWN. Loop NULL: NULL. */
VOW_API vow_executor *VOW_NULLABLE vow_loop_executor(vow_loop *loop);

/** The descriptor (the loop's: only to be watched for input). Level-triggered.
 * NULL: VOW_EINVAL. */
VOW_API int vow_loop_fd(vow_loop *loop);

/** Waits until something can be run, for at most timeout_ns nanoseconds (0: not at
 * all; VOW_FOREVER), and runs it: timers that are due, handlers, and what these
 * hand to the loop meanwhile, up to a bound that keeps the program's loop alive.
 * Returns how many ran: 0 when the time was up or vow_loop_wake was called.
 * May be called inside a handler of the loop; then it runs the others.
 *   VOW_EINVAL     loop is NULL, or the time-out is negative; or another thread
 *                  is running the loop
 *   VOW_EDEADLOCK  it is called so deep inside handlers that no stack is left
 *   VOW_ESHUTDOWN  a handler destroyed the loop
 *   VOW_EFORKED    the loop is the parent's */
VOW_API int vow_loop_run_once(vow_loop *loop, int64_t timeout_ns);

/** Runs the loop until promise (borrowed) is settled. Returns as vow_await does,
 * and as vow_loop_run_once if it cannot run. Inside a handler it runs the others. */
VOW_API int vow_loop_run_until(vow_loop *loop, vow_promise *promise, int64_t timeout_ns);

/** Makes a vow_loop_run_once that waits, or else the next one, return. From any
 * thread, and from a signal handler: it does nothing but one write to a
 * descriptor. */
VOW_API void vow_loop_wake(vow_loop *VOW_NULLABLE loop);

/** Ends a loop (consumed). What is queued in it, its delays and its descriptors
 * are rejected with VOW_ESHUTDOWN, contexts are destroyed, before this returns; of delays and
 * descriptors that is nothing to report as unhandled, nor is it in vow_shutdown. No other
 * thread may be running it. Inside one of its own handlers: the handler ends, and
 * the function that runs the loop returns VOW_ESHUTDOWN. */
VOW_API void vow_loop_destroy(vow_loop *VOW_NULLABLE loop);

/** A descriptor is watched for input, or ready for it. */
#define VOW_READ 1u

/** A descriptor is watched for room for output, or ready for it. */
#define VOW_WRITE 2u

/** A promise (owned) that is fulfilled, once, with VOW_INT, the events that are
 * there, when fd can be read or written (VOW_READ, VOW_WRITE or both) without
 * blocking, or is at its end or broken. On a loop's thread the loop watches the
 * descriptor, else a thread of the library's does, for all. Keep fd open until the
 * promise is settled: then the watch has ended, on whichever thread. Cancelling it, or
 * releasing it unsettled, ends the watch before that returns. Closed while it is watched: rejected
 * with VOW_EINVAL as soon as another watch of that number begins, fires or ends; in a checked build
 * also when its loop has nothing else to do, or with any watch off loops. Until then it is pending;
 * and a duplicate of it that is open still is reported under its number, also to later watches of
 * that. A regular file is always ready. Not open: VOW_EINVAL. */
VOW_API VOW_OWNED vow_promise *vow_fd_ready(int fd, uint32_t events);

/* -------------------------------------------------------------------- 8. Time
 *
 * Nanoseconds of the monotonic clock. On a loop's thread a timer is the loop's,
 * elsewhere the library's: one thread tells the time, and the pool's threads run what
 * a timer or a descriptor calls (inline handlers, hooks, destructors). That may be
 * slow, or wait for another timer or descriptor: after a millisecond one more thread
 * goes on with those. So up to 31 may be held up; with more, the others wait until one
 * of them returns. Without threads, or descriptors, for it: VOW_ENOMEM.
 *
 * A timer lives as long as somebody waits for it: once its promise is cancelled or the last handle
 * and reaction are gone, it is removed at once. Timers stand in a pairing heap inside their
 * promises' memory: setting one takes constant time, removing one O(log n), amortised.
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

/** The monotonic clock that a delay made here and now would go by, in nanoseconds:
 * the virtual one on a virtual loop's thread. */
VOW_API int64_t vow_now(void);

/** A promise (owned) that is fulfilled with vow_none() after `ns` nanoseconds, at
 * the earliest. Negative: VOW_EINVAL. Cancelled: its timer is gone. */
VOW_API VOW_OWNED vow_promise *vow_delay(int64_t ns);

/** Gives promise (consumed) `ns` nanoseconds: returns a promise (owned) of the same
 * outcome, or of VOW_ETIMEDOUT; then promise is cancelled as by vow_cancel, if
 * nobody else is interested. VOW_FOREVER: no limit. Other negative: VOW_EINVAL. */
VOW_API VOW_OWNED vow_promise *vow_timeout(vow_promise *promise, int64_t ns);

/** How often, and how long apart. Set size, leave at 0 what does not matter. */
typedef struct vow_retry_policy {
    size_t size;            /**< sizeof(vow_retry_policy) */
    uint64_t attempts;      /**< at most so many; 0: without a bound */
    int64_t first_delay_ns; /**< between the first and the second */
    double factor;          /**< each delay is so many times the one before; 0: 2 */
    int64_t max_delay_ns;   /**< but no longer than this; 0: one hour */
    /** How much of each delay is left to chance, 0 to 1: a delay d lasts between
     * (1 - jitter) * d and d. 1 is "full jitter". */
    double jitter;
    int64_t deadline_ns; /**< all attempts and delays together; 0: none */
    /** Whether to try again after this error (borrowed); runs on the executor, and
     * gets the context of the call. NULL: always. */
    bool (*VOW_NULLABLE may_retry)(vow_value error, void *VOW_NULLABLE context);
} vow_retry_policy;

/** Runs fn on the executor that a reaction made here would get, with the number of
 * the attempt (VOW_INT, from 1), until the promise of its result is fulfilled.
 * Returns the promise (owned) of that value. It is rejected with the last error
 * when may_retry refuses or no attempt is left, or VOW_ETIMEDOUT, whose payload
 * is the last error, at the deadline, which cancels the attempt under way; either
 * says vow_error_attempts. Cancelling it cancels attempt and delay. It settles when no
 * call of fn is running, and what they returned has settled. policy
 * (borrowed, copied) NULL: 3 attempts, at once. Wrong policy: VOW_EINVAL. */
VOW_API VOW_OWNED vow_promise *vow_retry(const vow_retry_policy *VOW_NULLABLE policy,
                                         VOW_SENDABLE vow_handler fn, void *VOW_NULLABLE context);

/** The same with a call (borrowed; see vow_call). */
VOW_API VOW_OWNED vow_promise *vow_retry_with(const vow_retry_policy *VOW_NULLABLE policy,
                                              VOW_SENDABLE vow_handler fn,
                                              const vow_call *VOW_NULLABLE call);

/** How many attempts vow_retry made before it gave up with this error (borrowed);
 * 0 for other errors and kinds. */
VOW_API int64_t vow_error_attempts(vow_value value);

/* ------------------------------------------------------------ 9. Cancellation
 *
 * Cancelling says that an outcome is not wanted; it is an input, and code decides what
 * comes of it. A cancelled link is never fulfilled any more, and reads VOW_ECANCELLED in
 * place of what it would have read. What it reads decides what runs, as always: success
 * handlers are skipped, those of vow_catch and vow_finally run with that error. But
 * vow_finally, where its input has settled already, reads that input: so a resource that
 * has just arrived is still given back. An error that such a handler returns passes on;
 * else the link is rejected with VOW_ECANCELLED, and a promise that the handler returned
 * is cancelled.
 *
 * What a link waits for is cancelled first, if the link is its last reader, and so on up
 * to the producer, which may have asked to be told; the rejection comes down from there,
 * or another one that was there first. A promise that somebody else holds, or has a
 * reaction on, is left alone, and the link reads VOW_ECANCELLED at once; but one that the
 * link's own handler has returned is waited for, for it may use the context. (Who wants to
 * leave before puts a vow_timeout or vow_race around the link.) A handler that is
 * running is let finish, its result is released, and its promise is rejected then. So a
 * chain without handlers for rejections, without running code and without contexts that
 * another thread's executor destroys is rejected before vow_cancel returns.
 *
 * Settled means quiet (G14): when a promise is settled, cancelled or not, its own handler
 * has returned, its context is destroyed, and no call of a function that was given for it
 * (vow_map, vow_reduce, vow_repeat, vow_retry, vow_async, vow_using) is running or to come.
 * Clean-up runs (G15): the handler of a vow_finally, and the release of vow_using, run
 * exactly once, however the chain ends. Only an executor that refuses all work (a loop
 * that was destroyed, after vow_shutdown, in a forked child) keeps one from running; then
 * its context is destroyed, and the rejection says so.
 *
 * Prompt or quiet: vow_timeout, vow_race, vow_any, vow_some and vow_all combine promises of
 * others; they settle at the moment of decision, and what they cancel ends in its own
 * time. Scopes, vow_using and what calls functions settle when all of it has ended.
 *
 * Releasing a handle cancels no reaction: a chain that nobody holds runs to its
 * end. But a promise that no handle and no reaction is left to read is wanted by
 * nobody, and its producer hears of that, too.
 *
 * A rejection with VOW_ECANCELLED is nothing to report as unhandled. What the losers of
 * vow_race, vow_any, vow_some, vow_all, vow_map and vow_timeout fail with is not reported
 * either; what a vow_finally that is cancelled while its handler runs fails with, is.
 */

/** Cancels a promise (borrowed), as above. True if it was pending and not cancelled
 * before; else false, without effect. Contexts that may be destroyed here are, and handlers
 * of the inline executor run, before this returns; but inside a handler, a destructor or a
 * hook, when that has returned. */
VOW_API bool vow_cancel(vow_promise *promise);

/** The same with a reason (consumed): the payload of the error, where the cancellation
 * finds a promise that waits, or a handler that runs; a reaction that its executor has
 * already, and that handles rejections, reads the plain error. */
VOW_API bool vow_cancel_with(vow_promise *promise, vow_value reason);

/** A promise (owned) that settles as promise (consumed) does. Cancelling it leaves that
 * alone: it waits to the end, and is rejected with VOW_ECANCELLED then. So a handler of
 * vow_finally can return clean-up that no cancellation may end. Releasing it does so, too:
 * of the shields of one promise that nobody reads any more one stays, for all of them, and
 * its rejection is reported as unhandled; the others are gone at once. */
VOW_API VOW_OWNED vow_promise *vow_shield(vow_promise *promise);

/** Has fn(context) called, once, if the promise of a resolver (borrowed) is
 * cancelled, or nobody is left who could read it, before it is resolved: the work
 * for it can be stopped. Called on the thread that cancels or releases, as its
 * last act, or at once if it is too late already; but inside a destructor, or
 * another such fn, when that has returned. Not called: after the promise was
 * resolved, which another thread may do at the moment of the call. In every case
 * destroy(context) (destroy may be NULL) runs exactly once, after fn. Several are
 * called in the order in which they were given. A cancelled promise settles when all have
 * returned and their contexts are destroyed (G14); to wait for it in fn or destroy is refused
 * with VOW_EDEADLOCK. Returns 0; VOW_EINVAL: resolver or fn is NULL; VOW_ENOMEM. */
VOW_API int
vow_resolver_on_cancel(vow_resolver *resolver, VOW_SENDABLE void (*fn)(void *VOW_NULLABLE context),
                       void *VOW_NULLABLE context,
                       VOW_SENDABLE void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE context));

/** One switch for many reactions: the source cancels, its token is given to them
 * (vow_reaction.token). Cancelling cancels them all, as vow_cancel does, but leaves
 * alone what they wait for: they read VOW_ECANCELLED at once. A promise that a handler
 * has returned is its own work, and is cancelled. A reaction that is through has left its
 * token; one that is made with a cancelled token is cancelled at once. */
typedef struct vow_cancel_source vow_cancel_source;

/** A new source (owned). NULL: no memory, which later means "no token". */
VOW_API VOW_OWNED vow_cancel_source *VOW_NULLABLE vow_cancel_source_create(void);

/** The same, also cancelled when one of `count` other tokens (borrowed; NULL
 * entries are left out) is, with that one's reason: for as long as somebody has the
 * source or its token, as every promise that was made with it has while it exists. With the
 * last of these it leaves its parents. NULL also: parents is NULL with a count, or the
 * count is of no array that there can be. */
VOW_API VOW_OWNED vow_cancel_source *VOW_NULLABLE
vow_cancel_source_create_linked(vow_token *VOW_NULLABLE const *VOW_NULLABLE parents, size_t count);

/** One more reference (owned); returns source (borrowed). */
VOW_API vow_cancel_source *VOW_NULLABLE
vow_cancel_source_retain(vow_cancel_source *VOW_NULLABLE source);

/** Gives a reference (consumed) back. With the last one, what was registered stays
 * as it is and can never be cancelled by it any more; by a parent of a linked one it
 * still can. */
VOW_API void vow_cancel_source_release(vow_cancel_source *VOW_NULLABLE source);

/** Cancels (source borrowed). True the first time, else false without effect. */
VOW_API bool vow_cancel_source_cancel(vow_cancel_source *source);

/** The same with a reason (consumed): the payload of the errors. */
VOW_API bool vow_cancel_source_cancel_with(vow_cancel_source *source, vow_value reason);

/** The token of a source (borrowed), borrowed: it lives as long as the source, or
 * longer, when retained. NULL: NULL. */
VOW_API vow_token *VOW_NULLABLE vow_cancel_source_token(vow_cancel_source *VOW_NULLABLE source);

/** One more reference (owned); returns token (borrowed). */
VOW_API vow_token *VOW_NULLABLE vow_token_retain(vow_token *VOW_NULLABLE token);

/** Gives a reference (consumed) back. With the last one of a source that is gone, what was
 * to be called on cancellation never will be. */
VOW_API void vow_token_release(vow_token *VOW_NULLABLE token);

/** Has fn(context) called, once, when the token (borrowed) is cancelled: on that
 * thread; or at once if it is already. destroy(context) (may be NULL) runs exactly
 * once: after fn, or when it is certain that nobody can cancel any more: the sources are
 * gone, and those of all parents, or the tokens, too. Returns as vow_resolver_on_cancel. */
VOW_API int
vow_token_on_cancel(vow_token *token, VOW_SENDABLE void (*fn)(void *VOW_NULLABLE context),
                    void *VOW_NULLABLE context,
                    VOW_SENDABLE void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE context));

/** A function that was registered with a token or a resolver, for who registered it: it
 * can leave. Counted. It keeps no promise and no token. */
typedef struct vow_registration vow_registration;

/** What has become of a registered function. */
typedef uint32_t vow_stage;
#define VOW_WAITING 0u    /**< it may be called still */
#define VOW_RUNNING 1u    /**< it was called, and has not returned */
#define VOW_HAS_RUN 2u    /**< it was called, and has returned */
#define VOW_NEVER_RUNS 3u /**< it was not called, and never will be */

/** As vow_token_on_cancel; *registration (owned) is set before fn can be called. It is
 * NULL after an error; so is one that is NULL itself: VOW_EINVAL. */
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

/** The function of a registration (borrowed) is not to be called any more. It takes
 * constant time, and is allowed anywhere, at any time, also inside the function, and more
 * than once. Returns what has become of the function, which is never VOW_WAITING then:
 *   VOW_NEVER_RUNS  it is not called, and its context is destroyed before this returns; but
 *                   inside a destructor or another such function when that has returned,
 *                   and, if another thread is cancelling at this moment, by that one
 *   VOW_RUNNING     too late: it is running, on this thread or on another one
 *   VOW_HAS_RUN     it has returned before
 * Nothing waits for one that is running, so nothing can block here. That it has ended is
 * known from destroy(context), which runs after it in every case. NULL: VOW_NEVER_RUNS. */
VOW_API vow_stage vow_registration_leave(vow_registration *VOW_NULLABLE registration);

/** What has become of the function of a registration (borrowed) at this moment. NULL:
 * VOW_NEVER_RUNS. */
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
 * Each makes one promise (owned) of many, and takes one piece of memory for all
 * of them, beside the list of results. `promises` is an array (borrowed) whose
 * promises are consumed; a promise may be in it several times. NULL entries, or an
 * array that is NULL with a count: VOW_EINVAL, and the others are released. More than
 * 268 million (INT32_MAX / 8): VOW_ENOMEM, and they are left alone.
 * Results stand in the order of the promises, not of their settling.
 *
 * Once the outcome is decided, the others are left at once, and cancelled where
 * nobody else is interested. Cancelling the combined promise does the same to all.
 * Releasing it unsettled lets go of all members at once but cancels none: it only
 * tells producers that nobody is left, as in chapter 9. What runs functions of the
 * program (vow_map, vow_reduce, vow_repeat, vow_retry) goes on then, as a reaction
 * does, and so do the members of a scope.
 *
 * An error that rejects the combined promise, or stands in the list of VOW_EAGGREGATE,
 * is the member's, of the same domain, code, message and payload, and says its place:
 * vow_error_index.
 */

/** Fulfilled with the VOW_LIST of all values; rejected as soon as one is. None:
 * the empty list. */
VOW_API VOW_OWNED vow_promise *vow_all(vow_promise *VOW_NULLABLE const *VOW_NULLABLE promises,
                                       size_t count);

/** Fulfilled, when all are settled, with the VOW_LIST of values and, for those that
 * were rejected, VOW_ERRORs. None: the empty list. */
VOW_API VOW_OWNED vow_promise *
vow_all_settled(vow_promise *VOW_NULLABLE const *VOW_NULLABLE promises, size_t count);

/** Fulfilled with the first value; rejected with VOW_EAGGREGATE, whose payload is
 * the VOW_LIST of all errors, when all are. None: VOW_EAGGREGATE, an empty list. */
VOW_API VOW_OWNED vow_promise *vow_any(vow_promise *VOW_NULLABLE const *VOW_NULLABLE promises,
                                       size_t count);

/** Fulfilled as soon as `wanted` promises are, with the VOW_LIST of the values of these, in the
 * order of the promises; it holds a reference to each, and does not say which promise a value is
 * of. Rejected with VOW_EAGGREGATE, whose payload is the VOW_LIST of the errors so far, as soon
 * as there cannot be so many. 0 wanted: the empty list. */
VOW_API VOW_OWNED vow_promise *vow_some(vow_promise *VOW_NULLABLE const *VOW_NULLABLE promises,
                                        size_t count, size_t wanted);

/** Settles as the first one to settle does. None: VOW_EINVAL, for nobody should
 * wait for ever. */
VOW_API VOW_OWNED vow_promise *vow_race(vow_promise *VOW_NULLABLE const *VOW_NULLABLE promises,
                                        size_t count);

/** Runs fn with each item of a list (consumed) on the executor that a reaction made
 * here would get, and is fulfilled with the VOW_LIST of the results; promises that
 * fn returns are waited for. At most `concurrency` items are under way (0: all
 * together), in order. After the first rejection no further item is begun, and those under
 * way are cancelled; the promise is rejected when they have ended. So it is when it is
 * cancelled: when it is settled, no call of fn is running or to come, and the context can
 * go. Memory: the results, and that of the items under way. Not a list: VOW_EINVAL. */
VOW_API VOW_OWNED vow_promise *vow_map(vow_value list, VOW_SENDABLE vow_handler fn,
                                       void *VOW_NULLABLE context, size_t concurrency);

/** The same with a call (borrowed; see vow_call). */
VOW_API VOW_OWNED vow_promise *vow_map_with(vow_value list, VOW_SENDABLE vow_handler fn,
                                            size_t concurrency, const vow_call *VOW_NULLABLE call);

/** As a handler, with two inputs, both borrowed. */
typedef vow_value (*vow_reducer)(vow_value accumulated, vow_value item, void *VOW_NULLABLE context);

/** Waits for each promise in turn and runs fn with what has accumulated (at first
 * `initial`, consumed) and its value, on the executor that a reaction made here
 * would get; a promise that fn returns is waited for. Fulfilled with the last
 * result. None: fulfilled with initial. When it is settled, the context can go, as in
 * vow_map. */
VOW_API VOW_OWNED vow_promise *vow_reduce(vow_promise *VOW_NULLABLE const *VOW_NULLABLE promises,
                                          size_t count, vow_value initial,
                                          VOW_SENDABLE vow_reducer fn, void *VOW_NULLABLE context);

/** The same with a call (borrowed; see vow_call). */
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

/** The same with a call (borrowed; see vow_call). */
VOW_API VOW_OWNED vow_promise *
vow_repeat_with(vow_value state,
                VOW_SENDABLE bool (*again)(vow_value state, void *VOW_NULLABLE context),
                VOW_SENDABLE vow_handler step, const vow_call *VOW_NULLABLE call);

/** A resource that is given back, however its use ends. When `resource` (consumed) is
 * fulfilled, runs use with its value, and when that, and the promise that it returned, is
 * through, release with the same value; waits for the promise that release returns. Both
 * run on the executor that a reaction made here would get. The outcome is that of use. A
 * failing release rejects a success; beside another error it is reported as unhandled,
 * and that error stays. Cancelling the promise (owned) that this returns cancels resource
 * or use, and never release. A value with which the resource comes all the same is released
 * without being used, whether from a resolver, a handler that was running, or through a
 * vow_catch, vow_finally, vow_shield, vow_timeout, vow_retry, vow_reduce or vow_repeat; and
 * the promise is rejected with VOW_ECANCELLED when all has ended. A resource that is
 * rejected rejects, and nothing runs. Releasing needs no memory. destroy(context)
 * (may be NULL) runs once, before the promise settles. resource, use or release is NULL:
 * VOW_EINVAL. Without memory: VOW_ENOMEM, and the resource is cancelled. */
VOW_API VOW_OWNED vow_promise *
vow_using(vow_promise *resource, VOW_SENDABLE vow_handler use, VOW_SENDABLE vow_handler release,
          void *VOW_NULLABLE context,
          VOW_SENDABLE void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE context));

/** The same with a call (borrowed; see vow_call). */
VOW_API VOW_OWNED vow_promise *vow_using_with(vow_promise *resource, VOW_SENDABLE vow_handler use,
                                              VOW_SENDABLE vow_handler release,
                                              const vow_call *VOW_NULLABLE call);

/** Inside release of vow_using, before that returns: how the use has ended. VOW_FULFILLED or
 * VOW_REJECTED, and *outcome (may be NULL) is its value or error, borrowed until release
 * returns: one with VOW_ECANCELLED where the use was cancelled. VOW_PENDING: it never
 * began. Anywhere else, also in handlers that run inside release: VOW_EINVAL. */
VOW_API int vow_using_ended(vow_value *VOW_NULLABLE outcome);

/** The place of the member that failed, from 0, in an error (borrowed) of a
 * combined promise; -1 for other errors and kinds, and where no memory was left
 * to say it. */
VOW_API int64_t vow_error_index(vow_value value);

/** A place for work that must not be left behind: closing it is a promise of the end of all
 * its members. Counted: a member may hold a reference, and add others.
 *
 * What is made under a scope is what the function of vow_scope_async makes, what the
 * reactions and calls that are made there make, and so on: the scope travels as the context
 * does (chapter 11), whoever runs them. What was made elsewhere and is only added
 * (vow_scope_add) is a member, and not made under it. Being made under a scope makes nothing
 * a member; it takes over the scope's deadline. */
typedef struct vow_scope vow_scope;

/** A new scope (owned). Made under another scope with a deadline it has that one. NULL: no
 * memory. */
VOW_API VOW_OWNED vow_scope *VOW_NULLABLE vow_scope_create(void);

/** As a flag of a scope: the first failure of a member (see vow_scope_close) cancels the
 * others. They read VOW_ECANCELLED, whose payload is that error; the end comes after the last
 * of them. */
#define VOW_SCOPE_FAIL_FAST 1u

/** Everything that can be said about a scope. Set size, leave at 0 what does not matter. */
typedef struct vow_scope_options {
    size_t size;    /**< sizeof(vow_scope_options) */
    uint32_t flags; /**< 0 or VOW_SCOPE_FAIL_FAST */
    /** After so many nanoseconds, by the clock that a delay made here would go by, the scope is
     * cancelled: its members read VOW_ECANCELLED, whose payload is an error VOW_ETIMEDOUT, and
     * its end is rejected with VOW_ETIMEDOUT, unless a member failed before. All that is timed
     * and made under the scope ends then, too, if it would take longer: vow_delay,
     * vow_timeout, vow_fd_ready and vow_retry are rejected with VOW_ETIMEDOUT, and other scopes
     * have this deadline if theirs is later. (Not on a thread with another clock: a virtual
     * loop's and the real one are not compared.) 0: none, but that of the scope that this one
     * is made under. */
    int64_t deadline_ns;
    /** A member that has not settled so many nanoseconds after the scope was cancelled is
     * reported, once, as chapter 12 says, with its label and, while tracing is on, where it
     * was made. It is waited for all the same. 0: nothing is reported. */
    int64_t grace_ns;
    const char *VOW_NULLABLE label; /**< names the scope in messages; a static string */
} vow_scope_options;

/** The same with options (borrowed; NULL: none). NULL: no memory. Wrong options: a scope that
 * takes no members, with VOW_EINVAL, and whose end is rejected with VOW_EINVAL; the message
 * says what is wrong. */
VOW_API VOW_OWNED vow_scope *VOW_NULLABLE
vow_scope_create_with(const vow_scope_options *VOW_NULLABLE options);

/** One more reference (owned); returns scope (borrowed). */
VOW_API vow_scope *VOW_NULLABLE vow_scope_retain(vow_scope *VOW_NULLABLE scope);

/** Makes promise (consumed) a member. Legal also after another holder has closed the scope,
 * as long as it has members: then the end waits for this one, too. Returns 0; VOW_EINVAL,
 * VOW_ENOMEM: promise is released; VOW_ECYCLE: promise waits for the end that would wait for
 * it, it is released, and the end is rejected with VOW_ECYCLE as by a member that fails;
 * VOW_ECANCELLED: the scope was cancelled; promise is, too, and its end is waited for;
 * VOW_ESHUTDOWN: the scope has ended, and promise is cancelled. */
VOW_API int vow_scope_add(vow_scope *scope, vow_promise *promise);

/** Runs fn(vow_none(), context) as a member, on an executor (borrowed; NULL: as for a
 * reaction without one); what it makes is made under the scope. Returns the promise (owned) of
 * its result, which the scope has an eye on as well: to drop it, vow_promise_release.
 * destroy(context) (may be NULL) runs exactly once, before that promise settles, also where
 * fn is not run: then the promise is rejected, with VOW_ECANCELLED: the scope was cancelled;
 * VOW_ESHUTDOWN: it has ended; VOW_EINVAL; VOW_ENOMEM. */
VOW_API VOW_OWNED vow_promise *
vow_scope_async(vow_scope *scope, vow_executor *VOW_NULLABLE executor, VOW_SENDABLE vow_handler fn,
                void *VOW_NULLABLE context,
                VOW_SENDABLE void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE context));

/** Cancels the members of a scope (borrowed), and those that are added later. They end in
 * their own time, and so does the scope. */
VOW_API void vow_scope_cancel(vow_scope *scope);

/** Gives a scope (consumed) up for the promise (owned) of its end, which settles when all
 * members have, those included that are added meanwhile: fulfilled with vow_none(), or
 * rejected with the first failure of a member: any error, and VOW_ECANCELLED if the scope has
 * not asked for that. Later failures are reported as unhandled, unless somebody else holds the
 * member. Cancelling the end cancels the members. A member that waits for it is refused with
 * VOW_EDEADLOCK; its own promise that adopts it is rejected with VOW_ECYCLE. Who shares a
 * scope gives one reference up; each who closes it gets that same promise. NULL: VOW_EINVAL. */
VOW_API VOW_OWNED vow_promise *vow_scope_close(vow_scope *scope);

/** Gives a reference (consumed) back. The last one of a scope that nobody has closed cancels
 * what is in it, and gives it up; an error that its end would have been rejected with is
 * reported as unhandled, once all members have settled. */
VOW_API void vow_scope_release(vow_scope *VOW_NULLABLE scope);

/* ---------------------------------------------------------------- 11. Context
 *
 * One value that travels along: a request's identity, a trace span, a user. Each
 * reaction, each function that vow_async, vow_map, vow_reduce, vow_repeat, vow_retry and
 * vow_using are given, each that hears of a cancellation or of progress, and the destroy of
 * each, gets the value that was set where it was given, and each call of it begins with
 * that. Costs nothing where none is set.
 */

/** Sets the context (consumed) from here on: until the running handler, or function
 * of one of those, returns, or, outside of them, on this thread until it is set
 * again. vow_none(): none. What a handler has set is released before its result
 * counts, like a context of its own. */
VOW_API void vow_context_set(vow_value context);

/** The context here and now, borrowed until it is set again. */
VOW_API vow_value vow_context_get(void);

/* ----------------------------------------------------- 12. Unhandled rejections
 *
 * A rejected promise that is freed although nobody registered a reaction on it,
 * awaited it, looked at its error or adopted it is reported once. So is a member that holds up
 * the end of its cancelled scope (vow_scope_options.grace_ns).
 */

/** Sets what reports: hook(error, context), with a borrowed error, on the thread
 * that released the last reference. Of a member that holds up its scope the error is one of
 * the library's, VOW_ETIMEDOUT, whose message says which; the thread is that of the scope's
 * timer. NULL: the default again, which writes a line to
 * standard error: for each of the first ten, then each time their number has doubled,
 * and at the end of the process or in vow_shutdown how many there were. In it control
 * characters, and bytes that are no UTF-8, stand as hexadecimal escapes. For a context that
 * is to be freed see vow_on_unhandled_with. */
VOW_API void vow_on_unhandled(VOW_SENDABLE void (*VOW_NULLABLE hook)(vow_value error,
                                                                     void *VOW_NULLABLE context),
                              void *VOW_NULLABLE context);

/** The same with a context that is freed: destroy(context) (may be NULL) runs exactly once,
 * when the hook was replaced, by either function, and no call of it is running any more:
 * before that returns, or on the thread of the last call. Returns 0; VOW_EINVAL: hook is
 * NULL; VOW_ENOMEM; after both the context is destroyed, and the hook stays as it was. */
VOW_API int
vow_on_unhandled_with(VOW_SENDABLE void (*hook)(vow_value error, void *VOW_NULLABLE context),
                      void *VOW_NULLABLE context,
                      VOW_SENDABLE void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE context));

/* ----------------------------------------------------------------- 13. Memory */

/** Where every byte that the library takes comes from: promises, values, executors, traces,
 * and what a thread carries, some 550 bytes from its first call to its end. The functions are
 * called from any thread, deallocate also where that thread ends, among the destructors of its
 * other data: so they stay as long as threads that called the library do. They must not call
 * vow functions. What libdispatch, the C library and, in a program that imports Vow, Swift take
 * for themselves does not come from here. */
typedef struct vow_allocator {
    size_t size; /**< sizeof(vow_allocator) */
    /** `bytes` bytes aligned to 16, or NULL when there are none. */
    void *VOW_NULLABLE (*VOW_NONNULL allocate)(void *VOW_NULLABLE context, size_t bytes);
    /** Frees what allocate returned for the same number of bytes. */
    void (*deallocate)(void *VOW_NULLABLE context, void *pointer, size_t bytes);
    void *VOW_NULLABLE context; /**< given to both */
} vow_allocator;

/** Sets the allocator (borrowed and copied; NULL: malloc and free), before
 * anything else of the library is used but values that are not counted. Returns
 * 0, or VOW_EINVAL: too late, a function missing, or a wrong size. */
VOW_API int vow_set_allocator(const vow_allocator *VOW_NULLABLE allocator);

/* ---------------------------------------------------------- 14. Looking inside */

/** The version of this header, semantic: another major one is another interface. */
#define VOW_VERSION_MAJOR 0

/** The same: until 1.0 each minor version may change the ABI. */
#define VOW_VERSION_MINOR 1

/** The same: a patch changes neither. */
#define VOW_VERSION_PATCH 0

/** The same as text. */
#define VOW_VERSION_STRING "0.1.0"

/** major << 16 | minor << 8 | patch, as a plain number for importers of other languages. */
#define VOW_VERSION 0x000100
#if VOW_VERSION != (VOW_VERSION_MAJOR << 16 | VOW_VERSION_MINOR << 8 | VOW_VERSION_PATCH)
#error "VOW_VERSION is not the number of VOW_VERSION_STRING"
#endif

/** The version of the library that runs, as VOW_VERSION is that of the header. */
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
} vow_statistics;

/** Fills *out, as far as out->size goes. Returns 0, or VOW_EINVAL. */
VOW_API int vow_stats(vow_statistics *out);

/** Gives back the memory that the calling thread keeps. Returns how many bytes.
 *
 * A thread keeps the memory of promises that it freed for its next ones: of each of three
 * sizes 1,024 at most, some 260 KB with the allocator's own part. Where it rests in the
 * library (it sleeps in vow_await, or sleeps in or returns from vow_loop_run_once and
 * _until), it gives back what it has not needed since it last rested, but for 32 of each
 * size; while it sleeps for longer than a tenth of a second, all but those. So this is for
 * threads that never rest there and have had a burst. It all goes when the thread ends, and
 * in vow_shutdown the calling thread's. None is kept where vow_set_allocator was called. */
VOW_API size_t vow_trim(void);

/** Ends the library's work in the process, for good: a leak gate for tests, and
 * for plug-ins that unload. From now on work for the pool, main, serial and
 * dispatch executors, delays and descriptors off the loops are refused with VOW_ESHUTDOWN.
 * What was queued before is run, for at most timeout_ns nanoseconds (VOW_FOREVER:
 * no limit); then what is still queued on the pool, and the delays and
 * descriptors off the loops, are rejected with VOW_ESHUTDOWN, and the library's
 * threads end as soon as they have nothing to do. (On the
 * main thread, work queued for that thread is not waited for.) Returns how many
 * promises are still alive, or VOW_EINVAL: a negative time-out; VOW_EDEADLOCK:
 * called on an executor of the library. */
VOW_API int64_t vow_shutdown(int64_t timeout_ns);

/* --------------------------------------------------------------- 15. Progress
 *
 * Whoever works for a promise says how far it is; whoever is interested hears of it, no
 * more often than wanted, and of parts never after the promise has settled. Progress
 * belongs to one promise: what is derived from it has its own. vow_all, vow_all_settled,
 * vow_map and vow_reduce tell by themselves which share of their promises or items is
 * done, up to the last, which is fraction 1.
 */

/** Says how far the work for promise (borrowed) is: `fraction`, from 0 to 1 and
 * cut to that, and a `note` (borrowed and copied, 127 bytes at most; NULL: none). It may
 * go back. Nothing happens where nobody listens or the promise is settled. Returns 0, or
 * VOW_EINVAL: NULL, or no number. */
VOW_API int vow_promise_set_progress(vow_promise *promise, double fraction,
                                     const char *VOW_NULLABLE note);

/** The same, by who has a resolver (borrowed). */
VOW_API int vow_resolver_set_progress(vow_resolver *resolver, double fraction,
                                      const char *VOW_NULLABLE note);

/** The same for the promise of the handler, or the call, that is running on this thread, as
 * vow_current_is_cancelled means it; so it needs no handle. A function of vow_map or
 * vow_reduce says it of its item, which counts as its share of all, and never backwards.
 * Outside of handlers nothing happens. */
VOW_API int vow_current_set_progress(double fraction, const char *VOW_NULLABLE note);

/** Is told of progress: fraction and note (borrowed, NULL: none) are the newest. */
typedef void (*vow_progress_handler)(double fraction, const char *VOW_NULLABLE note,
                                     void *VOW_NULLABLE context);

/** Has fn called with the progress of promise (borrowed; this is no interest in its result:
 * it neither keeps it alive nor observes it) on the executor that a reaction made here
 * would get, one call at a time. Between two calls lie at least `interval_ns` nanoseconds
 * of that executor's time, but for the last, of fraction 1; what comes faster is left out
 * for what is newer, and the newest is told when the time is over. No call begins once the
 * promise is settled, but for one: that all is done, fraction 1, said before it settled and
 * not taken back, is told in any case, and may come beside or after the promise's
 * handlers: what it uses ends with destroy, not with them. destroy(context) (may be NULL)
 * runs exactly once: when the promise is freed and no call is running or to come. Several
 * may listen. Returns 0; VOW_EINVAL: NULL, or a negative interval; VOW_ENOMEM; then the
 * context is destroyed. */
VOW_API int vow_on_progress(vow_promise *promise, int64_t interval_ns,
                            VOW_SENDABLE vow_progress_handler fn, void *VOW_NULLABLE context,
                            VOW_SENDABLE void (*VOW_NULLABLE destroy)(void *VOW_NULLABLE context));

/** The same with a call (borrowed; see vow_call): on its executor, and until its token is
 * cancelled; then the listener leaves, in constant time, and destroy(context) runs when no
 * call is running. Its label is not used. Of a wrong size: VOW_EINVAL, and nothing is destroyed. */
VOW_API int vow_on_progress_with(vow_promise *promise, int64_t interval_ns,
                                 VOW_SENDABLE vow_progress_handler fn,
                                 const vow_call *VOW_NULLABLE call);

/* ---------------------------------------------------------------- 16. Tracing
 *
 * Off, which it is unless asked for, it costs one branch at each step. On, every live
 * promise is known with its age, its label, where it was made and what it waits for; and
 * each step can be written to a file in Chrome's trace event format, which Perfetto
 * shows; docs/tracing.md describes it.
 *
 * The environment switches it on where the library is first used: VOW_TRACE=file writes
 * the history to that file ("%p" in it: the number of the process), VOW_TRACK=1 keeps
 * only the live graph. A forked child is not traced.
 *
 * A history does its host no harm. Its file is made anew, for its owner alone; one that
 * another living process has written (a parent with the same VOW_TRACE) stays, and
 * "file.PID" is taken in its place, as a line on standard error says. No thread waits for
 * who reads a pipe: what he does not take in time is left out and counted. No thread is
 * made, no SIGPIPE or SIGXFSZ raised. Values stand in it by kind and length; with
 * VOW_TRACE_VALUES=1 in the environment, as they are.
 */

/** Switches tracing on, with a history in the file `path` (borrowed, replaced; see above) or,
 * for NULL, without. Promises made earlier are known from their next step on. Returns 0;
 * VOW_EINVAL: it is on, or the file cannot be made or written (errno tells why: ENXIO, a
 * pipe that nobody reads; ENOSYS, a library made with MINIMAL=1); VOW_ENOMEM. */
VOW_API int vow_trace_start(const char *VOW_NULLABLE path);

/** Ends the file and switches tracing off, as the exit of the program does; a reader who
 * takes nothing is waited for, a second at most. Returns 0; VOW_EINVAL: it is off; or, above
 * 0, how many events are not in the file (INT_MAX: or more), and errno tells why: EAGAIN, its
 * reader was slow; ENOMEM. The first time that happens it is said on standard error, too. */
VOW_API int vow_trace_stop(void);

/** Names promise (borrowed) in traces, graphs and reports of unhandled rejections with a copy
 * of label (borrowed, 255 bytes at most; NULL: none again). Does nothing while tracing is
 * off. (vow_reaction.label names a reaction from its beginning.) */
VOW_API void vow_promise_set_label(vow_promise *promise, const char *VOW_NULLABLE label);

#define VOW_GRAPH_DOT 0u  /**< for Graphviz: what is pending */
#define VOW_GRAPH_JSON 1u /**< all that is live */

/** Writes the promises that are alive now, and what waits for what, to the descriptor fd.
 * Waits for its reader as write does, and holds up nobody else; raises no SIGPIPE. Returns
 * 0; VOW_EINVAL: tracing is off, no such format, or fd takes nothing (errno tells why);
 * VOW_ENOMEM. */
VOW_API int vow_graph_write(int fd, uint32_t format);

/* Blocks, where the compiler has them (clang -fblocks; link BlocksRuntime). */
#if defined(__BLOCKS__) && !defined(VOW_IMPLEMENTATION)
/** Of the compiler's runtime. */
extern void *_Block_copy(const void *block);
/** Of the compiler's runtime. */
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
