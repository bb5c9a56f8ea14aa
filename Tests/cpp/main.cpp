// The harness: tests, the leak gate, and the counting of memory.
#include "harness.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <new>
#include <unistd.h>
#include <unwind.h>
#include <vector>

std::atomic<long> tracked::alive{0};
std::atomic<long> tracked::copies{0};

namespace {

std::vector<test> &tests() {
    static std::vector<test> all;
    return all;
}
std::atomic<int> failures{0};
const char *running = "";
thread_local long news = 0;
thread_local long raised = 0;
thread_local long library_news = 0; // a worker that starts takes memory of its own

void *count_and_allocate(void *, std::size_t bytes) {
    library_news++;
    return std::malloc(bytes);
}
void deallocate(void *, void *pointer, std::size_t) {
    std::free(pointer);
}

bool balanced(const vow_statistics &before, const vow_statistics &after, long objects) {
    return before.live == after.live && before.pending == after.pending &&
           before.handlers == after.handlers && before.bytes == after.bytes &&
           tracked::alive == objects;
}

/// Threads of the pool may let go of their last references a moment after the test saw its result.
void gate(const vow_statistics &before, long objects) {
    vow_statistics after = vow::statistics();
    comes_true([&] {
        after = vow::statistics();
        return balanced(before, after, objects);
    });
    CHECK_EQ(after.live, before.live);
    CHECK_EQ(after.pending, before.pending);
    CHECK_EQ(after.handlers, before.handlers);
    CHECK_EQ(after.bytes, before.bytes);
    CHECK_EQ(tracked::alive.load(), objects);
}

void hang(int) {
    const char *parts[] = {"not ok ", running, "\n# took too long, and the program gives up\n"};
    for (const char *part : parts)
        if (write(1, part, std::strlen(part)) < 0)
            _exit(3);
    _exit(2);
}

} // namespace

// A sanitizer has an operator new of its own, which it wants to keep.
#if !defined(VOW_SANITIZED)
void *operator new(std::size_t bytes) {
    news++;
    if (void *memory = std::malloc(bytes != 0 ? bytes : 1))
        return memory;
    throw std::bad_alloc();
}
void *operator new(std::size_t bytes, const std::nothrow_t &) noexcept {
    news++;
    return std::malloc(bytes != 0 ? bytes : 1);
}
void operator delete(void *memory) noexcept {
    std::free(memory);
}
void operator delete(void *memory, std::size_t) noexcept {
    std::free(memory);
}

// What is thrown goes through here; the next one of this name is the runtime's.
extern "C" _Unwind_Reason_Code _Unwind_RaiseException(_Unwind_Exception *exception) {
    using raise = _Unwind_Reason_Code (*)(_Unwind_Exception *);
    static const auto raises = reinterpret_cast<raise>(dlsym(RTLD_NEXT, "_Unwind_RaiseException"));
    raised++;
    return raises(exception);
}
#endif

long allocations() {
    return news;
}
long library_allocations() {
    return library_news;
}

long throws() {
    return raised;
}

void add_test(const test &added) {
    tests().push_back(added);
}

void fail(const char *file, int line, const std::string &what) {
    failures++;
    std::cout << "# " << file << ":" << line << ": " << what << std::endl;
}

int slowness() {
    const char *text = std::getenv("TEST_SLOWNESS");
    return std::max(1, text != nullptr ? std::atoi(text) : 1);
}

int main(int count, char **arguments) {
    const vow_allocator counting = {sizeof counting, count_and_allocate, deallocate, nullptr};
    if (vow_set_allocator(&counting) != 0)
        return 3;
    std::signal(SIGALRM, hang);
    std::sort(tests().begin(), tests().end(), [](const test &a, const test &b) {
        const int order = std::strcmp(a.file, b.file);
        return order != 0 ? order < 0 : a.line < b.line;
    });
    int passed = 0;
    int failed = 0;
    for (const test &each : tests()) {
        if (count > 1 && std::strstr(each.sentence, arguments[1]) == nullptr)
            continue;
        const vow_statistics before = vow::statistics();
        const long objects = tracked::alive;
        running = each.sentence;
        failures = 0;
        alarm(static_cast<unsigned>(120 * slowness()));
        try {
            each.run();
        } catch (const std::exception &exception) {
            fail(each.file, each.line, std::string("throws ") + exception.what());
        }
        gate(before, objects);
        std::cout << (failures == 0 ? "ok " : "not ok ") << each.sentence << std::endl;
        (failures == 0 ? passed : failed)++;
    }
    alarm(0);
    std::cout << passed << " passed, " << failed << " failed" << std::endl;
    return failed == 0 && passed > 0 ? 0 : 1;
}
