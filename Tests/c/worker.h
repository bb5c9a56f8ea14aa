/* A thread with a queue of work, as a program's own executor: serial and in order. */
#ifndef VOW_TEST_WORKER_H
#define VOW_TEST_WORKER_H

#include "tools.h"

typedef struct worker_item {
    struct worker_item *next;
    void (*run)(void *work);
    void *work;
} worker_item;

typedef struct worker {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    worker_item *first;
    worker_item **last;
    bool stopping;
    pthread_t thread;
    atomic_int submitted;
    atomic_int destroyed;
} worker;

static inline void *worker_loop(void *context) {
    worker *self = context;
    pthread_mutex_lock(&self->lock);
    for (;;) {
        while (self->first == NULL && !self->stopping) {
            pthread_cond_wait(&self->changed, &self->lock);
        }
        worker_item *item = self->first;
        if (item == NULL) {
            break;
        }
        self->first = item->next;
        if (self->first == NULL) {
            self->last = &self->first;
        }
        pthread_mutex_unlock(&self->lock);
        item->run(item->work);
        free(item);
        pthread_mutex_lock(&self->lock);
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

static inline void worker_start(worker *self) {
    memset(self, 0, sizeof *self);
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    self->last = &self->first;
    self->thread = start_thread(worker_loop, self);
}

/* Runs what is queued, then ends the thread. */
static inline void worker_stop(worker *self) {
    pthread_mutex_lock(&self->lock);
    self->stopping = true;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
}

static inline void worker_submit(void *context, void (*run)(void *work), void *work) {
    worker *self = context;
    worker_item *item = malloc(sizeof *item);
    if (item == NULL) {
        abort();
    }
    item->next = NULL;
    item->run = run;
    item->work = work;
    atomic_fetch_add(&self->submitted, 1);
    pthread_mutex_lock(&self->lock);
    *self->last = item;
    self->last = &item->next;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

static inline bool worker_current(void *context) {
    return pthread_equal(pthread_self(), ((worker *)context)->thread) != 0;
}

static inline void worker_destroy(void *context) {
    atomic_fetch_add(&((worker *)context)->destroyed, 1);
}

static const vow_executor_class worker_class = {sizeof(vow_executor_class), worker_submit,
                                                worker_current, worker_destroy, VOW_SERIAL};

#endif
