/* options.h: what the command line asks for. */
#ifndef DEMO_OPTIONS_H
#define DEMO_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "routes.h"

struct options {
    enum fault fault;
    size_t requests, parallel; /* requests 0: one chain, step by step */
    int64_t timeout_ns;
    bool loop; /* the client runs on a vow_loop */
};

enum options_answer { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_WRONG };

/* Reads the arguments; prints the help, or what is wrong. */
enum options_answer options_read(struct options *options, int count, char **arguments);

#endif
