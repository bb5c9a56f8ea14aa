// Labels, and the graph of what waits for what.
#include "harness.hpp"

#include <cstdio>

TEST("the live graph names who is waited for") {
    CHECK(!vow::stop_trace());
    CHECK_THROWS(vow::error, vow::write_graph(1));
    vow::start_trace();
    CHECK_THROWS(vow::error, vow::start_trace());

    auto work = vow::pending<int>();
    vow::set_label(work.promise, "the \"page\"");
    auto read = work.promise.then([](int number) { return number; });
    std::FILE *file = std::tmpfile();
    vow::write_graph(fileno(file), vow::graph_format::json);
    std::rewind(file);
    std::string text(4096, ' ');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    CHECK(text.find("the \\\"page\\\"") != std::string::npos);
    CHECK(text.find("\"kind\":\"reads\"") != std::string::npos);

    work.resolver.resolve(1);
    CHECK_EQ(read.get(), 1);
    CHECK(vow::stop_trace());
}
