// Coroutines that return promises: co_await, an executor to go on, cancellation as an exception.
#include <vow.hpp>

#include <iostream>
#include <stdexcept>
#include <string>

using namespace std::chrono_literals;

namespace {

vow::promise<int> measure(int sensor) {
    co_await vow::delay(1ms);
    if (sensor == 3)
        throw std::range_error("sensor 3 is broken");
    co_return sensor * 10;
}

// Both are under way at the same time.
vow::promise<int> both() {
    auto [one, two] = co_await vow::all(measure(1), measure(2));
    co_return one + two;
}

vow::promise<std::string> report(vow::executor log) {
    std::string text = std::to_string(co_await both());
    try {
        co_await measure(3);
    } catch (const std::range_error &e) {
        text += std::string(", ") + e.what();
    }
    co_await vow::resume_on(log);
    co_return text + (vow::current_executor() == log ? ", on the log" : ", elsewhere");
}

vow::promise<void> watch() {
    struct closing {
        ~closing() {
            std::cout << "closed\n";
        }
    } file;
    while (true)
        co_await vow::delay(1h);
}

} // namespace

int main() {
    const vow::loop loop; // everything below runs on this thread, inside get()
    std::cout << report(loop.executor()).get() << "\n";

    auto watching = watch();
    watching.cancel(); // its co_await throws vow::cancelled, in the loop
    loop.run_once();
    try {
        watching.get();
    } catch (const vow::cancelled &e) {
        std::cout << e.what() << "\n";
    }
}
