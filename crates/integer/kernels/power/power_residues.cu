// Computes x^e mod m by Montgomery's products (Montgomery 1985) of numbers in two residue systems
// (Kawamura, Koike, Sano and Shimbo 2000), whose changes of base are matrix products of bytes.
//
//   X_LIMBS, E_LIMBS, M_LIMBS   limbs of the operands; X_LIMBS ≤ M_LIMBS < WORDS
//   WORDS     residues of a number in each base, a multiple of 8
//   WINDOW    bits of the exponent for each product
//   GROUPS, TILES   a warp has 8·GROUPS words of 8·TILES numbers at a time
//   WORD_WARPS, NUMBER_WARPS    warps for other words, and for other numbers; BLOCKS blocks per multiprocessor
//
// Bases: n = WORDS primes a_i with the product A, and n other primes b_j with the product B, each
// 2^32 − c with c < 2^16. A number x modulo m is represented by an integer X ≡ x·A (mod m), 0 ≤ X <
// (n + 2)·m, through its residues modulo the a_i and the β_j = X·(B/b_j)^−1 mod b_j. A residue is
// any congruent number below 2^32. For X and Y:
//
//     σ_i = X·Y·c_i mod a_i,  c_i = −1/(m·(A/a_i));  Q = Σ σ_i·A/a_i, so that X·Y + Q·m ≡ 0 (mod A)
//     Z = (X·Y + Q·m)/A in base B:  β_j(Z) = β_j(X)·β_j(Y)·(B/b_j)/A + Q·e_j mod b_j,  e_j = m·(B/b_j)^−1/A
//     Z in base A:  Σ β_j·(B/b_j) − α·B mod a_i,  α = ⌊Σ β_j/2^32 + 1/2⌋
//
// Q < n·(2^32/a_min)·A ≤ (n + 1)·A, hence Z ≤ X·Y/A + (n + 1)·m, which is again less than (n + 2)·m
// since A > (n + 2)²·m: A > 2^(32n − 1) and m < 2^(32n − 32). Σ β_j/b_j is α + Z/B, where Z/B is
// less than (n + 2)/2^31, and exceeds Σ β_j/2^32 by less than n·2^−16. α is computed from the upper
// 16 bits of the β_j, which loses up to n·2^−16: all errors together are below 1/2 for n ≤ 8,192.
// The method requires that m and A have no common divisor; in the rare other case `singular`
// becomes 1.
//
// Matrices: the entry in row j and column i of a matrix W is stored for the four bytes of σ_i, as
// W^(k)_ji = 2^(8k)·W_ji mod b_j, and the four bytes of each of these form rows of their own. A sum
// over all bytes of all σ_i is below 4n·255² < 2^31, and four of them, shifted, are the residue.
// `combine` explains the assignment of bytes to threads.
//
// `matrices` has five matrices of 16·PADDED·WORDS bytes; `words` has the constants of the residues,
// rows of WORDS words; `raised` has A² mod m for each number. The results Z ≡ x^e are below (n +
// 2)·m, with M_LIMBS + 1 limbs each.
#include "exponent.cuh"
#include "quad.cuh"

constexpr u32 THREADS = 32 * WORD_WARPS * NUMBER_WARPS, NUMBERS = 8 * TILES * NUMBER_WARPS;
constexpr u32 STEPS = WORDS / 8, CHUNKS = (STEPS + GROUPS - 1) / GROUPS, PADDED = 8 * GROUPS * CHUNKS;
// Numbers are 8 or 24 words apart, modulo the 32 banks.
constexpr u32 STRIDE = WORDS % 16 == 8 ? WORDS : WORDS + 8;
constexpr u32 OUT_LIMBS = M_LIMBS + 1;

// A number's memory: c_i and e_j; then entries of residues modulo a_i and β_j; sums of 64 bits.
constexpr u32 ENTRY = 2 * WORDS;
enum : u32 { RAISED = ENTRIES, BASE, ONE, SLOTS };
constexpr u32 OF_ENTRIES = ENTRY, OF_SUMS = OF_ENTRIES + SLOTS * ENTRY, PLACES = OF_SUMS + ENTRY;

// Matrices: from base A to B, from B to A, from limbs to A and B, from B to limbs.
enum : u32 { A_TO_B, B_TO_A, LIMBS_TO_A, LIMBS_TO_B, B_TO_LIMBS };

// Constants, with R = 2^32: of base A the a_i, 1/a_i mod R, −B, −R²/(A/a_i); of base B the b_j, 1/b_j mod R,
// R²·(B/b_j)/A, R⁴/A, 1/(B/b_j); the limbs of B.
enum : u32 { A_PRIME, A_INVERSE, MINUS_B, A_PART, B_PRIME, B_INVERSE, B_PRODUCT, B_SCALE, B_PART, B_LIMBS };

struct Prime {
    u32 p, inverse;

    // Returns x/R mod p, as any congruent number below 2^32 (Montgomery 1985).
    DEVICE u32 reduce(u64 x) const {
        u32 multiple = __umulhi(low(x) * inverse, p), result = high(x) - multiple;
        return result + (high(x) < multiple ? p : 0);
    }
    DEVICE u32 multiply(u32 x, u32 y) const { return reduce((u64)x * y); }
};

struct Block {
    // σ_i or residues modulo a_i, and β_j, of each number; the entries that are factors.
    u32 *first, *second, *entries;
    u32* memory;
    const Quad* matrices;
    const u32* words;

    DEVICE u32* of_number(i32 number) const { return memory + number * (i64)PLACES; }
    DEVICE u32* entry(i32 number, u32 i) const { return of_number(number) + OF_ENTRIES + i * ENTRY; }
    DEVICE u32 constant(u32 which, u32 i) const { return words[which * WORDS + i]; }
    DEVICE Prime a(u32 i) const { return {constant(A_PRIME, i), constant(A_INVERSE, i)}; }
    DEVICE Prime b(u32 j) const { return {constant(B_PRIME, j), constant(B_INVERSE, j)}; }

    // Calls put(word, number, of(word)(number, Σ of the word's row)) for all words of all numbers;
    // for β_j also passes α, which is otherwise 0. Starts with a barrier, because the factors may
    // have been written just before.
    //
    // In a product of 16 by 32 by 32 by 8 bytes, the thread at (g, t) = (lane / 4, lane % 4) holds:
    // of the 16 rows, rows g and g + 8, in these 4 bytes from 4t and 4 bytes from 16 + 4t on; of
    // the 8 numbers, the same bytes of number g; of the sums, rows g and g + 8 of the numbers 2t
    // and 2t + 1. The 32 bytes of a step are 8 words: word 2t is at 4t, word 2t + 1 at 16 + 4t.
    // Rows g and g + 8 of the first 16 are bytes 0 and 1 of word g of a group, those of the second
    // 16 are bytes 2 and 3.
    template <bool OF_BETA, class Of, class Put>
    DEVICE void combine(u32 which, const u32* from, Of of, Put put) const {
        u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
        i32 number = (i32)(warp / WORD_WARPS * 8 * TILES), twice = 2 * (i32)t;
        Quad next[GROUPS][2];
        const Quad* rows;
        auto begin = [&](u32 chunk) { rows = matrices + ((u64)which * PADDED / 8 + chunk * GROUPS) * STEPS * 64 + lane; };
        // Fetches the next step; after the last one, any valid address.
        auto fetch = [&] {
#pragma unroll
            for (u32 i = 0; i < 2 * GROUPS; i++) next[i / 2][i % 2] = rows[i / 2 * STEPS * 64 + i % 2 * 32];
            rows += 64;
        };
        begin(min(warp % WORD_WARPS, CHUNKS - 1));
        fetch();
        __syncthreads();
#pragma unroll 1
        for (u32 chunk = warp % WORD_WARPS; chunk < CHUNKS; chunk += WORD_WARPS) {
            if (chunk >= WORD_WARPS) {
                begin(chunk);
                fetch();
            }
            const u32* column = from + (number + g) * STRIDE + 2 * t;
            i32 sums[GROUPS][2][TILES][4] = {};
            u32 all[TILES] = {};
#pragma unroll 2
            for (u32 step = 0; step < STEPS; step++) {
                Quad now[GROUPS][2];
#pragma unroll
                for (u32 i = 0; i < 2 * GROUPS; i++) now[i / 2][i % 2] = next[i / 2][i % 2];
                fetch();
#pragma unroll
                for (u32 tile = 0; tile < TILES; tile++) {
                    Pair bytes = *(const Pair*)(column + tile * 8 * STRIDE + 8 * step);
                    if (OF_BETA) all[tile] += (bytes.limbs[0] >> 16) + (bytes.limbs[1] >> 16);
#pragma unroll
                    for (u32 i = 0; i < 2 * GROUPS; i++) {
                        multiply_add_bytes(sums[i / 2][i % 2][tile], now[i / 2][i % 2].limbs, bytes.limbs);
                    }
                }
            }
            u32 alpha[TILES][2] = {};
#pragma unroll
            for (u32 tile = 0; OF_BETA && tile < TILES; tile++) {
                all[tile] += __shfl_xor_sync(0xffffffffu, all[tile], 1);
                all[tile] += __shfl_xor_sync(0xffffffffu, all[tile], 2);
#pragma unroll
                for (u32 half = 0; half < 2; half++) {
                    alpha[tile][half] = (__shfl_sync(0xffffffffu, all[tile], 8 * t + 4 * half) + 0x8000u) >> 16;
                }
            }
#pragma unroll
            for (u32 group = 0; group < GROUPS; group++) {
                u32 word = (chunk * GROUPS + group) * 8 + g;
                if (PADDED > WORDS && word >= WORDS) break;
                auto of_number = of(word);
                decltype(of_number(0u, (u64)0, 0u)) results[TILES][2];
#pragma unroll
                for (u32 i = 0; i < 2 * TILES; i++) {
                    u32 tile = i / 2, half = i % 2;
                    const i32(*bytes)[TILES][4] = sums[group];
                    u64 sum = (u32)bytes[0][tile][half];
                    sum += (u64)(u32)bytes[0][tile][2 + half] << 8;
                    sum += (u64)(u32)bytes[1][tile][half] << 16;
                    sum += (u64)(u32)bytes[1][tile][2 + half] << 24;
                    results[tile][half] = of_number(number + twice + (i32)(8 * tile + half), sum, alpha[tile][half]);
                }
#pragma unroll
                for (u32 i = 0; i < 2 * TILES; i++) {
                    put(word, number + twice + (i32)(i / 2 * 8 + i % 2), results[i / 2][i % 2]);
                }
            }
        }
    }

    // Calls visit(number, i) for all residues of all numbers, by the same threads each time.
    template <u32 AT_ONCE = 1, class Visit>
    DEVICE void each(Visit visit) const {
#pragma unroll AT_ONCE
        for (u32 f = threadIdx.x; f < NUMBERS * WORDS; f += THREADS) visit((i32)(f / WORDS), f % WORDS);
    }

    // Converts limbs of operands to residues in an entry.
    template <u32 COUNT>
    DEVICE void enter(const u32* from, u64 stride, u64 begin, u32 count, u32 to) const {
        each([&](i32 number, u32 i) {
            u64 at = min(begin + number, (u64)count - 1) * stride;
            first[number * STRIDE + i] = i < COUNT ? from[at + i] : 0;
        });
#pragma unroll 1
        for (u32 base = 0; base < 2; base++) {
            auto residues = [&](u32 i) {
                Prime prime = base == 0 ? a(i) : b(i);
                return [=](u32, u64 sum, u32) { return prime.reduce(sum); };
            };
            combine<false>(LIMBS_TO_A + base, first, residues, [&](u32 i, i32 number, u32 residue) {
                entry(number, to)[base * WORDS + i] = residue;
            });
        }
        __syncthreads();
    }

    // Computes c_i·R⁴ and e_j·R³ from the residues of m in an entry; returns whether all c_i exist,
    // or m = 0, for which `entries` is 0.
    DEVICE bool prepare_modulus(u32 from) const {
        bool all = true;
        each([&](i32 number, u32 i) {
            Prime prime = a(i);
            u32 residue = entry(number, from)[i];
            all = all && (entries[number] == 0 || (residue != 0 && residue != prime.p));
            // R²·(residue/R)^(p − 2) = R³/m. The highest bit of p − 2 is bit 31.
            u32 power = residue;
#pragma unroll 1
            for (u32 bit = 31; bit-- > 0;) {
                power = prime.multiply(power, power);
                if ((prime.p - 2) >> bit & 1) power = prime.multiply(power, residue);
            }
            of_number(number)[i] = prime.multiply(power, constant(A_PART, i));
            of_number(number)[WORDS + i] = b(i).multiply(entry(number, from)[WORDS + i], constant(B_SCALE, i));
        });
        return all;
    }

    // Prefetches the factors of the next product, which earlier products did not bring into the
    // caches.
    DEVICE void prefetch_entries() const {
        constexpr u32 LINE = 32, LINES = (ENTRY + LINE - 1) / LINE;
#pragma unroll 1
        for (u32 f = threadIdx.x; f < NUMBERS * LINES; f += THREADS) {
            i32 number = (i32)(f / LINES);
            prefetch(entry(number, entries[number]) + f % LINES * LINE);
        }
    }

    DEVICE void load_entry(u32 which) const {
        each([&](i32 number, u32 i) {
            first[number * STRIDE + i] = entry(number, which)[i];
            second[number * STRIDE + i] = entry(number, which)[WORDS + i];
        });
    }
    DEVICE void keep_entry(u32 which) const {
        each([&](i32 number, u32 i) {
            entry(number, which)[i] = first[number * STRIDE + i];
            entry(number, which)[WORDS + i] = second[number * STRIDE + i];
        });
    }

    // Starts the product by entries: from X/R mod a_i and β_j(X) to σ_i and β_j(X)·β_j(Y)/R.
    DEVICE void begin_product() const {
        each<8>([&](i32 number, u32 i) {
            const u32* y = entry(number, entries[number]) + i;
            u32 &x = first[number * STRIDE + i], &beta = second[number * STRIDE + i];
            x = a(i).multiply(a(i).multiply(x, y[0]), of_number(number)[i]);
            beta = b(i).multiply(beta, y[WORDS]);
        });
    }

    // Computes Z from the σ_i and, for a square, the β_j(X), otherwise β_j(X)·β_j(Y)/R. Stores its
    // β_j, and the σ_i for its square if that follows, otherwise Z/R mod a_i.
    DEVICE void end_product(bool square, bool square_follows) const {
        auto betas = [&](u32 j) {
            Prime prime = b(j);
            u32 factor = constant(B_PRODUCT, j);
            return [=](i32 number, u64 q, u32) {
                u32 x = second[number * STRIDE + j], squared = prime.multiply(x, x);
                u32 added = prime.multiply(prime.reduce(q), of_number(number)[WORDS + j]);
                return prime.reduce(multiply_add_short(square ? squared : x, factor, added));
            };
        };
        combine<false>(A_TO_B, first, betas,
                       [&](u32 j, i32 number, u32 beta) { second[number * STRIDE + j] = beta; });
        auto sigmas = [&](u32 i) {
            Prime prime = a(i);
            u32 minus = constant(MINUS_B, i);
            return [=](i32 number, u64 sum, u32 alpha) {
                u32 x = prime.reduce(multiply_add_short(alpha, minus, sum));
                u32 sigma = prime.multiply(prime.multiply(x, x), of_number(number)[i]);
                return square_follows ? sigma : x;
            };
        };
        combine<true>(B_TO_A, second, sigmas,
                      [&](u32 i, i32 number, u32 sigma) { first[number * STRIDE + i] = sigma; });
        __syncthreads();
    }

    // Writes the limbs of the numbers, computed from their β_j.
    DEVICE void leave(u32* out, u64 begin, u32 count) const {
        auto limbs = [&](u32 i) {
            u32 limb = constant(B_LIMBS, i);
            return [=](u32, u64 sum, u32 alpha) { return sum - (u64)alpha * limb; };
        };
        combine<true>(B_TO_LIMBS, second, limbs, [&](u32 i, i32 number, u64 sum) {
            ((u64*)(of_number(number) + OF_SUMS))[i] = sum;
        });
        __syncthreads();
        for (i32 number = threadIdx.x; number < NUMBERS && begin + number < count; number += THREADS) {
            const i64* from = (const i64*)(of_number(number) + OF_SUMS);
            i64 sum = 0;
#pragma unroll 4
            for (u32 i = 0; i < OUT_LIMBS; i++) {
                sum += from[i];
                out[(begin + number) * OUT_LIMBS + i] = (u32)sum;
                sum >>= 32;
            }
        }
        __syncthreads();
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    power_residues(const u32* x, const u32* e, const u32* m, const u32* raised, u32* out, u32* singular,
                   u32* memory, const u32* matrices, const u32* words, u64 x_stride, u64 e_stride,
                   u64 m_stride, u64 raised_stride, u32 count) {
    DYNAMIC_SHARED(u32, places);
    Block block;
    block.first = places, block.second = places + NUMBERS * STRIDE;
    u32 *entries = block.entries = places + 2 * NUMBERS * STRIDE, &longest = entries[NUMBERS];
    block.memory = memory + (u64)blockIdx.x * NUMBERS * PLACES;
    block.matrices = (const Quad*)matrices, block.words = words;
    for (u64 begin = (u64)blockIdx.x * NUMBERS; begin < count; begin += (u64)gridDim.x * NUMBERS) {
        auto exponent = [&](i32 number) { return e + min(begin + number, (u64)count - 1) * e_stride; };
        for (u32 i = threadIdx.x; i < NUMBERS; i += THREADS) {
            entries[i] = bit_length(m + min(begin + i, (u64)count - 1) * m_stride, M_LIMBS);
        }
        block.enter<M_LIMBS>(m, m_stride, begin, count, ONE);
        if (threadIdx.x == 0) longest = 0;
        if (!block.prepare_modulus(ONE)) atomicOr(singular, 1u);
        block.each([&](i32 number, u32 i) {
            block.entry(number, ONE)[i] = block.a(i).reduce(1);
            block.entry(number, ONE)[WORDS + i] = block.constant(B_PART, i);
        });
        block.enter<M_LIMBS>(raised, raised_stride, begin, count, RAISED);
        block.enter<X_LIMBS>(x, x_stride, begin, count, BASE);
        for (u32 i = threadIdx.x; i < NUMBERS; i += THREADS) atomicMax(&longest, bit_length(exponent(i), E_LIMBS));
        __syncthreads();
        u32 windows = (longest + WINDOW - 1) / WINDOW, last = ENTRIES + windows;
#pragma unroll 1
        for (u32 step = 0; step <= last; step++) {
            bool is_window = step >= ENTRIES && step < last;
            if (step < 2) block.load_entry(RAISED);
            if (step == ENTRIES) block.load_entry(0);
            for (u32 i = threadIdx.x; i < NUMBERS; i += THREADS) {
                entries[i] = step == 0 || step == last ? ONE
                             : step == 1               ? BASE
                             : is_window               ? window(exponent(i), (last - 1 - step) * WINDOW)
                                                       : 1;
            }
            __syncthreads();
            block.prefetch_entries();
            u32 squares = is_window && step > ENTRIES ? WINDOW : 0;
#pragma unroll 1
            for (u32 k = squares;; k--) {
                if (k == 0) block.begin_product();
                // The product is followed by the first square of the next window.
                block.end_product(k > 0, k > 1 || (k == 0 && is_window && step + 1 < last));
                if (k == 0) break;
            }
            if (step < ENTRIES) block.keep_entry(step);
        }
        block.leave(out, begin, count);
    }
}
