/* 12-cancel.c: stopping work that nobody wants any more, and one switch for many handlers. */
#include "common.h"

/* ---------------------------------------------------------------- A producer that can be stopped
 *
 * A printer with room for one document. It has nothing to do with promises but the resolver. */

struct printer {
    vow_resolver *resolver; /* NULL: it rests */
    const char *document;
};

/* Vow calls this if the promise is cancelled, or can be read by nobody any more. */
static void take_out(void *context) {
    struct printer *printer = context;
    printf("  the printer stops, \"%s\" is taken out\n", printer->document);
    vow_resolver_release(printer->resolver);
    printer->resolver = NULL;
}

static vow_promise *print(struct printer *printer, const char *document) {
    vow_promise *promise = vow_promise_create(&printer->resolver);
    printer->document = document;
    vow_resolver_on_cancel(printer->resolver, take_out, printer, NULL);
    return promise;
}

/* The end of a print, for which this program does not want to wait. */
static void paper_comes_out(struct printer *printer) {
    if (printer->resolver != NULL) {
        vow_resolve(printer->resolver, vow_string(printer->document, VOW_NUL_TERMINATED));
        vow_resolver_release(printer->resolver);
        printer->resolver = NULL;
    }
}

/* ---------------------------------------------------------------- Handlers */

static vow_value staple(vow_value document, void *context) {
    printf("  %s staples \"%s\"\n", (const char *)context, vow_string_bytes(document, NULL));
    return vow_value_retain(document);
}

static vow_value hear(vow_value error, void *context) {
    vow_value reason = vow_error_payload(error);
    printf("  %s hears of %s", (const char *)context, vow_error_name(vow_error_code(error)));
    printf(", because %s\n", reason.kind == VOW_STRING ? vow_string_bytes(reason, NULL) : "of me");
    return vow_none();
}

/* ---------------------------------------------------------------- Cancelling */

static void cancel_a_chain(struct printer *printer) {
    vow_promise *promise = vow_then(print(printer, "a letter"), staple, "Ada");
    promise = vow_then(promise, staple, "Ben");
    vow_cancel_with(promise, vow_string("the letter has a mistake", VOW_NUL_TERMINATED));

    vow_value outcome = wait_for(promise);
    show("  the chain", outcome);
    show("  its reason", vow_error_payload(outcome));
    vow_value_release(outcome);
    paper_comes_out(printer);
}

static void cancel_one_of_two(struct printer *printer) {
    vow_promise *paper = print(printer, "the minutes");
    vow_promise *ada = vow_then(vow_promise_retain(paper), staple, "Ada");
    vow_promise *ben = vow_then(paper, staple, "Ben");
    vow_cancel(ada); /* Ben still wants it: the printer does not stop */
    paper_comes_out(printer);
    show_result("  Ada", ada);
    show_result("  Ben", ben);
}

static void release_the_last(struct printer *printer) {
    vow_promise *paper = print(printer, "a draft");
    vow_promise_release(paper); /* no handle and no handler is left to read it */
    paper_comes_out(printer);
}

/* ---------------------------------------------------------------- Tokens */

static void on_closing_time(void *context) {
    printf("  %s\n", (const char *)context);
}

/* A handler that runs only while the token is not cancelled. Whoever hears of it cannot undo that:
 * what hear returns is for nobody. */
static vow_promise *staple_in_time(vow_promise *paper, vow_token *token, const char *who) {
    vow_reaction reaction = {.size = sizeof reaction};
    reaction.on_fulfilled = staple;
    reaction.on_rejected = hear;
    reaction.context = (void *)who;
    reaction.token = token;
    return vow_then_with(paper, &reaction);
}

static void close_the_office(struct printer *printer) {
    vow_cancel_source *office = vow_cancel_source_create();
    vow_token *token = vow_cancel_source_token(office);
    vow_promise *paper = print(printer, "a poster");
    vow_promise *ada = staple_in_time(vow_promise_retain(paper), token, "Ada");
    vow_promise *ben = staple_in_time(vow_promise_retain(paper), token, "Ben");
    vow_token_on_cancel(token, on_closing_time, "the light goes out", NULL);

    vow_cancel_source_cancel_with(office, vow_string("it is late", VOW_NUL_TERMINATED));
    show_result("  Ada", ada);
    show_result("  Ben", ben);
    vow_promise_release(staple_in_time(vow_promise_with(vow_none()), token, "Cleo"));

    /* The promise that they read is left alone, and so is the printer. */
    paper_comes_out(printer);
    show_result("  in the tray", paper);
    vow_cancel_source_release(office);
}

int main(void) {
    struct printer printer = {NULL, NULL};
    vow_executor_set_default(
        vow_executor_inline()); /* here and now, so that it reads like a story */
    printf("a chain is cancelled, up to the producer:\n");
    cancel_a_chain(&printer);
    printf("one of two readers is cancelled:\n");
    cancel_one_of_two(&printer);
    printf("the last reader goes:\n");
    release_the_last(&printer);
    printf("a token cancels two handlers at once:\n");
    close_the_office(&printer);
    return nothing_left();
}
