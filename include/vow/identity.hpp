/// Which C++ type a value's content is of, told by shared objects that share no symbols.
///
/// A value of C++ has a tag in its reserved word: a hash of the type's name as the ABI mangles it,
/// which is the same for every compiler. C ignores it. An object has also, in its first word, a
/// pointer to what its maker knows of the type; where two makers' addresses differ, name and size
/// decide.
#ifndef VOW_IDENTITY_HPP
#define VOW_IDENTITY_HPP

#include "config.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>
#if defined(__cpp_rtti)
#include <typeinfo>
#endif

namespace vow {
inline namespace v1 {
namespace detail {

/// In the reserved word of values that C++ wrote. Swift's numbers of types are below, and the
/// topmost bit is the library's.
inline constexpr std::uint32_t written_by_cpp = std::uint32_t{1} << 30;

/// What one shared object knows of a type. Its layout is part of vow::v1.
struct type_record {
    const char *name;
    std::uint64_t size;
    std::uint64_t alignment;
    std::uint32_t tag;
    bool is_local; ///< of one translation unit: another type may be of the same name

    type_record(const char *its_name, std::uint64_t its_size, std::uint64_t its_alignment) noexcept
        : name(its_name), size(its_size), alignment(its_alignment), tag(2166136261u),
          is_local(is_of_one_unit(its_name)) {
        for (const char *at = name; *at != '\0'; at++)
            tag = (tag ^ static_cast<unsigned char>(*at)) * 16777619u;
        if (is_local)
            tag ^= static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(this) >> 3);
        tag = written_by_cpp | (tag & (written_by_cpp - 1));
    }
    type_record(const type_record &) = delete;
    type_record &operator=(const type_record &) = delete;

    bool operator==(const type_record &other) const noexcept {
        return this == &other ||
               (tag == other.tag && !is_local && size == other.size &&
                alignment == other.alignment && std::strcmp(name, other.name) == 0);
    }

  private:
    /// In an unnamed namespace, or in a static function.
    static bool is_of_one_unit(const char *name) noexcept {
        if (std::strstr(name, "_GLOBAL__N_") != nullptr)
            return true;
        const char *at = std::strstr(name, "ZL");
        return at != nullptr && at[2] >= '0' && at[2] <= '9';
    }
};

template <class T> VOW_OF_EACH_OBJECT const type_record &record_of() noexcept {
    constexpr auto sizes = [] {
        struct both {
            std::uint64_t size, alignment;
        };
        if constexpr (std::is_pointer_v<T>)
            return both{0, 0}; // of what may not be complete
        else
            return both{sizeof(T), alignof(T)};
    }();
#if defined(__cpp_rtti)
    static const type_record record(typeid(T).name(), sizes.size, sizes.alignment);
#else
    static const type_record record(__PRETTY_FUNCTION__, sizes.size, sizes.alignment);
#endif
    return record;
}

/// How each object of C++ begins.
struct object_head {
    const type_record *type;
};

/// The object of a type in a value (borrowed), or nullptr.
inline object_head *object_in(vow_value native, const type_record &type) noexcept {
    if (native.kind != VOW_OBJECT || native.reserved != type.tag)
        return nullptr;
    auto *const found = static_cast<object_head *>(vow_object_pointer(native, nullptr));
    return found != nullptr && *found->type == type ? found : nullptr;
}

} // namespace detail
} // namespace v1
} // namespace vow

#endif
