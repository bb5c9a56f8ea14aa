/// What became of a promise: a value or an exception, as a thing.
#ifndef VOW_OUTCOME_HPP
#define VOW_OUTCOME_HPP

#include "traits.hpp"

namespace vow {
inline namespace v1 {

enum class state : vow_state {
    pending = VOW_PENDING,
    fulfilled = VOW_FULFILLED,
    rejected = VOW_REJECTED,
};

/// The outcome of a settled promise<T>.
template <class T> class outcome {
  public:
    /// Of a C value; a VOW_ERROR is a rejection.
    explicit outcome(value native) noexcept : native_(std::move(native)) {
    }

    [[nodiscard]] bool has_value() const noexcept {
        return !native_.is_error();
    }
    explicit operator bool() const noexcept {
        return has_value();
    }

    /// A copy of the value, or throws the exception.
    T get() const {
        throw_if_rejected();
        static_assert(detail::is_shareable_v<T>, "this value can only be moved: use take()");
        if constexpr (detail::is_shareable_v<T>)
            return value_traits<T>::read(native_.native());
        else
            std::terminate(); // one error says enough
    }

    /// The value moved out, or throws the exception.
    T take() const {
        throw_if_rejected();
        return value_traits<T>::take(native_.native());
    }

    /// The exception; an empty pointer when there is a value.
    [[nodiscard]] std::exception_ptr exception() const noexcept {
        return has_value() ? nullptr : detail::exception_of(native_.native());
    }

    /// The C value or error, borrowed.
    [[nodiscard]] vow_value native() const noexcept {
        return native_.native();
    }

    void throw_if_rejected() const {
        if (!has_value())
            detail::throw_error(native_.native());
    }

  private:
    value native_;
};

/// As an object; or as vow_all_settled puts it into its list: a value, or an error.
template <class T> struct value_traits<outcome<T>> {
    static vow_value write(outcome<T> &&content) {
        return detail::write_object(std::move(content));
    }
    static outcome<T> read(vow_value native) {
        if (const auto *found = detail::box<outcome<T>>::in(native))
            return found->shared();
        return outcome<T>(value::borrow(native));
    }
    static outcome<T> take(vow_value native) {
        return read(native);
    }
};

} // namespace v1
} // namespace vow

#endif
