/* options.c: reads the command line, and refuses with a clear message what makes no sense. */
#define _POSIX_C_SOURCE 200809L
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "vow.h"

#define MOST_REQUESTS 1000000
#define MOST_MILLISECONDS 3600000

static const char help[] =
    "vow-demo: three chained HTTP requests over a loopback socket, driven by promises\n"
    "\n"
    "  vow-demo                        run one chain and print each step\n"
    "  vow-demo --fail=KIND            see a failure reach the one catch; KIND is\n"
    "      refuse                        nobody listens on the port\n"
    "      status                        the answer is not 200\n"
    "      body                          the body is malformed\n"
    "      hang                          the server reads the request and stays silent\n"
    "  vow-demo --requests N           run N chains, print throughput and latency\n"
    "      --parallel M                  M at a time (10)\n"
    "  --loop                          the client has one thread, which runs an event loop;\n"
    "                                  without it, it uses libdispatch's threads\n"
    "  --timeout MS                    give up on a request after MS milliseconds\n"
    "                                  (5000; with --fail=hang 500)\n"
    "  --help                          this text\n"
    "\n"
    "Exit status: 0 if everything went as designed, 1 if not, 2 for wrong options.\n";

static const char *const kinds[] = {"", "refuse", "status", "body", "hang"};

/* A whole number from 1 to `most`; 0 and a message if the text is none. */
static long read_number(const char *option, const char *text, long most) {
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || number < 1 ||
        number > most) {
        fprintf(stderr, "vow-demo: --%s needs a whole number from 1 to %ld, not \"%s\"\n", option,
                most, text);
        return 0;
    }
    return number;
}

static bool read_fault(const char *text, enum fault *fault) {
    for (int i = FAULT_REFUSE; i <= FAULT_HANG; i++) {
        if (strcmp(text, kinds[i]) == 0) {
            *fault = (enum fault)i;
            return true;
        }
    }
    fprintf(stderr, "vow-demo: --fail needs refuse, status, body or hang, not \"%s\"\n", text);
    return false;
}

/* How many chains the limit of open files allows: each has a socket at both ends, and as many may
 * still be closing. Raises the limit as far as it goes. */
static long most_parallel(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return 100;
    }
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < 128) {
        return 10;
    }
    return limit.rlim_cur > 65536 ? 16000 : (long)(limit.rlim_cur - 64) / 4;
}

static enum options_answer check(struct options *options, long parallel, long timeout_ms) {
    if (options->fault != FAULT_NONE && options->requests != 0) {
        fprintf(stderr, "vow-demo: --fail shows one chain, so it does not go with --requests\n");
        return OPTIONS_WRONG;
    }
    if (parallel != 0 && options->requests == 0) {
        fprintf(stderr, "vow-demo: --parallel needs --requests\n");
        return OPTIONS_WRONG;
    }
    options->parallel = parallel == 0 ? 10 : (size_t)parallel;
    if (timeout_ms == 0) {
        timeout_ms = options->fault == FAULT_HANG ? 500 : 5000;
    }
    options->timeout_ns = timeout_ms * VOW_MS;
    return OPTIONS_RUN;
}

enum options_answer options_read(struct options *options, int count, char **arguments) {
    static const struct option known[] = {
        {"fail", required_argument, NULL, 'f'},
        {"requests", required_argument, NULL, 'r'},
        {"parallel", required_argument, NULL, 'p'},
        {"timeout", required_argument, NULL, 't'},
        {"loop", no_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    long requests = 0, parallel = 0, timeout_ms = 0;
    int option;
    memset(options, 0, sizeof *options);
    while ((option = getopt_long(count, arguments, "", known, NULL)) != -1) {
        bool good = true;
        switch (option) {
        case 'f':
            good = read_fault(optarg, &options->fault);
            break;
        case 'r':
            requests = read_number("requests", optarg, MOST_REQUESTS);
            good = requests != 0;
            break;
        case 'p':
            parallel = read_number("parallel", optarg, most_parallel());
            good = parallel != 0;
            break;
        case 't':
            timeout_ms = read_number("timeout", optarg, MOST_MILLISECONDS);
            good = timeout_ms != 0;
            break;
        case 'l':
            options->loop = true;
            break;
        case 'h':
            fputs(help, stdout);
            return OPTIONS_HELP;
        default: /* getopt_long has said what is wrong */
            good = false;
        }
        if (!good) {
            fprintf(stderr, "vow-demo: --help lists the options\n");
            return OPTIONS_WRONG;
        }
    }
    if (optind < count) {
        fprintf(stderr, "vow-demo: \"%s\" is no option; --help lists them\n", arguments[optind]);
        return OPTIONS_WRONG;
    }
    options->requests = (size_t)requests;
    return check(options, parallel, timeout_ms);
}
