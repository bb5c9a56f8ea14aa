/* Tests the checked build: a registration that was released is caught wherever it is used. */
#include "aborts.h"

static void hear_of_it(void *context) {
    (void)context;
}

static vow_registration *released(void) {
    vow_registration *registration;
    vow_cancel_source *source = vow_cancel_source_create();
    CHECK_INT_EQ(
        vow_token_register(vow_cancel_source_token(source), hear_of_it, NULL, NULL, &registration),
        0);
    vow_cancel_source_release(source);
    vow_registration_release(registration);
    return registration;
}

static void use_leave(void) {
    vow_registration_leave(released());
}

static void use_stage(void) {
    vow_registration_stage(released());
}

static void use_retain(void) {
    vow_registration_retain(released());
}

static void use_release(void) {
    vow_registration_release(released());
}

TEST("a released registration is caught by every function that takes one, and that is named") {
    check_aborts(use_leave, "vow_registration_leave");
    check_aborts(use_stage, "vow_registration_stage");
    check_aborts(use_retain, "vow_registration_retain");
    check_aborts(use_release, "vow_registration_release");
}

static vow_cancel_source *source;

static void leave_source(void) {
    vow_registration_leave((vow_registration *)source);
}

TEST("another handle in its place is caught, and named") {
    source = vow_cancel_source_create();
    check_aborts(leave_source, "vow_registration_leave: the handle is a cancel source's");
    vow_cancel_source_release(source);
}
