/// A C value that is retained and released by itself; and which C++ type is in it.
#ifndef VOW_VALUE_HPP
#define VOW_VALUE_HPP

#include "base.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#if defined(__cpp_rtti)
#include <typeinfo>
#endif

namespace vow {
inline namespace v1 {

/// Any value of a promise, as C sees it. promise<value> is a promise of any content. Copying
/// retains.
class value {
  public:
    /// No content.
    value() noexcept = default;

    /// Consumes one reference.
    [[nodiscard]] static value adopt(vow_value owned) noexcept {
        return value(owned);
    }

    /// Takes one more reference.
    [[nodiscard]] static value borrow(vow_value borrowed) noexcept {
        return value(vow_value_retain(borrowed));
    }

    /// A C++ value as value_traits<T> writes it. Throws std::bad_alloc.
    template <class T> [[nodiscard]] static value of(T content);

    value(const value &other) noexcept : native_(vow_value_retain(other.native_)) {
    }
    value(value &&other) noexcept : native_(std::exchange(other.native_, vow_none())) {
    }
    value &operator=(value other) noexcept {
        std::swap(native_, other.native_);
        return *this;
    }
    ~value() {
        vow_value_release(native_);
    }

    [[nodiscard]] vow_kind kind() const noexcept {
        return native_.kind;
    }
    [[nodiscard]] bool is_none() const noexcept {
        return kind() == VOW_NONE;
    }
    [[nodiscard]] bool is_error() const noexcept {
        return kind() == VOW_ERROR;
    }

    /// A copy of the content as a T. Throws vow::error with errc::invalid_argument when it is none.
    template <class T> [[nodiscard]] T as() const;

    /// The bytes of a string, borrowed; empty for other kinds.
    [[nodiscard]] std::string_view text() const noexcept {
        std::size_t length = 0;
        const char *bytes = vow_string_bytes(native_, &length);
        return bytes != nullptr ? std::string_view(bytes, length) : std::string_view();
    }

    /// How many items a list has; 0 for other kinds.
    [[nodiscard]] std::size_t size() const noexcept {
        return vow_list_count(native_);
    }

    /// An item of a list; no content beyond the end.
    [[nodiscard]] value operator[](std::size_t index) const noexcept {
        return borrow(vow_list_at(native_, index));
    }

    /// A description for people.
    [[nodiscard]] std::string describe() const {
        const int length = vow_value_describe(native_, nullptr, 0);
        std::string text(length > 0 ? static_cast<std::size_t>(length) + 1 : 1, '\0');
        vow_value_describe(native_, text.data(), text.size());
        text.pop_back();
        return text;
    }

    /// The C value, borrowed.
    [[nodiscard]] vow_value native() const noexcept {
        return native_;
    }

    /// Gives the reference to the caller.
    [[nodiscard]] vow_value release() noexcept {
        return std::exchange(native_, vow_none());
    }

  private:
    explicit value(vow_value owned) noexcept : native_(owned) {
    }

    vow_value native_ = vow_none();
};

// Shared objects without common symbols recognise the C++ type of a value's content. A value of C++
// has a tag in its reserved word: a hash of the type's name as the ABI mangles it, which is the
// same for every compiler. C ignores it. An object has also, in its first word, a pointer to its
// maker's record of the type; if two makers' addresses differ, name and size decide.

namespace detail {

/// In the reserved word of values that C++ wrote. Swift's numbers of types are below, and the
/// topmost bit is the library's.
inline constexpr std::uint32_t written_by_cpp = std::uint32_t{1} << 30;

/// A shared object's record of a type. Its layout is part of vow::v1.
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
