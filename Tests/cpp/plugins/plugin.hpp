// What each plug-in exports, in C, so that two of different compilers can be loaded beside each
// other.
#ifndef VOW_CPP_PLUGINS_PLUGIN_HPP
#define VOW_CPP_PLUGINS_PLUGIN_HPP

#include <vow.h>

struct plugin_calls {
    vow_promise *(*make_list)();    ///< of a std::vector<int>
    vow_promise *(*make_parcel)();  ///< of a type that no symbol is exported for
    vow_promise *(*make_private)(); ///< of a type that each has, and that is another in each
    vow_promise *(*make_color)();   ///< of an enumeration
    vow_promise *(*make_pointer)(); ///< of a const parcel *
    vow_promise *(*make_failure)(); ///< rejected with a std::logic_error
    // Each consumes a promise: 0 if it reads what the other made, 1 if it is refused as something
    // else.
    int (*read_list)(vow_promise *);
    int (*read_parcel)(vow_promise *);
    int (*read_private)(vow_promise *);
    int (*read_color)(vow_promise *);
    int (*read_pointer)(vow_promise *);
    int (*read_failure)(vow_promise *);
    int (*use_rest)(); ///< what has variables of its own in vow.hpp: 0 if it works
};

extern "C" using plugin_entry = const plugin_calls * ();

#endif
