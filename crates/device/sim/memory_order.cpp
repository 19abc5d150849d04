// Reports to the thread sanitizer what orders memory between threads.
//
// Atomics are relaxed, as on the GPU. What a thread did before a fence is visible to another thread
// that reads a later atomic write of the first thread and then executes a fence. Accesses to volatile
// words count as relaxed atomics: the compiler calls the functions at the end of this file before each
// of them.
#include "runtime.h"

#if defined(SIMT_TSAN)
#include <sanitizer/tsan_interface.h>
#include <sys/mman.h>

// Not every compiler has a header that declares these.
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}

namespace simt {

void order_release(void* tag) { __tsan_release(tag); }
void order_acquire(void* tag) { __tsan_acquire(tag); }

// Fresh pages have no history; the caller restores their contents.
void order_forget(char* memory, size_t bytes) {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

void atomic_read(const volatile void* address) {
    Thread& thread = *me();
    thread.read[thread.reads++ % 4] = address;
}

void fence() {
    Thread& thread = *me();
    unsigned known = thread.reads < 4 ? thread.reads : 4;
    for (unsigned i = 0; i < known; i++) {
        __tsan_acquire(const_cast<void*>(thread.read[i]));
    }
    thread.fenced = true;
    __tsan_release(&thread.fence_tag);
}

// The address receives what was done before the fence, not what was done since. A courier fiber, which
// knows only the former, releases it.
void atomic_write(const volatile void* address) {
    Thread& thread = *me();
    if (!thread.fenced) return;
    if (thread.courier == nullptr) thread.courier = __tsan_create_fiber(0);
    __tsan_switch_to_fiber(thread.courier, 1);
    __tsan_acquire(&thread.fence_tag);
    __tsan_release(const_cast<void*>(address));
    __tsan_switch_to_fiber(thread.fiber.tsan, 1);
}

}  // namespace simt

// A read is reported as an atomic read, a write as an atomic addition of 0 just before it.
#define SIMT_VOLATILE(bytes, bits, word)                                                  \
    extern "C" {                                                                          \
    word __tsan_atomic##bits##_load(const volatile void* address, int order);             \
    word __tsan_atomic##bits##_fetch_add(volatile void* address, word value, int order);  \
    SIMT_HIDDEN void __tsan_volatile_read##bytes(void* address) {                         \
        __tsan_atomic##bits##_load(address, __ATOMIC_RELAXED);                            \
        simt::atomic_read(address);                                                       \
    }                                                                                     \
    SIMT_HIDDEN void __tsan_volatile_write##bytes(void* address) {                        \
        simt::atomic_write(address);                                                      \
        __tsan_atomic##bits##_fetch_add(address, 0, __ATOMIC_RELAXED);                    \
    }                                                                                     \
    }
SIMT_VOLATILE(1, 8, unsigned char)
SIMT_VOLATILE(2, 16, unsigned short)
SIMT_VOLATILE(4, 32, unsigned)
SIMT_VOLATILE(8, 64, unsigned long)

#endif
