// Places for handles, made and touched before anything is measured: only what the library itself
// takes shows in allocations and memory.
#ifndef BENCH_SLOTS_H
#define BENCH_SLOTS_H

#include "peer.h"

#include <new>
#include <utility>

template <class T> class Slots {
  public:
    // Room for so many; once, before the first put.
    void reserve(size_t count) {
        places = static_cast<T *>(peer_array(count, sizeof(T)));
        room = count;
    }

    T &put(T &&handle) {
        peer_expect(used < room, "no place for a handle");
        return *new (&places[used++]) T(std::move(handle));
    }

    void clear() {
        for (size_t i = 0; i < used; i++) {
            places[i].~T();
        }
        used = 0;
    }

    T &operator[](size_t index) {
        return places[index];
    }
    T *begin() {
        return places;
    }
    T *end() {
        return places + used;
    }
    size_t size() const {
        return used;
    }

  private:
    T *places = nullptr;
    size_t room = 0, used = 0;
};

#endif
