// Loads two plug-ins that see nothing of each other: host PLUGIN PLUGIN
#include "plugin.hpp"

#include <cstdio>
#include <dlfcn.h>

namespace {

int failed = 0;

void check(bool good, const char *sentence) {
    std::printf("%s %s\n", good ? "ok" : "not ok", sentence);
    failed |= good ? 0 : 1;
}
const plugin_calls *load(const char *path) {
    void *const opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) {
        std::printf("not ok %s\n", dlerror());
        return nullptr;
    }
    auto *const entry = reinterpret_cast<plugin_entry *>(dlsym(opened, "plugin"));
    return entry != nullptr ? entry() : nullptr;
}

} // namespace

int main(int count, char **arguments) {
    if (count != 3)
        return 2;
    const plugin_calls *const one = load(arguments[1]);
    const plugin_calls *const two = load(arguments[2]);
    if (one == nullptr || two == nullptr)
        return 2;
    const auto read_both = [=](auto make, auto read) {
        return (two->*read)((one->*make)()) + (one->*read)((two->*make)());
    };
    using c = plugin_calls;
    check(read_both(&c::make_list, &c::read_list) == 0, "a vector of one is read by the other");
    check(read_both(&c::make_parcel, &c::read_parcel) == 0, "so is a type of the program");
    check(read_both(&c::make_color, &c::read_color) == 0, "an enumeration");
    check(read_both(&c::make_pointer, &c::read_pointer) == 0, "a pointer to a constant");
    check(read_both(&c::make_failure, &c::read_failure) == 0, "an exception is caught by its type");
    check(read_both(&c::make_private, &c::read_private) == 2,
          "types of one translation unit are two, though they have one name");
    check(read_both(&c::make_parcel, &c::read_list) == 2, "what is another type is refused");
    return failed;
}
