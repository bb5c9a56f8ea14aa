/* The run of a program without the model. */
#ifndef VOW_FUZZ_ENTRY_H
#define VOW_FUZZ_ENTRY_H

#include <stddef.h>
#include <stdint.h>

void run_free(const uint8_t *data, size_t size);

#endif
