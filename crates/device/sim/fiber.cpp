// A fiber: its stack, and the switch from one fiber to another. On x86-64 the switch is written in
// assembly, because swapcontext makes a system call and costs more than ten times as much. Other
// machines use swapcontext.
#include <string.h>

#include "runtime.h"

#if !defined(__x86_64__) && !defined(SIMT_UCONTEXT)
#define SIMT_UCONTEXT
#endif
#if defined(SIMT_UCONTEXT)
#include <ucontext.h>
#endif
#if defined(SIMT_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(SIMT_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace simt {

void thread_main();

#if defined(SIMT_ASAN)
// The fiber that was left for the one that has just started or resumed.
static Fiber* switched_from;
#endif

static void arrived() {
#if defined(SIMT_ASAN)
    const void* bottom;
    size_t bytes;
    __sanitizer_finish_switch_fiber(nullptr, &bottom, &bytes);
    // The extent of the main stack is known only from here on.
    if (switched_from->stack == nullptr) {
        switched_from->stack = static_cast<char*>(const_cast<void*>(bottom));
        switched_from->stack_bytes = bytes;
    }
#endif
}

static void fiber_main() {
    arrived();
    thread_main();
}

#if defined(SIMT_UCONTEXT)

static void machine_prepare(Fiber& fiber, char*) {
    ucontext_t* context = static_cast<ucontext_t*>(fiber.saved);
    if (context == nullptr) fiber.saved = context = new ucontext_t;
    getcontext(context);
    context->uc_stack.ss_sp = fiber.stack;
    context->uc_stack.ss_size = fiber.stack_bytes;
    context->uc_link = nullptr;
    makecontext(context, fiber_main, 0);
}

static void machine_switch(Fiber& from, Fiber& to) {
    if (from.saved == nullptr) from.saved = new ucontext_t;
    swapcontext(static_cast<ucontext_t*>(from.saved), static_cast<ucontext_t*>(to.saved));
}

#else

// Saves the registers that a called function must preserve, and the stack pointer.
extern "C" SIMT_HIDDEN void simt_switch(void** from, void* to);
asm(R"(
.text
.type simt_switch, @function
.hidden simt_switch
simt_switch:
    .cfi_startproc
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    ret
    .cfi_endproc
.size simt_switch, .-simt_switch
)");

static void machine_prepare(Fiber& fiber, char* top) {
    // As if fiber_main had been called: six registers, the return address, and an end of the chain of
    // frames.
    void** frame = reinterpret_cast<void**>(top) - 8;
    memset(frame, 0, 8 * sizeof *frame);
    frame[6] = reinterpret_cast<void*>(fiber_main);
    fiber.saved = frame;
}

static void machine_switch(Fiber& from, Fiber& to) { simt_switch(&from.saved, to.saved); }

#endif

void fiber_prepare(Fiber& fiber, size_t stagger) {
#if defined(SIMT_TSAN)
    if (fiber.tsan == nullptr) fiber.tsan = __tsan_create_fiber(0);
#endif
    machine_prepare(fiber, fiber.stack + fiber.stack_bytes - stagger);
}

void fiber_adopt_main(Fiber& fiber) {
#if defined(SIMT_TSAN)
    fiber.tsan = __tsan_get_current_fiber();
#endif
    (void)fiber;
}

void fiber_switch(Fiber& from, Fiber& to) {
#if defined(SIMT_ASAN)
    switched_from = &from;
    __sanitizer_start_switch_fiber(&from.asan_fake_stack, to.stack, to.stack_bytes);
#endif
#if defined(SIMT_TSAN)
    // Without an order between the two fibers: barriers establish the order.
    __tsan_switch_to_fiber(to.tsan, 1);
#endif
    machine_switch(from, to);
#if defined(SIMT_ASAN)
    __sanitizer_finish_switch_fiber(from.asan_fake_stack, nullptr, nullptr);
#endif
}

}  // namespace simt
