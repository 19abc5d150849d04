// Shared memory of the blocks, filled with poison before each block. Dynamic memory: one allocation per
// slot, between guard zones, or of exactly its size under the address sanitizer. Static memory: the
// variables of section simt_shared hold the memory of the running block; that of the other blocks is
// saved elsewhere.
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

extern "C" {
SIMT_HIDDEN extern char __start_simt_shared[] __attribute__((weak));
SIMT_HIDDEN extern char __stop_simt_shared[] __attribute__((weak));
}

namespace simt {

static constexpr int poison = 0xa5;
static constexpr int guard = 0x5a;

#if defined(SIMT_ASAN) || defined(SIMT_TSAN)
static constexpr size_t guard_bytes = 0;
#else
static constexpr size_t guard_bytes = 256;
#endif

#if defined(SIMT_TSAN)
// Linked last and aligned to a page, so that the variables before it occupy pages of their own, which
// order_forget can replace.
__attribute__((section("simt_shared"), used, aligned(4096))) static char last_page[4096];
static char* static_end() { return last_page; }

#else
static char* static_end() { return __stop_simt_shared; }
#endif

#if defined(SIMT_TSAN) || defined(SIMT_ASAN)
// Volatile, because memcpy and memset would be reported as accesses of the current thread. The address
// sanitizer keeps zones between variables that must not be touched.
#define BYTE_BY_BYTE __attribute__((no_sanitize("address")))
BYTE_BY_BYTE static void copy_bytes(char* to, const char* from, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        static_cast<volatile char*>(to)[i] = static_cast<const volatile char*>(from)[i];
    }
}
BYTE_BY_BYTE static void fill_bytes(char* to, int byte, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) static_cast<volatile char*>(to)[i] = static_cast<char>(byte);
}
#undef BYTE_BY_BYTE
#else
static void copy_bytes(char* to, const char* from, size_t bytes) { memcpy(to, from, bytes); }
static void fill_bytes(char* to, int byte, size_t bytes) { memset(to, byte, bytes); }
#endif

static size_t static_bytes() {
    return __start_simt_shared == nullptr ? 0 : static_cast<size_t>(static_end() - __start_simt_shared);
}

// The block whose static shared memory is in the variables now.
static Block* loaded;

bool shared_memory_prepare(Block& block) {
    loaded = nullptr;
    size_t bytes = run.launch->shared_bytes;
    if (block.dynamic_allocation == nullptr || block.dynamic_bytes != bytes) {
        free(block.dynamic_allocation);
        block.dynamic_allocation = static_cast<char*>(malloc(bytes + 2 * guard_bytes));
        if (block.dynamic_allocation == nullptr) return false;
        block.dynamic_shared = block.dynamic_allocation + guard_bytes;
        block.dynamic_bytes = bytes;
    }
    fill_bytes(block.dynamic_allocation, guard, guard_bytes);
    fill_bytes(block.dynamic_shared + bytes, guard, guard_bytes);
    if (block.static_bytes < static_bytes()) {
        free(block.static_shared);
        block.static_shared = static_cast<char*>(malloc(static_bytes()));
        block.static_bytes = block.static_shared == nullptr ? 0 : static_bytes();
    }
    return block.static_bytes >= static_bytes();
}

void shared_memory_start(Block& block) {
    fill_bytes(block.dynamic_shared, poison, block.dynamic_bytes);
    if (static_bytes() != 0) fill_bytes(block.static_shared, poison, static_bytes());
    if (loaded == &block) loaded = nullptr;
}

void shared_memory_activate(Block& block) {
    size_t bytes = static_bytes();
    if (bytes == 0 || loaded == &block) return;
    if (loaded != nullptr) copy_bytes(loaded->static_shared, __start_simt_shared, bytes);
    // The same addresses now hold other memory.
    order_forget(__start_simt_shared, bytes);
    copy_bytes(__start_simt_shared, block.static_shared, bytes);
    loaded = &block;
}

const char* shared_memory_overrun(const Block& block) {
    for (size_t i = 0; i < guard_bytes; i++) {
        if (block.dynamic_allocation[i] != guard) return "wrote before its dynamic shared memory";
        if (block.dynamic_shared[block.dynamic_bytes + i] != guard) {
            return "wrote past the end of its dynamic shared memory";
        }
    }
    return nullptr;
}

void* dynamic_shared() { return me()->home->dynamic_shared; }

}  // namespace simt
