/* Declares the few libdispatch functions that the tests use, so that gcc needs no headers of it. */
#ifndef VOW_TEST_DISPATCH_H
#define VOW_TEST_DISPATCH_H

extern char _dispatch_main_q;
extern char _dispatch_queue_attr_concurrent;
extern void *dispatch_queue_create(const char *label, void *attribute);
extern void dispatch_release(void *object);
extern void dispatch_async_f(void *queue, void *context, void (*work)(void *context));
extern void dispatch_suspend(void *queue);
extern void dispatch_resume(void *queue);
/* What a run loop needs: a descriptor that is readable when the main queue has work, and a call on
 * the main thread that does it. */
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *unused);

#define QUEUE_SERIAL NULL
#define QUEUE_CONCURRENT ((void *)&_dispatch_queue_attr_concurrent)

#endif
