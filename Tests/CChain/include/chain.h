/* chain.h: C links for chains that go through C and Swift. */
#ifndef CHAIN_H
#define CHAIN_H

#include <stdint.h>

struct vow_promise;

/* A promise of a number (owned), fulfilled on the pool. */
struct vow_promise *_Nonnull chain_number(int64_t number);

/* A promise of a text (owned). */
struct vow_promise *_Nonnull chain_text(const char *_Nonnull text);

/* A promise rejected with the error "chain" of this code (owned). */
struct vow_promise *_Nonnull chain_failure(int64_t code);

/* Doubles the number of a promise (consumed); the new one is owned. */
struct vow_promise *_Nonnull chain_doubled(struct vow_promise *_Nonnull promise);

/* Turns each failure of a promise (consumed) into a text "domain:code:message". */
struct vow_promise *_Nonnull chain_described(struct vow_promise *_Nonnull promise);

/* Waits for a promise (borrowed); its number, or the negative code of its error. */
int64_t chain_wait_number(struct vow_promise *_Nonnull promise);

#endif
