// C++ exceptions that leave handlers of C: they end the process, though somebody outside would
// catch them.
#include "harness.hpp"

#include <csignal>
#include <cstring>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {
vow_value throws(vow_value, void *) {
    throw std::runtime_error("out of a handler");
}

vow_value throws_again(vow_value, void *) {
    std::rethrow_exception(std::make_exception_ptr(std::logic_error("kept")));
}

vow_promise *inline_link(vow_promise *promise, vow_handler handler) {
    vow_reaction reaction = {};
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = handler;
    reaction.executor = vow_executor_inline();
    return vow_then_with(promise, &reaction);
}

// What a child process says on standard error that does this and would catch everything; it ends by
// abort.
template <class Part> std::string said_by(Part part) {
    int ends[2];
    std::string said;
    char bytes[512];
    std::fflush(stdout);
    CHECK(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        struct rlimit none = {};
        setrlimit(RLIMIT_CORE, &none);
        alarm(60);
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        try {
            part();
        } catch (...) {
        }
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; (got = read(ends[0], bytes, sizeof bytes)) > 0;)
        said.append(bytes, static_cast<std::size_t>(got));
    close(ends[0]);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    return said;
}

bool has(const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
}
} // namespace

TEST("an exception that leaves a handler of C is not caught outside, but ends the process with its "
     "type") {
    const auto said =
        said_by([] { vow_promise_release(inline_link(vow_promise_with(vow_int(1)), throws)); });
    CHECK(has(said, "vow: an exception of type St13runtime_error left a handler"));
}

TEST("so does one in a loop's handler, and one that is thrown again") {
    auto said = said_by([] {
        vow_loop *loop = vow_loop_create();
        vow_promise_release(vow_async(vow_loop_executor(loop), throws, nullptr));
        vow_loop_run_once(loop, 0);
    });
    CHECK(has(said, "vow: an exception of type St13runtime_error left a handler"));
    said = said_by(
        [] { vow_promise_release(inline_link(vow_promise_with(vow_int(1)), throws_again)); });
    CHECK(has(said, "vow: an exception left a handler"));
}
