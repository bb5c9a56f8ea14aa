/* The core's handles as types that Swift counts, by the core's own functions: a promise in Swift is
 * the record itself. For the Swift face alone. Any thread may have one, see vow.h. */
#ifndef VOW_HANDLES_H
#define VOW_HANDLES_H

#define VOW_COUNTED(retaining, releasing)                                                          \
    __attribute__((swift_attr("import_reference"), swift_attr("retain:" #retaining),               \
                   swift_attr("release:" #releasing), swift_attr("@Sendable")))

/* The field has no use: Swift imports no type without a field. */
struct VOW_COUNTED(vow_swift_retain_promise, vow_swift_release_promise) PromiseHandle {
    void *unused;
};
struct VOW_COUNTED(vow_swift_retain_resolver, vow_swift_release_resolver) ResolverHandle {
    void *unused;
};

/* The functions of vow.h, with the types that Swift wants. */
struct PromiseHandle *
vow_swift_retain_promise(struct PromiseHandle *promise) __asm__("vow_promise_retain");
void vow_swift_release_promise(struct PromiseHandle *promise) __asm__("vow_promise_release");
struct ResolverHandle *
vow_swift_retain_resolver(struct ResolverHandle *resolver) __asm__("vow_resolver_retain");
void vow_swift_release_resolver(struct ResolverHandle *resolver) __asm__("vow_resolver_release");

/* The handle of a reference, which is taken over without being counted; Unmanaged counts one up and
 * down. */
#define VOW_TAKES __attribute__((swift_attr("returns_retained")))
VOW_TAKES static inline struct PromiseHandle *vow_swift_take_promise(void *promise) {
    return (struct PromiseHandle *)promise;
}
VOW_TAKES static inline struct ResolverHandle *vow_swift_take_resolver(void *resolver) {
    return (struct ResolverHandle *)resolver;
}

#endif
