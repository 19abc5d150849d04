// Lines of Q·A·B complex points in shared memory, several side by side.
//
// The time index of a point of a line is q·A·B + a·B + b, its frequency index is kq + Q·(ka +
// A·kb). Between its steps a line is stored in slots (u, a or ka, b), where u < U numbers the
// transforms that lie side by side: it stands for a line and its q or kq. A step reads the points
// along one index of the slots into registers, transforms them and writes them back to the same
// slots.
#pragma once
#include "fields.cuh"
#include "fourier.cuh"
#include "ptx.cuh"

// The positions of slots. SIDE threads with consecutive u, for each of PHASE/SIDE consecutive a or b,
// cause no bank conflict. PHASE is the number of points that shared memory delivers at a time: 8
// points of 16 bytes or 16 points of 8 bytes. If there are fewer than PHASE/SIDE values of b, the
// next threads have the next a or u.
template <u32 U, u32 A, u32 B, u32 SIDE, u32 PHASE = 8>
struct Slots {
    static constexpr u32 padded(u32 n, u32 rest) { return n + (rest % PHASE + PHASE - n % PHASE) % PHASE; }
    static constexpr u32 SKIP = PHASE == 16 && SIDE * B < PHASE ? PHASE / B : SIDE;
    static constexpr u32 STRIDE_A = padded(U, SIDE), STRIDE_B = padded(STRIDE_A * A, SKIP);
    static constexpr u32 COUNT = STRIDE_B * B;
    static DEVICE u32 at(u32 u, u32 a, u32 b) { return u + STRIDE_A * a + STRIDE_B * b; }
};

// The powers of a factor that `transform` uses, from a list.
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

// The powers of the product of two factors, the second of which is near 1. The list `excess` has
// the differences of the second factor's powers from 1, so the product is as accurate as its first
// factor.
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

// Reads the R points at `points`, at distances of `stride`.
template <int R>
DEVICE void take(Complex (&x)[R], const Complex* points, u32 stride) {
    unrolled<0, R>([&](auto i) { x[VALUE(i)] = points[VALUE(i) * stride]; });
}
// Writes the result of a transform to `points`, at distances of `stride`, in the order of
// frequencies.
template <int R>
DEVICE void put(const Complex (&x)[R], Complex* points, u32 stride) {
    unrolled<0, R>([&](auto k) { points[VALUE(k) * stride] = x[place_of(R, VALUE(k))]; });
}
// Reads a point from global memory, bypassing the first-level cache.
DEVICE Complex load(const Complex* point) {
    double2 v = __ldcg((const double2*)point);
    return {v.x, v.y};
}
// Writes a point to global memory, bypassing the first-level cache. With STREAMING, it is marked as
// the first to be evicted from the second-level cache.
DEVICE void store(Complex* point, Complex v) {
    double2 w = make_double2(v.re, v.im);
#if STREAMING
    __stcs((double2*)point, w);
#else
    __stcg((double2*)point, w);
#endif
}
template <int R>
DEVICE void load(Complex (&x)[R], const Complex* points, u32 stride) {
    unrolled<0, R>([&](auto i) { x[VALUE(i)] = load(points + VALUE(i) * stride); });
}
template <int R>
DEVICE void store(const Complex (&x)[R], Complex* points, u32 stride) {
    unrolled<0, R>([&](auto k) { store(points + VALUE(k) * stride, x[place_of(R, VALUE(k))]); });
}

// Returns the number of items of `radix` points that a thread has in registers at a time, for
// `items` items and `threads` threads.
constexpr u32 at_once(u32 items, u32 threads, int radix) {
    u32 turns = radix <= 4 ? 4 : radix <= 8 ? 2 : 1;
    return items % (turns * threads) == 0 ? turns : 1;
}

// Waits for all threads of a team, which is a run of TEAM threads.
template <u32 TEAM>
DEVICE void barrier_of() {
    if constexpr (TEAM == 32) {
        __syncwarp();
    } else if constexpr (TEAM == THREADS) {
        __syncthreads();
    } else {
        team_barrier<TEAM>();
    }
}

// A step of a transform: barrier(), then work(item, powers(item)) for all items of radix R. Each
// team, which is a run of TEAM threads, has an equal share of consecutive items. The powers of the
// first items are loaded before the barrier, and those of the next items after the work on the
// present items.
template <int R, u32 ITEMS, u32 TEAM, class Barrier, class Powers, class Work>
DEVICE void step(const Barrier& barrier, const Powers& powers, const Work& work) {
    constexpr u32 SHARE = ITEMS / (THREADS / TEAM);
    static_assert(THREADS % TEAM == 0 && ITEMS % (THREADS / TEAM) == 0, "teams have the same share");
    constexpr u32 ONCE = at_once(SHARE, TEAM, R), SPAN = ONCE * TEAM;
    constexpr bool EVEN = SHARE % SPAN == 0;
    const u32 begin = threadIdx.x / TEAM * SHARE, worker = threadIdx.x % TEAM;
    decltype(powers(0)) w[ONCE];
    auto fetch = [&](u32 first) {
        unrolled<0, (int)ONCE>([&](auto i) {
            u32 item = first + VALUE(i) * TEAM;
            if (EVEN || item < SHARE) w[VALUE(i)] = powers(begin + item);
        });
    };
    auto done = [&](u32 first) {
        unrolled<0, (int)ONCE>([&](auto i) {
            u32 item = first + VALUE(i) * TEAM;
            if (EVEN || item < SHARE) work(begin + item, w[VALUE(i)]);
        });
    };
    fetch(worker);
    barrier();
    if constexpr (SHARE <= SPAN) {
        done(worker);
    } else {
#pragma unroll 1
        for (u32 first = worker; first < SHARE; first += SPAN) {
            done(first);
            if (first + SPAN < SHARE) fetch(first + SPAN);
        }
    }
}
