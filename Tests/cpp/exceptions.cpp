// Exceptions as rejections, and back.
#include "harness.hpp"

#include <stdexcept>

namespace {
struct parse_error : std::runtime_error {
    explicit parse_error(int at) : std::runtime_error("parse error"), line(at) {
    }
    int line;
};
struct own_error : vow::error {
    own_error() : vow::error("own", 7, "mine") {
    }
    int extra = 11;
};
} // namespace

TEST("the very exception comes out, through links, adoption and combinators") {
    const auto p = vow::async([]() -> int { throw parse_error(17); });
    CHECK_EQ(CHECK_THROWS(parse_error, p.get())->line, 17);
    CHECK_EQ(CHECK_THROWS(parse_error, p.then([](int x) { return x; }).get())->line, 17);
    CHECK_EQ(CHECK_THROWS(parse_error, vow::fulfilled().then([=] { return p; }).get())->line, 17);
    CHECK_EQ(CHECK_THROWS(parse_error, vow::all(vow::fulfilled(1), p).get())->line, 17);
}

TEST("it is one object for all its readers") {
    const auto p = vow::rejected<int>(parse_error(3));
    const void *seen[2] = {};
    for (auto &each : seen)
        try {
            p.get();
        } catch (const parse_error &e) {
            each = &e;
        }
    CHECK(seen[0] != nullptr && seen[0] == seen[1]);
}

TEST("C reads an exception as an error of the domain c++ with its message") {
    const auto p = vow::rejected<int>(parse_error(3));
    vow_value native;
    CHECK(vow_promise_peek(p.native(), &native));
    CHECK_EQ(vow_error_domain(native), std::string("c++"));
    CHECK_EQ(vow_error_message(native), std::string("parse error"));
}

TEST("what is no std::exception is thrown and caught as well") {
    CHECK_EQ(*CHECK_THROWS(int, vow::async([] { throw 42; }).get()), 42);
    CHECK_THROWS(std::string, vow::rejected<int>(std::string("text")).get());
}

TEST("an error of C is a vow::error with domain, code, message and payload") {
    const auto p =
        vow::promise<int>::adopt(vow_promise_with(vow_error_wrap("disk", 5, "full", vow_int(99))));
    const auto error = CHECK_THROWS(vow::error, p.get());
    CHECK(error && error->domain() == std::string("disk") && error->code() == 5 &&
          error->what() == std::string("full"));
    CHECK_EQ(error->payload().as<int>(), 99);
    CHECK(!error->index());
    CHECK_EQ(error->attempts(), 0);
}

TEST("a vow::error that is thrown is the C error, and keeps its payload") {
    const auto p =
        vow::async([]() -> int { throw vow::error("disk", 5, "full", vow::value::of(99)); });
    CHECK(p.wait() == vow::state::rejected);
    CHECK_EQ(vow_error_code(p.peek()->native()), 5);
    CHECK_EQ(vow_error_payload(p.peek()->native()).as.integer, 99);
    CHECK_THROWS(vow::error, p.get());
}

TEST("a type derived from vow::error comes back whole, and C sees its domain and code") {
    const auto p = vow::async([]() -> int { throw own_error(); });
    CHECK_EQ(CHECK_THROWS(own_error, p.get())->extra, 11);
    CHECK_EQ(vow_error_code(p.peek()->native()), 7);
    CHECK_EQ(p.recover("own", 7, [] { return 1; }).get(), 1);
    CHECK_EQ(p.recover([](const own_error &e) { return e.extra; }).get(), 11);
    CHECK_EQ(p.recover([](const vow::error &e) { return int(e.code()); }).get(), 7);
}

TEST("the library's own errors have types") {
    const auto broken = vow::pending<int>().promise;
    CHECK_THROWS(vow::broken_promise, broken.get());
    auto pr = vow::pending<int>();
    auto &p = pr.promise;
    p.cancel();
    CHECK_THROWS(vow::cancelled, p.get());
    CHECK_THROWS(vow::timed_out, vow::delay(1h).timeout(1ms).get());
    CHECK_THROWS(vow::cancelled, vow::async([] { throw vow::cancelled(); }).get());
    CHECK_EQ(p.recover([](const vow::cancelled &) { return 1; }).get(), 1);
    CHECK_EQ(p.recover([](const std::exception &) { return 2; }).get(), 2);
    CHECK_THROWS(vow::cancelled, p.recover([](const vow::timed_out &) { return 2; }).get());
}

TEST("a plain error has no exception in it") {
    const auto p = vow::rejected<int>(std::out_of_range("too far"));
    vow_value native = vow_none();
    vow_promise_peek(p.native(), &native);
    const vow::error error(vow::value::borrow(native));
    CHECK(error.payload().native().kind == VOW_OBJECT);
    const vow::error plain = error.plain();
    CHECK(plain.payload().native().kind == VOW_NONE && plain.domain() == std::string("c++") &&
          plain.what() == std::string("too far"));
}

TEST("a rejection with a value that is no error is errc::no_error with that payload") {
    auto pr = vow::pending<int>();
    auto &p = pr.promise;
    auto &r = pr.resolver;
    vow_reject(r.native(), vow_int(3));
    const auto error = CHECK_THROWS(vow::error, p.get());
    CHECK(error && error->is(vow::errc::no_error) && error->payload().as<int>() == 3);
}

TEST("out of memory in a handler is std::bad_alloc there and VOW_ENOMEM in C") {
    const auto p = vow::async([]() -> int { throw std::bad_alloc(); });
    CHECK_THROWS(std::bad_alloc, p.get());
    CHECK_EQ(vow_error_code(p.peek()->native()), VOW_ENOMEM);
}

TEST("an empty exception_ptr is a wrong argument") {
    const auto error = CHECK_THROWS(vow::error, vow::rejected<int>(std::exception_ptr()).get());
    CHECK(error && error->is(vow::errc::invalid_argument));
}

TEST("an exception that nobody saw is reported once, as itself") {
    static std::atomic<int> reported{0};
    vow::on_unhandled([](std::exception_ptr exception) {
        try {
            std::rethrow_exception(exception);
        } catch (const parse_error &e) {
            reported += e.line;
        }
    });
    static_cast<void>(vow::rejected<int>(parse_error(5)));
    vow::rejected<int>(parse_error(7)).detach();
    CHECK_EQ(reported.load(), 12);
    vow::on_unhandled(nullptr);
}

TEST("a wait that is refused says that it would be a deadlock") {
    const auto says = [](auto wait) {
        auto [first, resolver] = vow::pending<int>();
        vow::promise<int> own;
        own = first.then([&](int) -> int { return wait(own), 0; });
        resolver.resolve(1);
        const auto error = CHECK_THROWS(vow::error, own.get());
        CHECK(error && error->is(vow::errc::deadlock));
        CHECK(error && std::string(error->what()).find("deadlock") != std::string::npos);
    };
    says([](const vow::promise<int> &own) { own.get(); });
    says([](const vow::promise<int> &own) { own.get(1h); });
    says([](const vow::promise<int> &own) { own.wait(); });
}
