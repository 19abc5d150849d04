// A tile of a transform over Z/pZ in shared memory: 2^LOG_POINTS points of 2^LOG_COLUMNS columns, with
// lazy digits in one plane after another; products by general elements, and short transforms whose
// roots are powers of r (Chen et al. 2018: Fürer's trick).
//
//   LOG_POINTS    at most log2(2k)
//   LOG_COLUMNS
//   THREADS       threads of a block, a multiple of 32, and of k/BLOCK unless BLOCK = k
//   BLOCK         digits of a product that a thread computes
#pragma once
#include "gfn_digits.cuh"

constexpr u32 POINTS = 1 << LOG_POINTS, COLUMNS = 1 << LOG_COLUMNS, ELEMENTS = POINTS * COLUMNS;
// In a step, the lanes of a warp process LANES digits of the same point, and 32/LANES columns. Rows
// have odd length, and the length of a plane is 32/LANES modulo 32, so that walks over points and over
// digits use all banks.
constexpr u32 LANES = DIGITS < 64 ? DIGITS / 2 : 32;
constexpr u32 ROW = COLUMNS | 1, PLANE = (POINTS * ROW + 31 - 32 / LANES) / 32 * 32 + 32 / LANES;

DEVICE u32 place(u32 point, u32 column) { return point * ROW + column; }

// The tile in shared memory. First there is one plane of low words for each digit, then the planes
// of the middle words, then those of the high words. So the addresses of the three words of a digit
// differ by constants.
struct Tile {
    static constexpr u32 APART = DIGITS * PLANE;
    u32* words;

    DEVICE Wide take(u32 digit, u32 at) const {
        const u32* p = words + digit * PLANE + at;
        return {p[0], p[APART], p[2 * APART]};
    }
    DEVICE void put(u32 digit, u32 at, Wide z) const {
        u32* p = words + digit * PLANE + at;
        p[0] = z.w0, p[APART] = z.w1, p[2 * APART] = z.w2;
    }
    // The digit without its highest word.
    DEVICE u64 take_digit(u32 digit, u32 at) const {
        const u32* p = words + digit * PLANE + at;
        return join(p[0], p[APART]);
    }
    DEVICE void put_digit(u32 digit, u32 at, u64 x) const {
        u32* p = words + digit * PLANE + at;
        p[0] = low(x), p[APART] = high(x);
    }
};

// Multiplies the elements x and y in registers, and stores the product at index `at` of the tile.
// One thread computes all digits.
DEVICE void multiply_element(Tile tile, u32 at, const u64 (&x)[DIGITS], const u64 (&y)[DIGITS]) {
    Wide first, carried = {0, 0, 0};
    // r^k = −1: the top digit passes its carry to the lowest digit, which is written last.
#pragma unroll
    for (u32 i = 0; i < DIGITS; i++) {
        Column c;
        fill(c, i + 1 < DIGITS ? ~0u : 0);
#pragma unroll
        for (u32 a = i + 1; a < DIGITS; a++) add_product(c, x[a], y[DIGITS + i - a]);
        if (i + 1 < DIGITS) complement(c);
#pragma unroll
        for (u32 a = 0; a <= i; a++) add_product(c, x[a], y[i - a]);
        Wide lo, hi;
        split(c, lo, hi);
        if (i == 0) {
            first = lo;
        } else {
            tile.put(i, at, add(lo, carried));
        }
        carried = hi;
    }
    tile.put(0, at, sub(first, carried));
}

// Multiplies the elements x of the tile by elements y, in place. k/BLOCK threads compute the digits
// of a product. Element e of x is at index place(e) of the tile; y(e)(d) is digit d of the other
// factor. All threads must call this function after a barrier; the tile is complete after another
// barrier.
template <class Place, class Take>
DEVICE void multiply_blocks(Tile tile, Place place, Take y) {
    constexpr u32 AT_ONCE = THREADS * BLOCK / DIGITS;
    // Column `first` + i of a product is the sum of x_a·y_(first + i − a).
    u32 first = threadIdx.x / AT_ONCE * BLOCK;
#pragma unroll 1
    for (u32 e = threadIdx.x % AT_ONCE; e / AT_ONCE * AT_ONCE < ELEMENTS; e += AT_ONCE) {
        // Beyond the end the last element is computed again, and not written.
        bool is_needed = e < ELEMENTS;
        u32 at = place(min(e, ELEMENTS - 1));
        auto digit = y(min(e, ELEMENTS - 1));
        auto x = [&](u32 d) { return tile.take_digit(d, at); };
        Column c[BLOCK];
#pragma unroll
        for (u32 i = 0; i < BLOCK; i++) fill(c[i], ~0u);
        // Each step shifts the window of y by one.
        auto run = [&](u32 from, u32 to) {
            if (from == to) return;
            u64 window[BLOCK];
#pragma unroll
            for (u32 i = 1; i < BLOCK; i++) window[i - 1] = digit((first + i - from) % DIGITS);
#pragma unroll 1
            for (u32 a = from; a < to; a += BLOCK) {
                // In step s, window[(i − s − 1) mod BLOCK] holds the y of column i.
#pragma unroll
                for (u32 s = 0; s < BLOCK; s++) {
                    window[BLOCK - s - 1] = digit((first - a - s) % DIGITS);
                    u64 factor = x(a + s);
#pragma unroll
                    for (u32 i = 0; i < BLOCK; i++) {
                        add_product(c[i], factor, window[(BLOCK + i - s - 1) % BLOCK]);
                    }
                }
            }
        };
        // First the products that have passed the top, with a change of sign.
        run(first + BLOCK, DIGITS);
#pragma unroll
        for (u32 s = 1; s < BLOCK; s++) {
            u64 factor = x(first + s);
#pragma unroll
            for (u32 i = 0; i < s; i++) add_product(c[i], factor, digit(DIGITS + i - s));
        }
#pragma unroll
        for (u32 i = 0; i < BLOCK; i++) complement(c[i]);
#pragma unroll
        for (u32 s = 0; s < BLOCK; s++) {
            u64 factor = x(first + s);
#pragma unroll
            for (u32 i = s; i < BLOCK; i++) add_product(c[i], factor, digit(i - s));
        }
        run(0, first);
        __syncthreads();
        Wide carried = {0, 0, 0};
#pragma unroll
        for (u32 i = 0; i < BLOCK; i++) {
            Wide lo, hi;
            split(c[i], lo, hi);
            if (is_needed) tile.put(first + i, at, add(lo, carried));
            carried = hi;
        }
        __syncthreads();
        if (is_needed) {
            bool wraps = first + BLOCK == DIGITS;
            u32 next = wraps ? 0 : first + BLOCK;
            Wide z = tile.take(next, at);
            tile.put(next, at, wraps ? sub(z, carried) : add(z, carried));
        }
    }
}

// Computes a step of a short transform. In each iteration a thread processes the digits d = lane +
// t·LANES and d + k/2, t < PAIRS, of 2^STAGES points of a column. The lanes of a warp share these
// points, so all of them have read the points before one writes.
template <u32 LOG_LENGTH, u32 STAGES>
DEVICE void step(Tile tile) {
    constexpr u32 SIZE = 1 << STAGES, APART = 1 << (LOG_LENGTH - STAGES);
    constexpr u32 HALF = DIGITS / 2, PAIRS = HALF / LANES;
    constexpr u32 ITEMS = POINTS / SIZE * COLUMNS * LANES;
#pragma unroll 1
    for (u32 first = 0; first < ITEMS; first += THREADS) {
        u32 item = first + threadIdx.x, lane = item % LANES, column = item / LANES % COLUMNS;
        u32 unit = item / LANES / COLUMNS, j = unit % APART, at = place(unit / APART * APART * SIZE + j, column);
        Wide v[PAIRS][SIZE][2];
        if (item < ITEMS) {
#pragma unroll
            for (u32 t = 0; t < PAIRS; t++) {
#pragma unroll
                for (u32 i = 0; i < 2 * SIZE; i++) {
                    v[t][i / 2][i % 2] =
                        tile.take(lane + t * LANES + i % 2 * HALF, at + i / 2 * APART * ROW);
                }
            }
        }
        __syncwarp();
        if (item >= ITEMS) continue;
#pragma unroll
        for (u32 t = 0; t < PAIRS; t++) {
            auto& x = v[t];
            if constexpr (STAGES == 2) {
                Wide y[4][2];
#pragma unroll
                for (u32 h = 0; h < 2; h++) {
                    Wide s = add(x[0][h], x[2][h]), o = add(x[1][h], x[3][h]);
                    y[0][h] = add(s, o), y[2][h] = sub(s, o);
                }
                // The root of order 4 is r^(k/2).
                Wide d[2] = {sub(x[0][0], x[2][0]), sub(x[0][1], x[2][1])};
                Wide o[2] = {sub(x[1][0], x[3][0]), sub(x[1][1], x[3][1])};
                y[1][0] = sub(d[0], o[1]), y[1][1] = add(d[1], o[0]);
                y[3][0] = add(d[0], o[1]), y[3][1] = sub(d[1], o[0]);
#pragma unroll
                for (u32 i = 0; i < 8; i++) x[i / 2][i % 2] = y[i / 2][i % 2];
            } else {
#pragma unroll
                for (u32 h = 0; h < 2; h++) {
                    Wide s = add(x[0][h], x[1][h]);
                    x[1][h] = sub(x[0][h], x[1][h]), x[0][h] = s;
                }
            }
#pragma unroll
            for (u32 i = 0; i < 2 * SIZE; i++) {
                // Output i is multiplied by ω^(i·j), ω = r^(2k/2^LOG_LENGTH).
                u32 turned = lane + t * LANES + i % 2 * HALF;
                if (LOG_LENGTH > STAGES) turned += (2 * DIGITS >> LOG_LENGTH) * j * (i / 2);
                Wide z = negate_if(x[i / 2][i % 2], turned / DIGITS % 2 == 1);
                tile.put(turned % DIGITS, at + i / 2 * APART * ROW, z);
            }
        }
    }
    __syncthreads();
}

// Computes a short transform in steps of two stages, and a step of one stage at the end if
// necessary. Output i is at point `place_of_output(i)`.
template <u32 LOG_LENGTH>
DEVICE void transform(Tile tile) {
    if constexpr (LOG_LENGTH >= 2) {
        step<LOG_LENGTH, 2>(tile);
        transform<LOG_LENGTH - 2>(tile);
    } else if constexpr (LOG_LENGTH == 1) {
        step<1, 1>(tile);
    }
}
DEVICE u32 point_of_output(u32 i) {
    u32 point = 0;
#pragma unroll
    for (u32 left = LOG_POINTS; left > 0; left = left > 2 ? left - 2 : 0) {
        u32 bits = left >= 2 ? 2 : 1;
        point = point << bits | (i & ((1u << bits) - 1));
        i >>= bits;
    }
    return point;
}
