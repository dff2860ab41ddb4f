/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of lib/common/demangle.c, against the C++ library's own demangler: on names chosen for
 * their difficulty, and on every function that the C++ library itself exports.
 *
 * Limits: no Criterion (its macros are for C here); speaks TAP itself.
 */
#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

extern "C" {
#include "lib/common/demangle.h"
}

static int tests, failures;

static void claim(bool holds, const std::string &what)
{
	tests++;
	failures += !holds;
	std::printf("%sok %d - %s\n", holds ? "" : "not ", tests, what.c_str());
}

/* name, what it is without parameters ("" where nothing can be said) */
static const struct {
	const char *mangled, *plain;
	bool full; /* must equal what the library says */
} names[] = {
	{ "_Z3foov", "foo", true },
	{ "_ZL3fooi", "foo", true },
	{ "_ZN3foo3barEv", "foo::bar", true },
	{ "_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo", true },
	{ "_ZNK6Domain5nodesEi", "Domain::nodes", true },
	{ "_ZNKR1A1fEv", "A::f", true },
	{ "_ZNO1A1fEv", "A::f", true },
	{ "_ZN1AC1ERKS_", "A::A", true },
	{ "_ZN1AD2Ev", "A::~A", true },
	{ "_ZN1NI1TEC2Ei", "N<T>::N", true },
	{ "_ZN1AcviEv", "A::operator int", true },
	{ "_ZN1ANegEv", "", false },
	{ "_ZN1AmmEi", "A::operator--", true },
	{ "_ZN1AixEm", "A::operator[]", true },
	{ "_ZltIiEbRK1AIT_ES4_", "operator< <int>", true },
	{ "_Zli3_kmy", "operator\"\" _km", true },
	{ "_Z3fooIiEvT_", "foo<int>", true },
	{ "_Z3fooIJidcEEvDpT_", "foo<int, double, char>", true },
	{ "_Z3fooIJidEEvDpRKT_", "foo<int, double>", true },
	{ "_Z3fooIJEEvDpT_", "foo<>", true },
	{ "_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back",
	  true },
	{ "_ZNSs6appendEPKc", "std::string::append", true },
	{ "_ZNSsC1Ev", "std::basic_string<char, std::char_traits<char>, std::allocator<char> >"
		       "::basic_string", true },
	{ "_Z1fPFivE", "f", true },
	{ "_Z1fPFPFivEdE", "f", true },
	{ "_Z1fM1AKFvvE", "f", true },
	{ "_Z1fM1Ai", "f", true },
	{ "_Z1fRA3_KiPA2_A4_c", "f", true },
	{ "_Z1fOiRVPKc", "f", true },
	{ "_Z3fooIRiEvOT_", "foo<int&>", true },
	{ "_Z3fooILi3ELb1ELj7ELin4EEvv", "foo<3, true, 7u, -4>", true },
	{ "_Z3fooIL5Color2EEvv", "foo<(Color)2>", true },
	{ "_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()", true },
	{ "_ZZ4mainENKUlidE0_clEid", "main::{lambda(int, double)#2}::operator()", true },
	{ "_ZZN1A1fEvEN5Local1gEv", "A::f()::Local::g", true },
	{ "_ZN1A1fB5cxx11Ev", "A::f[abi:cxx11]", true },
	{ "_Z1fDnDsDiDu", "f", true },
	{ "_Z3foov.part.0", "foo", false },
	{ "_Z3fooi.constprop.0.isra.1", "foo", false },
	{ "_Z6printfPKcz", "printf", true },
	{ "_Z3addILi1EEiXplT_Li2EE", "add<1>", false }, /* an expression: the name alone */
	/* What nobody can demangle, or what we do not. */
	{ "main", "", false },
	{ "_Z", "", false },
	{ "_ZN", "", false },
	{ "_ZNE", "", false },
	{ "_Z3fo", "", false },
	{ "_Z99999999999999999999a", "", false },
	{ "_ZTV1A", "", false },
	{ "_ZN1AIIIIIIIIIIIIII", "", false },
	{ "_ZS_v", "", false },
	{ "_ZNS0_1fEv", "", false },
	{ "_Z1fT_", "f", false },
	/* Procedures of Fortran's modules. */
	{ "__pack_kernel_module_MOD_x", "pack_kernel_module::x", false },
	{ "__a_MOD_b.part.0", "a::b", false },
	{ "pack_kernel_mp_x_", "pack_kernel::x", false },
	{ "_QMpack_kernelPx", "pack_kernel::x", false },
	{ "a_mp_", "", false },
	{ "1fPvdFF_mp_", "", false },
	{ "_mp_b_", "", false },
	{ "__MOD_b", "", false },
	{ "a_mp_b", "", false },
};

static std::string library(const char *mangled)
{
	int status;
	char *text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
	std::string result = text ? text : "";

	std::free(text);
	return result;
}

static void check_table()
{
	static char full[GT_DEMANGLE_MAX], plain[GT_DEMANGLE_MAX];

	for (const auto &row : names) {
		bool known = gt_demangle(row.mangled, full, plain);
		std::string what = row.mangled;

		claim(known == (*row.plain != 0), what + (known ? " is known" : " is not known"));
		claim(!std::strcmp(plain, row.plain), what + " plain: " + plain);
		if (row.full)
			claim(library(row.mangled) == full, what + " full: " + full);
	}
}

/* Nested, repeated and endless input ends quickly and within the bounds. */
static void check_hostile()
{
	static char full[GT_DEMANGLE_MAX], plain[GT_DEMANGLE_MAX];
	static const char *const pieces[] = { "P", "F", "N", "I", "Z", "A1_", "M1A", "J", "DpT_",
					      "K", "St", "S_", "1AI", "T_I", "UlvE_", "1a" };
	bool fine = true;

	for (const char *piece : pieces)
		for (size_t length : { 10, 100, 1000, 4000, 100000 }) {
			std::string name = "_Z1f";

			while (name.size() < length)
				name += piece;
			gt_demangle(name.c_str(), full, plain);
			fine = fine && std::strlen(full) < sizeof(full) &&
			       std::strlen(plain) < sizeof(plain);
		}
	/* Each substitution twice as long as the one before. */
	std::string name = "_Z1fI1AEv1BIT_T_E";
	const char digits[] = "0123456789ABCDEFGHIJ";
	for (char digit : std::string(digits))
		name += std::string("1BIS") + digit + "_S" + digit + "_E";
	gt_demangle(name.c_str(), full, plain);
	claim(fine, "hostile names end");
}

/* Every function that libstdc++ exports: at least 99 of 100 exactly as the library says. */
static int check_module(struct dl_phdr_info *info, size_t, void *)
{
	static char full[GT_DEMANGLE_MAX], plain[GT_DEMANGLE_MAX];
	const ElfW(Dyn) *dynamic = nullptr;
	const ElfW(Sym) *symbols = nullptr;
	const char *strings = nullptr;
	unsigned checked = 0, equal = 0, with_plain = 0;

	if (!std::strstr(info->dlpi_name, "libstdc++"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = reinterpret_cast<const ElfW(Dyn) *>(
				info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
		if (dynamic->d_tag == DT_SYMTAB)
			symbols = reinterpret_cast<const ElfW(Sym) *>(dynamic->d_un.d_ptr);
		if (dynamic->d_tag == DT_STRTAB)
			strings = reinterpret_cast<const char *>(dynamic->d_un.d_ptr);
	}
	/* The string table follows the symbol table: that is where it ends. */
	for (const ElfW(Sym) *s = symbols; s && reinterpret_cast<const char *>(s + 1) <= strings; s++) {
		const char *name = strings + s->st_name;

		if ((s->st_info & 15) != STT_FUNC || std::strncmp(name, "_Z", 2) ||
		    name[2] == 'T' || name[2] == 'G')
			continue;
		std::string expected = library(name);
		if (expected.empty())
			continue;
		checked++;
		with_plain += gt_demangle(name, full, plain);
		equal += expected == full;
	}
	std::printf("# %u names of libstdc++, %u equal\n", checked, equal);
	claim(checked > 1000, "libstdc++ has names");
	claim(equal >= checked - checked / 100, "99 % of them come out as the library has them");
	claim(with_plain >= checked - checked / 500, "and nearly all without parameters");
	return 1;
}

int main()
{
	check_table();
	check_hostile();
	dl_iterate_phdr(check_module, nullptr);
	std::printf("1..%d\n", tests);
	return failures != 0;
}
