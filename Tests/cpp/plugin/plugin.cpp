// A shared object whose own symbols are hidden.
#include "plugin.hpp"

vow::promise<parcel> send(std::string text) {
    return vow::async([text = std::move(text)] { return parcel{text}; });
}
vow::promise<parcel> fail() {
    return vow::async([]() -> parcel { throw plugin_error("from the plugin"); });
}
vow::promise<parcel> cancel() {
    return vow::rejected<parcel>(vow::cancelled());
}
std::string read(const vow::promise<parcel> &sent) {
    return sent.get().text;
}
