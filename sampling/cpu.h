/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the unwinder has to know of the processor: x86-64 and aarch64. The third register that is followed
 * (bx in rows and places) is rbx on the first, from which stacks are found that were aligned. On the second
 * it is the link register x30: where the thread was interrupted its value, and in other frames the address at
 * which the frame's return address lies.
 *
 * Limits: on aarch64, addresses have at most 48 bits.
 */
#ifndef SAMPLING_CPU_H
#define SAMPLING_CPU_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#if defined(__x86_64__) && defined(__LP64__)

#define GT_CPU            1
#define GT_CPU_LINKS      0 /* a call leaves the return address in a register */
#define GT_CPU_ADDRESS    47 /* bits */
#define GT_CPU_REGISTERS  gregs
#define GT_CPU_CONTEXT    0u /* bytes from the stack pointer to the context in a signal's frame */
#define GT_CPU_PC         REG_RIP
#define GT_CPU_SP         REG_RSP
#define GT_CPU_BP         REG_RBP
#define GT_CPU_BX         REG_RBX
#define GT_CPU_SIGRETURN  { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 } /* mov $15, %rax; syscall */
/* DWARF's numbers, and its operators for what a register and an offset add up to. */
enum { DWARF_BX = 3, DWARF_BP = 6, DWARF_SP = 7, DWARF_RA = 16, DWARF_REGISTERS = 16 };
enum { DWARF_OF_BP = 0x76, DWARF_OF_SP = 0x77 };

/* Any register by DWARF's number. */
static inline uintptr_t gt_cpu_register(const long long *all, unsigned dwarf)
{
	static const uint8_t at[DWARF_REGISTERS] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
						     REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
						     REG_R12, REG_R13, REG_R14, REG_R15 };

	return dwarf < DWARF_REGISTERS ? (uintptr_t)all[at[dwarf]] : 0;
}

static inline uintptr_t gt_cpu_code(uintptr_t address)
{
	return address;
}

/* Does a call end behind these 7 bytes? e8 and a displacement, or ff /2 and what its operand needs. */
static inline int gt_cpu_is_call(const uint8_t *code)
{
	int call = code[2] == 0xe8;

	for (unsigned i = 0; i < 6; i++)
		call |= i != 2 && code[i] == 0xff && (code[i + 1] >> 3 & 7) == 2;
	return call;
}

/* All of one instruction, as it were: none in between moves the stack. */
#define GT_CPU_HERE(pc, sp, bp, bx)                                                \
	__asm__ volatile("movq %%rsp, %0\n\tmovq %%rbp, %1\n\tmovq %%rbx, %2\n\t"  \
			 "leaq 0f(%%rip), %%rax\n\tmovq %%rax, %3\n0:"             \
			 : "=m"(sp), "=m"(bp), "=m"(bx), "=m"(pc)                  \
			 :                                                         \
			 : "rax")

#elif defined(__aarch64__)

#define GT_CPU            1
#define GT_CPU_LINKS      1
#define GT_CPU_ADDRESS    48
#define GT_CPU_REGISTERS  regs
#define GT_CPU_CONTEXT    sizeof(siginfo_t)
#define GT_CPU_PC         32
#define GT_CPU_SP         31
#define GT_CPU_BP         29
#define GT_CPU_BX         30
#define GT_CPU_SIGRETURN  { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 } /* mov x8, #139; svc #0 */
enum { DWARF_BX = 30, DWARF_BP = 29, DWARF_SP = 31, DWARF_RA = 30, DWARF_REGISTERS = 31 };
enum { DWARF_OF_BP = 0x70 + 29, DWARF_OF_SP = 0x70 + 31 };

static inline uintptr_t gt_cpu_register(const long long *all, unsigned dwarf)
{
	return dwarf < DWARF_REGISTERS ? (uintptr_t)all[dwarf] : 0;
}

/* Without the signature of pointer authentication. */
static inline uintptr_t gt_cpu_code(uintptr_t address)
{
	register uintptr_t link __asm__("x30") = address;

	__asm__("hint #7" : "+r"(link)); /* xpaclri */
	return link;
}

/* bl or blr, also one that authenticates; behind 3 other bytes. */
static inline int gt_cpu_is_call(const uint8_t *code)
{
	uint32_t word = code[3] | (uint32_t)code[4] << 8 | (uint32_t)code[5] << 16 | (uint32_t)code[6] << 24;

	return (word & 0xfc000000) == 0x94000000 || (word & 0xfefff000) == 0xd63f0000;
}

#define GT_CPU_HERE(pc, sp, bp, bx)                                                          \
	__asm__ volatile("mov x9, sp\n\tstr x9, %0\n\tstr x29, %1\n\tstr xzr, %2\n\t"        \
			 "adr x9, 0f\n\tstr x9, %3\n0:"                                      \
			 : "=m"(sp), "=m"(bp), "=m"(bx), "=m"(pc)                            \
			 :                                                                   \
			 : "x9", "x30") /* x30: the frame has saved it before */

#else

#define GT_CPU           0
#define GT_CPU_LINKS     0
#define GT_CPU_SIGRETURN { 0 }
enum { DWARF_BX = 3, DWARF_BP = 6, DWARF_SP = 7, DWARF_RA = 16, DWARF_REGISTERS = 16 };
enum { DWARF_OF_BP = 0x76, DWARF_OF_SP = 0x77 };

#endif
#endif
