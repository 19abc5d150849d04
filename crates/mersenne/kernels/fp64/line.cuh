// Lines of Q·A·B complex points in shared memory, several side by side.
//
// A line's time index is q·A·B + a·B + b, its frequency index is
// kq + Q·(ka + A·kb). Between its steps it lies in slots (u, a or ka, b),
// where u < U numbers what stands side by side: the lines, and q or kq.
// A step takes the points of one slot digit into registers, transforms them
// and puts them back where they were.
#pragma once
#include "fourier.cuh"
#include "ptx.cuh"

// Where slots lie. Eight threads with consecutive u meet no bank conflict, and
// neither do SIDE consecutive u for each of 8/SIDE consecutive b.
template <u32 U, u32 A, u32 B, u32 SIDE>
struct Slots {
    static constexpr u32 PADDING = (SIDE % 8 + 8 - U * A % 8) % 8;
    static constexpr u32 STRIDE_A = U, STRIDE_B = U * A + PADDING;
    static constexpr u32 COUNT = STRIDE_B * B;
    static DEVICE u32 at(u32 u, u32 a, u32 b) { return u + STRIDE_A * a + STRIDE_B * b; }
};

// The powers of a factor that `transform` asks for, from a list.
template <int R, u32 STRIDE>
struct Listed {
    Complex w[powers_of(R)];
    DEVICE Listed() {}
    DEVICE Listed(const Complex* __restrict__ list) {
        unrolled<0, powers_of(R)>([&](auto i) { w[VALUE(i)] = list[VALUE(i) * STRIDE]; });
    }
    template <class I>
    DEVICE Complex operator()(I) const {
        return w[slot_of(R, I::value)];
    }
};

// The same for the product of a factor with one near 1, of which the list `excess` has the
// difference from 1: the product is as accurate as its first factor.
template <int R, u32 STRIDE>
struct Turned {
    Listed<R, STRIDE> factor;
    Listed<R, 1> excess;
    DEVICE Turned() {}
    DEVICE Turned(const Complex* __restrict__ list, const Complex* __restrict__ excess) : factor(list), excess(excess) {}
    template <class I>
    DEVICE Complex operator()(I e) const {
        Complex w = factor(e);
        return multiply_add(w, excess(e), w);
    }
};

// R points at `points`, `stride` apart.
template <int R>
DEVICE void take(Complex (&x)[R], const Complex* points, u32 stride) {
    unrolled<0, R>([&](auto i) { x[VALUE(i)] = points[VALUE(i) * stride]; });
}
// The result of a transform, in order.
template <int R>
DEVICE void put(const Complex (&x)[R], Complex* points, u32 stride) {
    unrolled<0, R>([&](auto k) { points[VALUE(k) * stride] = x[place_of(R, VALUE(k))]; });
}
// The same in global memory, past the first cache.
DEVICE Complex load(const Complex* point) {
    double2 v = __ldcg((const double2*)point);
    return {v.x, v.y};
}
DEVICE void store(Complex* point, Complex v) { __stcg((double2*)point, make_double2(v.re, v.im)); }
template <int R>
DEVICE void load(Complex (&x)[R], const Complex* points, u32 stride) {
    unrolled<0, R>([&](auto i) { x[VALUE(i)] = load(points + VALUE(i) * stride); });
}
template <int R>
DEVICE void store(const Complex (&x)[R], Complex* points, u32 stride) {
    unrolled<0, R>([&](auto k) { store(points + VALUE(k) * stride, x[place_of(R, VALUE(k))]); });
}

// How many of its items of R points a thread has in its registers at a time.
constexpr u32 at_once(u32 items, int radix) {
    u32 turns = radix <= 4 ? 4 : radix <= 8 ? 2 : 1;
    return items % (turns * THREADS) == 0 ? turns : 1;
}

// A barrier, then work(item, powers(item)) for all items of radix R, by all threads. Powers of
// the first items are fetched while others are awaited, those of the next after the work on these.
template <int R, u32 ITEMS, class Powers, class Work>
DEVICE void after_barrier(const Powers& powers, const Work& work) {
    constexpr u32 ONCE = at_once(ITEMS, R), SPAN = ONCE * THREADS;
    constexpr bool EVEN = ITEMS % SPAN == 0;
    decltype(powers(0)) w[ONCE];
    auto fetch = [&](u32 first) {
        unrolled<0, (int)ONCE>([&](auto i) {
            u32 item = first + VALUE(i) * THREADS;
            if (EVEN || item < ITEMS) w[VALUE(i)] = powers(item);
        });
    };
    fetch(threadIdx.x);
    __syncthreads();
    if constexpr (ITEMS <= SPAN) {
        unrolled<0, (int)ONCE>([&](auto i) {
            u32 item = threadIdx.x + VALUE(i) * THREADS;
            if (EVEN || item < ITEMS) work(item, w[VALUE(i)]);
        });
    } else {
#pragma unroll 1
        for (u32 first = threadIdx.x; first < ITEMS; first += SPAN) {
            unrolled<0, (int)ONCE>([&](auto i) {
                u32 item = first + VALUE(i) * THREADS;
                if (EVEN || item < ITEMS) work(item, w[VALUE(i)]);
            });
            if (first + SPAN < ITEMS) fetch(first + SPAN);
        }
    }
}
