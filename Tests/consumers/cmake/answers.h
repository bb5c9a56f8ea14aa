/* answers.h: a library whose interface has promises in it. */
#ifndef ANSWERS_H
#define ANSWERS_H

#include <vow.h>

/* A promise (owned) of twice the number. */
vow_promise *answers_twice(int64_t number);

#endif
