// Reads what the plugin made, and the other way round.
#include "plugin.hpp"

#include <cstdio>

namespace {
int failed = 0;

void check(bool good, const char *sentence) {
    std::printf("%s %s\n", good ? "ok" : "not ok", sentence);
    failed |= good ? 0 : 1;
}
template <class E> bool throws(const vow::promise<parcel> &p) {
    try {
        p.get();
    } catch (const E &) {
        return true;
    } catch (...) {
    }
    return false;
}
} // namespace

int main() {
    check(send("x").get().text == "x", "an object of another shared object is read");
    check(read(vow::fulfilled(parcel{"y"})) == "y", "and it reads ours");
    check(throws<plugin_error>(fail()), "an exception of another shared object is caught by type");
    check(fail().recover([](const plugin_error &) { return parcel{"z"}; }).get().text == "z",
          "and recovered from by type");
    check(throws<vow::cancelled>(cancel()), "the library's exceptions are one type in both");
    return failed;
}
