/* Stacks for fibers: their memory, and the switch from one to another.
 *
 * A switch saves the registers that a function must keep on the stack that is left, and loads those
 * of the other stack: assembly for x86-64 and arm64, ucontext elsewhere, or if VOW_UCONTEXT is
 * defined. A fiber's stack is entered from the stack of a thread (or of another fiber), and leaves
 * for that one, so its record is the link `next` meanwhile. Everything that the thread knows of its
 * stack changes before a switch, by the thread that takes it: the bounds in its storage, the C++
 * runtime's list of exceptions, and what the sanitizers and valgrind have.
 *
 * Stacks are mapped in groups, each stack with a guard page below it. A stack that is given back is
 * kept warm, up to a number; the memory of the others returns to the system, and their bit in the
 * group says that they are free. All of this is under one lock, which a fork holds. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, RTLD_DEFAULT, mincore */
#include "stacks.h"
#include "platform.h"
#include "writing.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

/* ---------------------------------------------------------------------- The switch */

#if !defined(VOW_UCONTEXT) && (defined(__x86_64__) || defined(__aarch64__))

/* Saves the registers on this stack, and its pointer in *from; loads those of the stack `to`. */
__attribute__((visibility("hidden"))) void vow_platform_switch_stack(void **from, void *to);
/* The return address of a new stack: calls vow_platform_run_stack with the record. */
__attribute__((visibility("hidden"))) void vow_platform_start_stack(void);

/* A hidden function in a section of its own. */
#define BEGIN(name)                                                                                \
    ".pushsection .text." #name ",\"ax\",@progbits\n.p2align 4\n.hidden " #name "\n"               \
    ".globl " #name "\n.type " #name ",@function\n" #name ":\n.cfi_startproc\n"
#define END(name) ".cfi_endproc\n.size " #name ",.-" #name "\n.popsection\n"

#ifdef __x86_64__
/* clang-format off */
__asm__(
    BEGIN(vow_platform_switch_stack)
    "pushq %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset rbp, 0\n"
    "pushq %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset rbx, 0\n"
    "pushq %r12\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset r12, 0\n"
    "pushq %r13\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset r13, 0\n"
    "pushq %r14\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset r14, 0\n"
    "pushq %r15\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset r15, 0\n"
    "subq $8, %rsp\n.cfi_adjust_cfa_offset 8\n"
    "stmxcsr (%rsp)\n"
    "fnstcw 4(%rsp)\n"
    "movq %rsp, (%rdi)\n"
    "movq %rsi, %rsp\n"
    "ldmxcsr (%rsp)\n"
    "fldcw 4(%rsp)\n"
    "addq $8, %rsp\n.cfi_adjust_cfa_offset -8\n"
    "popq %r15\n.cfi_adjust_cfa_offset -8\n.cfi_restore r15\n"
    "popq %r14\n.cfi_adjust_cfa_offset -8\n.cfi_restore r14\n"
    "popq %r13\n.cfi_adjust_cfa_offset -8\n.cfi_restore r13\n"
    "popq %r12\n.cfi_adjust_cfa_offset -8\n.cfi_restore r12\n"
    "popq %rbx\n.cfi_adjust_cfa_offset -8\n.cfi_restore rbx\n"
    "popq %rbp\n.cfi_adjust_cfa_offset -8\n.cfi_restore rbp\n"
    /* Not `ret`, which the processor predicts to go back to the caller. */
    "popq %rcx\n.cfi_adjust_cfa_offset -8\n.cfi_register rip, rcx\n"
    "jmpq *%rcx\n"
    END(vow_platform_switch_stack)
    BEGIN(vow_platform_start_stack)
    ".cfi_undefined rip\n"
    "movq %r12, %rdi\n"
    "xorl %ebp, %ebp\n"
    "call vow_platform_run_stack\n"
    "ud2\n"
    END(vow_platform_start_stack));
/* clang-format on */

static void prepare(vow_stack *stack) {
    void **top = (void **)(void *)stack;
    uint32_t controls[2];
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(controls[0]), "=m"(controls[1]));
    controls[1] &= 0xffff;
    *--top = (void *)(uintptr_t)vow_platform_start_stack;
    *--top = NULL;  /* rbp */
    *--top = NULL;  /* rbx */
    *--top = stack; /* r12 */
    top -= 3;       /* r13, r14, r15 */
    top[0] = top[1] = top[2] = NULL;
    memcpy(--top, controls, sizeof controls);
    stack->pointer = top;
}

/* A switch returns to another place than the one that was called from: a shadow stack forbids it.
 */
static int has_shadow_stack(void) {
    uint64_t pointer = 0;
    __asm__ volatile("rdsspq %0" : "+r"(pointer));
    return pointer != 0;
}
#else
/* clang-format off */
__asm__(
    BEGIN(vow_platform_switch_stack)
    "sub sp, sp, #176\n.cfi_adjust_cfa_offset 176\n"
    "stp x29, x30, [sp]\n.cfi_rel_offset x29, 0\n.cfi_rel_offset x30, 8\n"
    "stp x19, x20, [sp, #16]\n"
    "stp x21, x22, [sp, #32]\n"
    "stp x23, x24, [sp, #48]\n"
    "stp x25, x26, [sp, #64]\n"
    "stp x27, x28, [sp, #80]\n"
    "stp d8, d9, [sp, #96]\n"
    "stp d10, d11, [sp, #112]\n"
    "stp d12, d13, [sp, #128]\n"
    "stp d14, d15, [sp, #144]\n"
    "mrs x9, fpcr\n"
    "str x9, [sp, #160]\n"
    "mov x9, sp\n"
    "str x9, [x0]\n"
    "mov sp, x1\n"
    "ldr x9, [sp, #160]\n"
    "msr fpcr, x9\n"
    "ldp d14, d15, [sp, #144]\n"
    "ldp d12, d13, [sp, #128]\n"
    "ldp d10, d11, [sp, #112]\n"
    "ldp d8, d9, [sp, #96]\n"
    "ldp x27, x28, [sp, #80]\n"
    "ldp x25, x26, [sp, #64]\n"
    "ldp x23, x24, [sp, #48]\n"
    "ldp x21, x22, [sp, #32]\n"
    "ldp x19, x20, [sp, #16]\n"
    "ldp x29, x30, [sp]\n.cfi_restore x29\n.cfi_restore x30\n"
    "add sp, sp, #176\n.cfi_adjust_cfa_offset -176\n"
    "ret\n"
    END(vow_platform_switch_stack)
    BEGIN(vow_platform_start_stack)
    ".cfi_undefined x30\n"
    "mov x0, x19\n"
    "bl vow_platform_run_stack\n"
    "brk #1\n"
    END(vow_platform_start_stack));
/* clang-format on */

static void prepare(vow_stack *stack) {
    uint64_t *top = (uint64_t *)(void *)stack - 22;
    memset(top, 0, 22 * sizeof *top);
    top[1] = (uint64_t)(uintptr_t)vow_platform_start_stack; /* x30 */
    top[2] = (uint64_t)(uintptr_t)stack;                    /* x19 */
    __asm__ volatile("mrs %0, fpcr" : "=r"(top[20]));
    stack->pointer = top;
}

static int has_shadow_stack(void) {
    return 0;
}
#endif

#else
#include <ucontext.h>

__attribute__((visibility("hidden"))) void vow_platform_run_stack(vow_stack *stack);

/* makecontext passes ints. */
static void start(unsigned int high, unsigned int low) {
    vow_platform_run_stack((vow_stack *)((uintptr_t)high << 16 << 16 | low));
}

static void prepare(vow_stack *stack) {
    ucontext_t *context = (ucontext_t *)(((uintptr_t)stack - sizeof *context) & ~(uintptr_t)15);
    uintptr_t address = (uintptr_t)stack;
    getcontext(context);
    context->uc_stack.ss_sp = (void *)stack->lower;
    context->uc_stack.ss_size = (uintptr_t)context - stack->lower;
    context->uc_link = NULL;
    makecontext(context, (void (*)(void))start, 2, (unsigned int)(address >> 16 >> 16),
                (unsigned int)address);
    stack->pointer = context;
}

/* *from is where the context of the stack that is left is kept: made on that stack. */
static void vow_platform_switch_stack(void **from, void *to) {
    ucontext_t here;
    *from = &here;
    swapcontext(&here, to);
}

static int has_shadow_stack(void) {
    return 0;
}
#endif

/* ---------------------------------------------------------------------- The tools
 *
 * Found at run time, so that one library serves a program with and without them. */

#define TOOL extern __attribute__((weak))
TOOL void __sanitizer_start_switch_fiber(void **fake, const void *bottom, size_t size);
TOOL void __sanitizer_finish_switch_fiber(void *fake, const void **bottom, size_t *size);
TOOL void __asan_unpoison_memory_region(const volatile void *address, size_t size);
TOOL void *__tsan_get_current_fiber(void);
TOOL void *__tsan_create_fiber(unsigned int flags);
TOOL void __tsan_destroy_fiber(void *fiber);
TOOL void __tsan_switch_to_fiber(void *fiber, unsigned int flags);
TOOL void *__cxa_get_globals(void);
#define UNWATCHED                                                                                  \
    __attribute__((no_sanitize("address"), no_sanitize("thread"), no_sanitize("undefined")))

/* Asks valgrind, if the program runs under it: the instructions do nothing by themselves. */
static unsigned int ask_valgrind(uintptr_t request, uintptr_t first, uintptr_t second) {
    volatile uintptr_t question[6] = {request, first, second, 0, 0, 0};
    uintptr_t answer = 0;
#if defined(__x86_64__)
    __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(question)
                     : "cc", "memory");
#elif defined(__aarch64__)
    register volatile uintptr_t *place __asm__("x4") = question;
    register uintptr_t result __asm__("x3") = 0;
    __asm__ volatile("ror x12, x12, #3\n\tror x12, x12, #13\n\tror x12, x12, #51\n\t"
                     "ror x12, x12, #61\n\torr x10, x10, x10"
                     : "+r"(result)
                     : "r"(place)
                     : "cc", "memory", "x12");
    answer = result;
#else
    (void)question;
#endif
    return (unsigned int)answer;
}
enum { valgrind_register = 0x1501, valgrind_deregister = 0x1502 };

typedef struct exceptions {
    void *caught;
    unsigned int uncaught;
} exceptions;

/* The C++ runtime's, if the process has one: linked, or loaded before a stack is mapped, also for
 * one object alone. It is looked for once for each set of loaded objects. */
static _Atomic(uintptr_t) exceptions_function;
static _Atomic(unsigned long long) loads_at_look;

static int count_loads(struct dl_phdr_info *first, size_t size, void *loads) {
    (void)size;
    *(unsigned long long *)loads = first->dlpi_adds;
    return 1;
}

static void find_exceptions(void) {
    static const char *const names[] = {"libstdc++.so.6", "libc++abi.so.1"};
    unsigned long long loads = 0;
    dl_iterate_phdr(count_loads, &loads);
    if (atomic_exchange_explicit(&loads_at_look, loads, memory_order_relaxed) == loads) {
        return;
    }
    void *found = (void *)(uintptr_t)__cxa_get_globals;
    if (found == NULL) {
        found = dlsym(RTLD_DEFAULT, "__cxa_get_globals");
    }
    /* As in queues.c, a static program has no dlopen to warn of. */
    void *(*open)(const char *path, int flags) = NULL;
    void *opener = found == NULL ? dlsym(RTLD_DEFAULT, "dlopen") : NULL;
    memcpy(&open, &opener, sizeof open);
    for (size_t i = 0; found == NULL && open != NULL && i < sizeof names / sizeof *names; i++) {
        void *library = open(names[i], RTLD_LAZY | RTLD_NOLOAD);
        found = library == NULL ? NULL : dlsym(library, "__cxa_get_globals");
    }
    atomic_store_explicit(&exceptions_function, (uintptr_t)found, memory_order_relaxed);
}

/* ---------------------------------------------------------------------- An overflow
 *
 * A fiber that needs more than its stack faults at the guard page. The handler of that signal says
 * which fiber it was; it is there if the program has none of its own, and runs on a stack of the
 * thread's, for the fiber's has no room. */

static void report_overflow(int signal, siginfo_t *fault, void *context) {
    vow_thread_storage *mine = vow_thread;
    const vow_stack *stack = mine == NULL ? NULL : mine->stack;
    uintptr_t place = (uintptr_t)fault->si_addr;
    (void)context;
    if (stack != NULL && place < stack->lower && place >= stack->lower - 65536) {
        static const char begin[] = "vow: a fiber needs more stack than it has: ";
        const char *label = stack->label == NULL ? "it has no label" : stack->label;
        vow_platform_write(2, begin, sizeof begin - 1);
        vow_platform_write(2, label, strlen(label));
        vow_platform_write(2, "\n", 1);
    }
    /* The instruction is repeated, and the program ends as it would without this handler. */
    sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    if (fault->si_code <= 0) {
        raise(signal); /* The signal was sent, by no instruction. */
    }
}

enum { alternate_size = 16384 };

/* Called before the thread enters a fiber's stack for the first time. */
static void give_alternate_stack(vow_thread_storage *mine) {
    stack_t now;
    mine->has_alternate = 1;
    if (sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE)) {
        return;
    }
    void *memory =
        mmap(NULL, alternate_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) {
        sigaltstack(&(stack_t){.ss_sp = memory, .ss_size = alternate_size}, NULL);
        mine->alternate = memory;
    }
}

void vow_platform_end_alternate_stack(void *memory) {
    if (memory != NULL) {
        sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
        munmap(memory, alternate_size);
    }
}

static void watch_for_overflow(void) {
    struct sigaction now;
    if (sigaction(SIGSEGV, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
        now.sa_handler == SIG_DFL) {
        struct sigaction mine = {.sa_sigaction = report_overflow,
                                 .sa_flags = SA_SIGINFO | SA_ONSTACK};
        sigaction(SIGSEGV, &mine, NULL);
    }
}

/* Exchanges what the thread knows of the stack that is left for that of the other one. */
UNWATCHED static void exchange(vow_stack *from, vow_stack *to) {
    vow_thread_storage *mine = vow_thread;
    from->bounds[0] = mine->lower;
    from->bounds[1] = mine->upper;
    from->bounds[2] = mine->limit;
    mine->lower = to->bounds[0];
    mine->upper = to->bounds[1];
    mine->limit = to->bounds[2];
    mine->stack = to->work != NULL ? to : to->outer;
    uintptr_t function = atomic_load_explicit(&exceptions_function, memory_order_relaxed);
    if (function != 0) {
        exceptions *now = ((exceptions * (*)(void)) function)();
        from->caught = now->caught;
        from->uncaught = now->uncaught;
        now->caught = to->caught;
        now->uncaught = to->uncaught;
    }
    if (__tsan_switch_to_fiber != NULL) {
        from->thread = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(to->thread, 0);
    }
}

UNWATCHED void vow_platform_enter_stack(vow_stack *stack) {
    vow_stack record, *home = &record;
    if (!vow_thread->has_alternate) {
        give_alternate_stack(vow_thread);
    }
    stack->next = home;
    home->work = NULL;
    home->caught = NULL;
    home->uncaught = 0;
    home->outer = vow_thread->stack;
    exchange(home, stack);
    if (__sanitizer_start_switch_fiber != NULL) {
        __sanitizer_start_switch_fiber(&home->fake, (void *)stack->lower,
                                       stack->upper - stack->lower);
    }
    vow_platform_switch_stack(&home->pointer, stack->pointer);
    if (__sanitizer_finish_switch_fiber != NULL) {
        __sanitizer_finish_switch_fiber(home->fake, NULL, NULL);
    }
}

UNWATCHED void vow_platform_leave_stack(vow_stack *stack, int is_last) {
    vow_stack *home = stack->next;
    exchange(stack, home);
    if (__sanitizer_start_switch_fiber != NULL) {
        __sanitizer_start_switch_fiber(is_last ? NULL : &stack->fake, home->bottom, home->extent);
    }
    vow_platform_switch_stack(&stack->pointer, home->pointer);
    if (__sanitizer_finish_switch_fiber != NULL) {
        __sanitizer_finish_switch_fiber(stack->fake, &stack->next->bottom, &stack->next->extent);
    }
}

__attribute__((visibility("hidden"), noreturn)) UNWATCHED void
vow_platform_run_stack(vow_stack *stack) {
    if (__sanitizer_finish_switch_fiber != NULL) {
        __sanitizer_finish_switch_fiber(NULL, &stack->next->bottom, &stack->next->extent);
    }
    stack->work(stack->context);
    abort();
}

UNWATCHED void vow_platform_begin_stack(vow_stack *stack, void (*work)(void *), void *context) {
    enum { reserve = 128 << 10 };
    stack->work = work;
    stack->context = context;
    stack->bounds[0] = stack->lower;
    stack->bounds[1] = stack->upper;
    stack->bounds[2] = stack->lower + (stack->size / 4 < reserve ? stack->size / 4 : reserve);
    stack->caught = NULL;
    stack->uncaught = 0;
    stack->fake = NULL;
    stack->thread = __tsan_create_fiber != NULL ? __tsan_create_fiber(0) : NULL;
    prepare(stack);
    vow_platform_enter_stack(stack);
}

__attribute__((noinline)) void *vow_platform_thread_now(void) {
    __asm__ volatile("" ::: "memory");
    return vow_thread;
}

/* ---------------------------------------------------------------------- The pool */

/* Stacks of one size, in one mapping. */
typedef struct group {
    struct group *next; /* while it has cold stacks */
    struct group *older;
    unsigned char *first;
    /* Of one stack, with its guard page. */
    size_t stride;
    /* The stacks that are free, and have no memory. */
    uint64_t cold;
} group;

/* At the upper end of a stack. */
typedef struct place {
    vow_stack stack;
    group *group;
    uint64_t index;
} place;

/* The stacks of one size that are kept warm have so many bytes at most; most of these are reserved
 * and never touched. */
static const size_t most_warm = (size_t)256 << 20;

enum { sizes = 40, group_bytes = 4 << 20 };

static struct {
    pthread_mutex_t lock;
    /* By the size's logarithm: the warm stacks, and the groups that have cold ones. */
    vow_stack *warm[sizes];
    group *groups[sizes];
    int warm_count[sizes];
    uint64_t taken;
    /* The most bytes that a measured stack has used. */
    uint64_t deepest;
    group *newest;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

void vow_platform_lock_stacks(void) {
    pthread_mutex_lock(&pool.lock);
}

void vow_platform_unlock_stacks(void) {
    pthread_mutex_unlock(&pool.lock);
}

static size_t page_size(void) {
    static size_t size;
    if (size == 0) {
        size = (size_t)sysconf(_SC_PAGESIZE);
    }
    return size;
}

size_t vow_platform_usual_stack_size(void) {
    enum { least = 256 << 10, most = 8 << 20 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > most) {
        return most;
    }
    return limit.rlim_cur < least ? least : (size_t)limit.rlim_cur;
}

static int logarithm(size_t size) {
    int power = 14;
    while (power < sizes - 1 && (size_t)1 << power < size) {
        power++;
    }
    return power;
}

/* A write below a stack ends the program instead of reaching another stack. The newer way needs no
 * mapping of its own for each guard, of which the system gives 32,754. */
static int guard(unsigned char *lowest) {
    return madvise(lowest, page_size(), MADV_GUARD_INSTALL) == 0 ||
           mprotect(lowest, page_size(), PROT_NONE) == 0;
}

static group *make_group(int power) {
    size_t stride = ((size_t)1 << power) + page_size();
    int count = (int)(group_bytes >> power);
    count = count < 1 ? 1 : count > 64 ? 64 : count;
    group *made = malloc(sizeof *made);
    unsigned char *first = mmap(NULL, stride * (size_t)count, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (made == NULL || first == MAP_FAILED) {
        if (first != MAP_FAILED) {
            munmap(first, stride * (size_t)count);
        }
        free(made);
        return NULL;
    }
    /* A huge page would fill a stack, of which a page or two is used. */
    (void)madvise(first, stride * (size_t)count, MADV_NOHUGEPAGE);
    int guarded = 0;
    while (guarded < count && guard(first + stride * (size_t)guarded)) {
        guarded++;
    }
    if (guarded == 0) {
        munmap(first, stride * (size_t)count);
        free(made);
        return NULL;
    }
    *made = (group){.next = pool.groups[power], .first = first, .stride = stride};
    made->cold = guarded == 64 ? UINT64_MAX : ((uint64_t)1 << guarded) - 1;
    if (pool.newest == NULL) {
        watch_for_overflow();
    }
    made->older = pool.newest;
    pool.newest = pool.groups[power] = made;
    return made;
}

static vow_stack *take_cold(int power) {
    group *found = pool.groups[power];
    if (found == NULL && (found = make_group(power)) == NULL) {
        return NULL;
    }
    int index = __builtin_ctzll(found->cold);
    found->cold &= found->cold - 1;
    if (found->cold == 0) {
        pool.groups[power] = found->next;
    }
    unsigned char *lower = found->first + found->stride * (size_t)index + page_size();
    unsigned char *upper = lower + ((size_t)1 << power);
    place *made = (place *)(void *)(upper - ((sizeof(place) + 15) & ~(size_t)15));
    *made = (place){.group = found, .index = (uint64_t)index};
    made->stack.lower = (uintptr_t)lower;
    made->stack.upper = (uintptr_t)upper;
    made->stack.size = (size_t)1 << power;
    made->stack.valgrind =
        ask_valgrind(valgrind_register, made->stack.lower, made->stack.upper - 1);
    return &made->stack;
}

vow_stack *vow_platform_take_stack(size_t size) {
    if (has_shadow_stack()) {
        return NULL;
    }
    int power = logarithm(size);
    pthread_mutex_lock(&pool.lock);
    vow_stack *stack = pool.warm[power];
    if (stack != NULL) {
        pool.warm[power] = stack->next;
        pool.warm_count[power]--;
    } else {
        if (atomic_load_explicit(&exceptions_function, memory_order_relaxed) == 0) {
            /* Without the lock: the loader has its own, and may be running code that takes a
             * stack. */
            pthread_mutex_unlock(&pool.lock);
            find_exceptions();
            pthread_mutex_lock(&pool.lock);
        }
        stack = take_cold(power);
    }
    pool.taken += stack != NULL;
    pthread_mutex_unlock(&pool.lock);
    if (stack != NULL && __asan_unpoison_memory_region != NULL) {
        __asan_unpoison_memory_region((void *)stack->lower, (uintptr_t)stack - stack->lower);
    }
    return stack;
}

/* The stack is no list's. Its memory goes back before another thread can take the stack. */
static void make_cold(vow_stack *stack) {
    place *given = (place *)(void *)stack;
    group *its = given->group;
    uint64_t bit = (uint64_t)1 << given->index;
    int power = logarithm(stack->size);
    ask_valgrind(valgrind_deregister, stack->valgrind, 0);
    (void)madvise((void *)stack->lower, stack->size, MADV_DONTNEED);
    pthread_mutex_lock(&pool.lock);
    if (its->cold == 0) {
        its->next = pool.groups[power];
        pool.groups[power] = its;
    }
    its->cold |= bit;
    pthread_mutex_unlock(&pool.lock);
}

void vow_platform_give_stack(vow_stack *stack) {
    int power = logarithm(stack->size);
    if (stack->thread != NULL) {
        __tsan_destroy_fiber(stack->thread);
        stack->thread = NULL;
    }
    pthread_mutex_lock(&pool.lock);
    pool.taken--;
    int is_kept = (size_t)pool.warm_count[power] << power < most_warm;
    if (is_kept) {
        stack->is_measured = 0;
        stack->next = pool.warm[power];
        pool.warm[power] = stack;
        pool.warm_count[power]++;
    }
    pthread_mutex_unlock(&pool.lock);
    if (!is_kept) {
        make_cold(stack);
    }
}

void vow_platform_trim_stacks(void) {
    for (int power = 0; power < sizes; power++) {
        pthread_mutex_lock(&pool.lock);
        vow_stack *stack = pool.warm[power];
        pool.warm[power] = NULL;
        pool.warm_count[power] = 0;
        pthread_mutex_unlock(&pool.lock);
        while (stack != NULL) {
            vow_stack *next = stack->next;
            make_cold(stack);
            stack = next;
        }
    }
}

/* The bytes of a stack, from above, as far as pages were touched. */
static size_t used(const vow_stack *stack) {
    unsigned char pages[256];
    size_t page = page_size();
    uintptr_t place = stack->upper;
    int is_touched = 1;
    while (is_touched && place > stack->lower) {
        size_t part = place - stack->lower;
        part = part < page * sizeof pages ? part : page * sizeof pages;
        if (mincore((void *)(place - part), part, pages) != 0) {
            break;
        }
        for (size_t index = part / page; is_touched && index-- > 0;) {
            is_touched = pages[index] & 1;
            place -= is_touched ? page : 0;
        }
    }
    return stack->upper - place;
}

void vow_platform_count_stacks(uint64_t *count, uint64_t *deepest) {
    pthread_mutex_lock(&pool.lock);
    *count = pool.taken;
    for (int power = 0; power < sizes; power++) {
        /* Stacks are given and taken at the front: behind a measured one all are. */
        vow_stack *stack = pool.warm[power];
        for (; stack != NULL && !stack->is_measured; stack = stack->next) {
            size_t bytes = used(stack);
            pool.deepest = bytes > pool.deepest ? bytes : pool.deepest;
            stack->is_measured = 1;
        }
    }
    *deepest = pool.deepest;
    pthread_mutex_unlock(&pool.lock);
}
