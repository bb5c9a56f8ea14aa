/* tsan_whole_record.c: what the core calls in place of __tsan_external_write, and does nothing.
 *
 * For `record.pointee.field.change()` swiftc tells ThreadSanitizer, beside the reads and writes
 * that are made, of a change of the whole record, at its first word: which is an atomic one that
 * other threads use at the same time. Nothing is lost without it: every read and write that is
 * really made is instrumented on its own.
 */
void vow_tsan_whole_record(void *address, void *caller, void *tag);

void vow_tsan_whole_record(void *address, void *caller, void *tag) {
    (void)address;
    (void)caller;
    (void)tag;
}
