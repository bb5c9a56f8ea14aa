/* The executors of errands: loops, serial ones, the program's own threads, dispatch queues. */
#include "errands.h"
#include "threads.h"

#include "../../c/dispatch.h"

#include <pthread.h>
#include <stdlib.h>

enum { HANDS = 2 };

typedef struct job {
    struct job *next;
    void (*run)(void *work);
    void *work;
} job;

/* A queue, and threads that take from it. */
typedef struct workshop {
    pthread_mutex_t lock;
    pthread_cond_t change;
    pthread_t hands[HANDS];
    int hand_count;
    job *first, **last;
    bool ends;
    atomic_bool closed; /* its executor is gone */
} workshop;

static workshop shops[2];
static void *queues[3];
static _Thread_local workshop *shop_here;

static void *work(void *argument) {
    workshop *self = shop_here = argument;
    pthread_mutex_lock(&self->lock);
    while (!self->ends || self->first != NULL) {
        job *next = self->first;
        if (next == NULL) {
            pthread_cond_wait(&self->change, &self->lock);
            continue;
        }
        self->first = next->next;
        self->last = self->first == NULL ? &self->first : self->last;
        pthread_mutex_unlock(&self->lock);
        next->run(next->work);
        free(next);
        pthread_mutex_lock(&self->lock);
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

static void submit(void *context, void (*run)(void *work), void *piece) {
    workshop *self = context;
    job *next = malloc(sizeof *next);
    *next = (job){NULL, run, piece};
    pthread_mutex_lock(&self->lock);
    *self->last = next;
    self->last = &next->next;
    pthread_cond_signal(&self->change);
    pthread_mutex_unlock(&self->lock);
}

static bool is_here(void *context) {
    return shop_here == context;
}

static void closed(void *context) {
    workshop *self = context;
    if (atomic_exchange(&self->closed, true)) {
        differ("an executor is destroyed twice", (int)(self - shops));
    }
}

static const vow_executor_class serial_class = {sizeof serial_class, submit, is_here, closed,
                                                VOW_SERIAL};
static const vow_executor_class loose_class = {sizeof loose_class, submit, NULL, closed, 0};

static vow_executor *open_shop(workshop *self, const vow_executor_class *cls, int hands) {
    *self = (workshop){.hand_count = hands};
    self->last = &self->first;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->change, NULL);
    for (int i = 0; i < hands; i++) {
        pthread_create(&self->hands[i], NULL, work, self);
    }
    return vow_executor_custom(cls, self);
}

static bool shops_closed(void) {
    return atomic_load(&shops[0].closed) && atomic_load(&shops[1].closed);
}

static void close_shop(workshop *self) {
    pthread_mutex_lock(&self->lock);
    self->ends = true;
    pthread_cond_broadcast(&self->change);
    pthread_mutex_unlock(&self->lock);
    for (int i = 0; i < self->hand_count; i++) {
        pthread_join(self->hands[i], NULL);
    }
    pthread_cond_destroy(&self->change);
    pthread_mutex_destroy(&self->lock);
}

void open_desks(void) {
    for (int i = 0; i < 3; i++) {
        queues[i] = dispatch_queue_create("fuzz", i == 0 ? QUEUE_SERIAL : QUEUE_CONCURRENT);
    }
    o.executors[DESK_SERIAL_0] = vow_executor_serial("first");
    o.executors[DESK_CUSTOM_SERIAL] = open_shop(&shops[0], &serial_class, 1);
    o.executors[DESK_SERIAL_1] = vow_executor_serial("second");
    o.executors[DESK_QUEUE] = vow_executor_dispatch(queues[0], VOW_SERIAL);
    o.executors[DESK_BARRIER] = vow_executor_dispatch(queues[1], VOW_BARRIER);
    o.executors[DESK_CUSTOM] = open_shop(&shops[1], &loose_class, HANDS);
    o.executors[DESK_CONCURRENT] = vow_executor_dispatch(queues[2], 0);
    o.executors[DESK_POOL] = vow_executor_pool();
    o.executors[DESK_INLINE] = vow_executor_inline();
}

/* Their loops are destroyed by the threads that run them. */
void close_desks(void) {
    for (int i = DESK_SERIAL_0; i < DESK_POOL; i++) {
        vow_executor_release(o.executors[i]);
    }
    wait_for_all(shops_closed, "an executor is not destroyed");
    for (int i = 0; i < 2; i++) {
        close_shop(&shops[i]);
    }
    for (int i = 0; i < 3; i++) {
        dispatch_release(queues[i]);
    }
}
