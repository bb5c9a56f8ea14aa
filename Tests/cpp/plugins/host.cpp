// Loads two plug-ins that see nothing of each other: host PLUGIN PLUGIN
#include "plugin.hpp"

#include <cstdio>
#include <dlfcn.h>
#include <string>

namespace {

int failed = 0;

void check(bool good, const char *sentence) {
    std::printf("%s %s\n", good ? "ok" : "not ok", sentence);
    failed |= good ? 0 : 1;
}
/// One in memory. The program has the standard library before it: else that would use what the
/// plug-in shows, and keep it there.
struct loaded {
    void *handle = nullptr;
    const plugin_calls *calls = nullptr;
};
loaded load(const std::string &path) {
    void *const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    auto *const entry =
        handle != nullptr ? reinterpret_cast<plugin_entry *>(dlsym(handle, "plugin")) : nullptr;
    if (entry == nullptr)
        std::printf("not ok %s\n", dlerror());
    return {handle, entry != nullptr ? entry() : nullptr};
}
bool unloads(void *handle, const std::string &path) {
    return dlclose(handle) == 0 && dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD) == nullptr;
}

} // namespace

int main(int count, char **arguments) {
    if (count != 3)
        return 2;
    const loaded first = load(arguments[1]);
    const loaded second = load(arguments[2]);
    const plugin_calls *const one = first.calls;
    const plugin_calls *const two = second.calls;
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
    check(one->use_rest() + two->use_rest() == 0, "each has coroutines, executors and codes");
    check(unloads(first.handle, arguments[1]) && unloads(second.handle, arguments[2]),
          "closed, both are gone");
    return failed;
}
