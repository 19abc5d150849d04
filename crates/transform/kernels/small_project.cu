// Residues of integers modulo many primes: x = Σ_j x_j·B^j for digits x_j < 2^64 of any radix B.
//
//   DIGITS    digits of an integer
//   GROUP     primes of a block; there are blockIdx.y groups
//   NUMBERS   integers of a thread
//   THREADS   threads of a block
//
// A digit is split into pieces of 22, 22 and 20 bits, x_j = Σ_t d_t·2^(22t). B^j·2^(22t) mod p, of
// absolute value at most p/2, is split into h·2^25 + l with |h|, |l| ≤ 2^24. So the sums of d·h and of
// d·l over 32 digits are below 96·2^46 < 2^53, hence exact.
#include "f50.cuh"

constexpr u32 CHUNK = 32, CHUNKS = (DIGITS + CHUNK - 1) / CHUNK;
// Each chunk adds slightly more than (1/2 + 1/16 + 1/2)·p at most to a sum.
static_assert(CHUNKS <= 6, "sums stay below 8p");

// The three pieces of a digit.
DEVICE void pieces_of(u64 digit, double (&pieces)[3]) {
    constexpr u32 MASK = (1 << 22) - 1;
    u32 bits[3] = {(u32)digit & MASK, (u32)(digit >> 22) & MASK, (u32)(digit >> 44)};
#pragma unroll
    for (u32 t = 0; t < 3; t++) {
        // The bit pattern of 2^52 plus the piece.
        pieces[t] = __hiloint2double(0x43300000, (int)bits[t]) - 4503599627370496.0;
    }
}

// Digit j of integer i is at j·count + i; its residue modulo prime s is written to s·stride + i. For a
// group of primes, the parts h and l for digit j, piece t, prime g are at ((j·GROUP + g)·3 + t)·2;
// raise[s] is 2^25.
extern "C" __global__ void __launch_bounds__(THREADS)
    project(double* residues, const u64* digits, const F50* fields, const double2* factors, const Factor* raise,
            u64 count, u64 stride, u32 primes) {
    __shared__ double2 table[CHUNK * GROUP * 3];
    u64 first = (u64)blockIdx.x * (THREADS * NUMBERS) + threadIdx.x;
    u32 prime = blockIdx.y * GROUP;
    factors += (u64)blockIdx.y * (DIGITS * GROUP * 3);
    double sums[NUMBERS][GROUP] = {};
#pragma unroll 1
    for (u32 from = 0; from < DIGITS; from += CHUNK) {
        u32 here = min(CHUNK, DIGITS - from);
        __syncthreads();
        for (u32 i = threadIdx.x; i < here * GROUP * 3; i += THREADS) {
            table[i] = factors[from * GROUP * 3 + i];
        }
        __syncthreads();
        double high[NUMBERS][GROUP] = {}, low[NUMBERS][GROUP] = {};
#pragma unroll 1
        for (u32 j = 0; j < here; j++) {
            double pieces[NUMBERS][3];
#pragma unroll
            for (u32 n = 0; n < NUMBERS; n++) {
                u64 i = min(first + n * THREADS, count - 1);
                pieces_of(digits[(from + j) * count + i], pieces[n]);
            }
#pragma unroll
            for (u32 g = 0; g < GROUP; g++) {
#pragma unroll
                for (u32 t = 0; t < 3; t++) {
                    double2 parts = table[(j * GROUP + g) * 3 + t];
#pragma unroll
                    for (u32 n = 0; n < NUMBERS; n++) {
                        high[n][g] = fma(pieces[n][t], parts.x, high[n][g]);
                        low[n][g] = fma(pieces[n][t], parts.y, low[n][g]);
                    }
                }
            }
        }
#pragma unroll
        for (u32 g = 0; g < GROUP; g++) {
            if (prime + g >= primes) continue;
            F50 f = fields[prime + g];
            Factor w = raise[prime + g];
#pragma unroll
            for (u32 n = 0; n < NUMBERS; n++) {
                sums[n][g] += mul_by(f, reduce(f, high[n][g]), w) + reduce(f, low[n][g]);
            }
        }
    }
#pragma unroll
    for (u32 g = 0; g < GROUP; g++) {
        if (prime + g >= primes) continue;
        F50 f = fields[prime + g];
#pragma unroll
        for (u32 n = 0; n < NUMBERS; n++) {
            u64 i = first + n * THREADS;
            if (i < count) residues[(prime + g) * stride + i] = reduce(f, sums[n][g]);
        }
    }
}
