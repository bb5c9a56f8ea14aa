/* callbacks.c: gives the callbacks that the README shows what they leave out: the headers, and a
 * main that has the same four outcomes as its program with promises. */
#include <errno.h>
#include <glib-unix.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "callbacks.inc" /* the block of the README */

static void done(int error, int number, void *context) {
    GMainLoop *loop = context;
    if (error == 0)
        printf("%d\n", number);
    else
        puts(error == ETIMEDOUT   ? "it took too long"
             : error == ECANCELED ? "cancelled"
                                  : "no number");
    g_main_loop_quit(loop);
}

int main(void) {
    int ends[2];
    GMainLoop *loop = g_main_loop_new(NULL, FALSE);
    if (pipe(ends) != 0)
        return 1;
    start_reading(ends[0], done, loop);
    g_main_loop_run(loop);
    cancel_reading(start_reading(ends[0], done, loop));
    start_reading(ends[0], done, loop);
    if (write(ends[1], "?", 1) == 1)
        g_main_loop_run(loop);
    start_reading(ends[0], done, loop);
    if (write(ends[1], "42", 2) == 2)
        g_main_loop_run(loop);
    g_main_loop_unref(loop);
}
