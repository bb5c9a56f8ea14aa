// Runs the tests of one program in turn and checks that each leaves nothing behind.
//
// TEST("a sentence that is true") { ... } in any file; main is in main.cpp. TEST_SLOWNESS in the
// environment stretches every limit of time.
#ifndef VOW_CPP_HARNESS_HPP
#define VOW_CPP_HARNESS_HPP

#include <vow.hpp>

#include <atomic>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

using namespace std::chrono_literals;

struct test {
    const char *sentence;
    void (*run)();
    const char *file;
    int line;
};

void add_test(const test &added);
void fail(const char *file, int line, const std::string &what);

struct adder {
    explicit adder(const test &added) {
        add_test(added);
    }
};

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TEST(text)                                                                                 \
    static void JOIN(test_, __LINE__)();                                                           \
    static const adder JOIN(adds_, __LINE__)({text, JOIN(test_, __LINE__), __FILE__, __LINE__});   \
    static void JOIN(test_, __LINE__)()

#define CHECK(...)                                                                                 \
    do {                                                                                           \
        if (!(__VA_ARGS__))                                                                        \
            fail(__FILE__, __LINE__, "not true: " #__VA_ARGS__);                                   \
    } while (false)
#define CHECK_EQ(actual, expected) check_equal((actual), (expected), #actual, __FILE__, __LINE__)
/// The statement throws an exception of exactly this type; gives a copy of it.
#define CHECK_THROWS(type, ...)                                                                    \
    check_throws<type>([&] { static_cast<void>(__VA_ARGS__); }, #__VA_ARGS__, __FILE__, __LINE__)

template <class A, class B>
void check_equal(const A &actual, const B &expected, const char *text, const char *file, int line) {
    if (actual == expected)
        return;
    std::ostringstream out;
    out << text << " is " << actual << ", expected " << expected;
    fail(file, line, out.str());
}

template <class E, class Body>
std::optional<E> check_throws(Body body, const char *text, const char *file, int line) {
    try {
        body();
    } catch (const E &exception) {
        if (typeid(exception) == typeid(E))
            return exception;
        fail(file, line, std::string(text) + " throws a type derived from the one expected");
        return exception;
    } catch (const std::exception &exception) {
        fail(file, line, std::string(text) + " throws something else: " + exception.what());
        return std::nullopt;
    } catch (...) {
        fail(file, line, std::string(text) + " throws something else");
        return std::nullopt;
    }
    fail(file, line, std::string(text) + " throws nothing");
    return std::nullopt;
}

int slowness();

/// Waits for something that another thread does; false: it took too long.
template <class Condition> bool comes_true(Condition condition) {
    for (int tries = 0; tries < 60000 * slowness(); tries++) {
        if (condition())
            return true;
        std::this_thread::sleep_for(1ms);
    }
    return false;
}

/// Counts its objects: each test must end with as many as it began.
struct tracked {
    static std::atomic<long> alive;
    static std::atomic<long> copies;
    int number;

    explicit tracked(int n = 0) : number(n) {
        alive++;
    }
    tracked(const tracked &other) : number(other.number) {
        alive++;
        copies++;
    }
    tracked(tracked &&other) noexcept : number(std::exchange(other.number, -1)) {
        alive++;
    }
    tracked &operator=(const tracked &) = default;
    tracked &operator=(tracked &&) = default;
    ~tracked() {
        alive--;
    }
};

/// The same, and can only be moved.
struct unique : tracked {
    using tracked::tracked;
    unique(unique &&) = default;
    unique &operator=(unique &&) = default;
};

/// How often this thread has called operator new.
long allocations();
/// How often this thread has thrown an exception; `throw;` counts only where it is the runtime's
/// own.
long throws();
/// How often the library has asked for memory.
long library_allocations();

#endif
