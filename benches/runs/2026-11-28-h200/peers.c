/* Peers: FLINT 3.6.0 and GMP 6.3.0. Usage: peer WHAT N THREADS [FILE]; times in s of the parts. */
#include <flint/flint.h>
#include <flint/fmpz.h>
#include <flint/fmpz_vec.h>
#include <gmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <pthread.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static void put(const char *s, const char *file) {
  if (!file) return;
  FILE *f = fopen(file, "w"); if (!f || fputs(s, f) < 0 || fputc('\n', f) < 0 || fclose(f)) { perror(file); exit(1); }
}
static void line(const char *what, const char *n, int threads, double compute, double convert, double write) {
  printf("%s %s threads %d: compute %.3f s, to decimal %.3f s, write %.3f s, sum %.3f s\n", what, n, threads, compute, convert, write, compute + convert + write);
  fflush(stdout);
}
struct part { mpz_t *a; size_t n; mpz_t *out; };
/* product and remainder tree of GMP, by levels, each level split over threads */
static int T;
typedef struct { size_t from, to, step; void (*f)(size_t); } job;
static void *worker(void *p) { job *j = p; for (size_t i = j->from; i < j->to; i += j->step) j->f(i); return NULL; }
static void each(size_t n, void (*f)(size_t)) {
  pthread_t t[64]; job j[64]; int k = T < 1 ? 1 : T; if (k > 64) k = 64;
  for (int i = 0; i < k; i++) { j[i] = (job){ (size_t)i, n, (size_t)k, f }; pthread_create(&t[i], NULL, worker, &j[i]); }
  for (int i = 0; i < k; i++) pthread_join(t[i], NULL);
}
static mpz_t *level[40]; static size_t len[40]; static int depth; static int cur;
static mpz_t *rem_above, *rem_here; static size_t weak;
static void up(size_t i) { if (2 * i + 1 < len[cur]) mpz_mul(level[cur + 1][i], level[cur][2 * i], level[cur][2 * i + 1]); else mpz_set(level[cur + 1][i], level[cur][2 * i]); }
static void down(size_t i) { mpz_t s; mpz_init(s); mpz_mul(s, level[cur][i], level[cur][i]); mpz_mod(rem_here[i], rem_above[i / 2], s); mpz_clear(s); }
static void leaf(size_t i) { mpz_t g; mpz_init(g); mpz_divexact(g, rem_here[i], level[0][i]); mpz_gcd(g, g, level[0][i]); if (mpz_cmp_ui(g, 1) != 0) __sync_fetch_and_add(&weak, 1); mpz_clear(g); }
static mpz_t *vec(size_t n) { mpz_t *v = malloc(n * sizeof *v); for (size_t i = 0; i < n; i++) mpz_init(v[i]); return v; }
int main(int c, char **v) {
  if (c < 4) return 2;
  T = atoi(v[3]); const char *file = c > 4 ? v[4] : NULL; unsigned long n = strtoul(v[2], NULL, 10);
  flint_set_num_threads(T);
  double a = now(), b, d, e;
  if (!strcmp(v[1], "flint-fac")) {
    fmpz_t x; fmpz_init(x); fmpz_fac_ui(x, n); b = now(); char *s = fmpz_get_str(NULL, 10, x); d = now(); put(s, file); e = now(); line(v[1], v[2], T, b - a, d - b, e - d);
  } else if (!strcmp(v[1], "gmp-fac")) {
    mpz_t x; mpz_init(x); mpz_fac_ui(x, n); b = now(); char *s = mpz_get_str(NULL, 10, x); d = now(); put(s, file); e = now(); line(v[1], v[2], T, b - a, d - b, e - d);
  } else if (!strcmp(v[1], "flint-dec")) {
    fmpz_t x; fmpz_init(x); fmpz_one_2exp(x, n); a = now(); char *s = fmpz_get_str(NULL, 10, x); d = now(); put(s, file); e = now(); line(v[1], v[2], T, 0, d - a, e - d);
    a = now(); fmpz_t y; fmpz_init(y); fmpz_set_str(y, s, 10); b = now(); printf("%s %s threads %d: from decimal %.3f s, %s\n", v[1], v[2], T, b - a, fmpz_equal(x, y) ? "equal" : "DIFFERENT");
  } else if (!strcmp(v[1], "gmp-dec")) {
    mpz_t x; mpz_init(x); mpz_setbit(x, n); a = now(); char *s = mpz_get_str(NULL, 10, x); d = now(); put(s, file); e = now(); line(v[1], v[2], T, 0, d - a, e - d);
  } else if (!strcmp(v[1], "flint-muldiv")) {
    flint_rand_t r; flint_rand_init(r); fmpz_t x, y, z, q; fmpz_init(x); fmpz_init(y); fmpz_init(z); fmpz_init(q);
    fmpz_randbits(x, r, n); fmpz_randbits(y, r, n); fmpz_abs(x, x); fmpz_abs(y, y);
    for (int i = 0; i < 3; i++) { a = now(); fmpz_mul(z, x, y); b = now(); fmpz_tdiv_q(q, z, y); d = now(); printf("%s 2n by n bits, n = %lu, threads %d: product %.4f s, division %.4f s, %s\n", v[1], n, T, b - a, d - b, fmpz_equal(q, x) ? "right" : "WRONG"); fflush(stdout); }
  } else if (!strcmp(v[1], "gmp-tree")) {
    /* v[2] is a file with one hexadecimal modulus a line, # for comments */
    FILE *f = fopen(v[2], "r"); if (!f) { perror(v[2]); return 1; }
    size_t cap = 1 << 16; level[0] = malloc(cap * sizeof(mpz_t)); char buf[32768];
    while (fgets(buf, sizeof buf, f)) { if (buf[0] == '#') continue; if (len[0] == cap) { cap *= 2; level[0] = realloc(level[0], cap * sizeof(mpz_t)); } mpz_init_set_str(level[0][len[0]++], strncmp(buf, "0x", 2) ? buf : buf + 2, 16); }
    b = now(); printf("gmp-tree: %zu moduli read in %.3f s\n", len[0], b - a); fflush(stdout);
    while (len[depth] > 1) { cur = depth; len[depth + 1] = (len[depth] + 1) / 2; level[depth + 1] = vec(len[depth + 1]); each(len[depth + 1], up); depth++; }
    d = now(); printf("gmp-tree: product tree %.3f s, %zu bits\n", d - b, mpz_sizeinbase(level[depth][0], 2)); fflush(stdout);
    rem_above = level[depth];
    for (cur = depth - 1; cur >= 0; cur--) { rem_here = vec(len[cur]); each(len[cur], down); if (rem_above != level[depth]) for (size_t i = 0; i < len[cur + 1]; i++) mpz_clear(rem_above[i]); rem_above = rem_here; }
    e = now(); printf("gmp-tree: remainder tree %.3f s\n", e - d); each(len[0], leaf); double g = now(); printf("gmp-tree: gcds %.3f s, %zu moduli share a factor, threads %d, in all without reading %.3f s\n", g - e, weak, T, g - b);
  } else return 2;
  return 0;
}
