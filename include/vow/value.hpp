/// A C value that is retained and released by itself.
#ifndef VOW_VALUE_HPP
#define VOW_VALUE_HPP

#include "config.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

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

    /// What it is, for people.
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

} // namespace v1
} // namespace vow

#endif
