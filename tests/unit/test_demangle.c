#include "test.h"

#include <time.h>

#include "symbol/name/demangle.h"
#include "unit/recording.h"

static struct intern strings;

/* With parameters; and without. */
static void check(const char *name, const char *full, const char *brief)
{
	CHECK_STR(demangle(name, true, &strings), full);
	CHECK_STR(demangle(name, false, &strings), brief);
}

/* The name itself, not a copy of it. */
static void check_untouched(const char *name)
{
	CHECK(demangle(name, true, &strings) == name);
	CHECK(demangle(name, false, &strings) == name);
}

TEST(demangle_leaves_names_of_c_alone)
{
	static const char *const names[] = {"main", "", "_", "__libc_start_main", "_start", "_init",
		"Z3foov", "_GLOBAL_OFFSET_TABLE_", "_DYNAMIC", "_Dark", "_Rfoo", "_Z", "_ZZ",
		"_Zfoo", "_R", "_D", "__Z3foov", "do_syscall_64", "?", "foo.cold", "[unknown]",
		"\xff\xfe"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		check_untouched(names[i]);
	intern_fini(&strings);
}

TEST(demangle_reads_cpp)
{
	static const struct {
		const char *name, *full, *brief;
	} rows[] = {
		{"_Z3foov", "foo()", "foo"},
		{"_ZN3foo3barEi", "foo::bar(int)", "foo::bar"},
		{"_ZNK3foo3getERKSs", "foo::get(std::string const&) const", "foo::get"},
		{"_ZN3fooC1Ev", "foo::foo()", "foo::foo"},
		{"_ZN3fooD2Ev", "foo::~foo()", "foo::~foo"},
		{"_ZN3fooplERKS_", "foo::operator+(foo const&)", "foo::operator+"},
		{"_ZlsRSoRK3foo", "operator<<(std::ostream&, foo const&)", "operator<<"},
		{"_ZN3foocvbEv", "foo::operator bool()", "foo::operator bool"},
		{"_Znwm", "operator new(unsigned long)", "operator new"},
		{"_Z3maxIiET_S0_S0_", "int max<int>(int, int)", "max<int>"},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi",
			"std::vector<int, std::allocator<int> >::push_back(int const&)",
			"std::vector<int, std::allocator<int> >::push_back"},
		{"_ZZN3foo3barEvENKUliE_clEi", "foo::bar()::{lambda(int)#1}::operator()(int) const",
			"foo::bar()::{lambda(int)#1}::operator()"},
		{"_ZTV3foo", "vtable for foo", "vtable for foo"},
		{"_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo()",
			"(anonymous namespace)::foo"},
		{"_Z3foov.isra.0", "foo() [clone .isra.0]", "foo [clone .isra.0]"},
		{"_Z3foov.cold", "foo() [clone .cold]", "foo [clone .cold]"},
		{"_Z3foov.constprop.0.isra.1.cold",
			"foo() [clone .constprop.0] [clone .isra.1] [clone .cold]",
			"foo [clone .constprop.0] [clone .isra.1] [clone .cold]"},
		{"_Z3foov.llvm.12345678901234567890", "foo() [clone .llvm.12345678901234567890]",
			"foo [clone .llvm.12345678901234567890]"},
		{"_Z3foov.part.0", "foo() [clone .part.0]", "foo [clone .part.0]"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check(rows[i].name, rows[i].full, rows[i].brief);
	intern_fini(&strings);
}

/* As .symtab of a shared library has them. */
TEST(demangle_keeps_the_version_of_a_symbol)
{
	check("_ZNSo3putEc@@GLIBCXX_3.4", "std::ostream::put(char)@@GLIBCXX_3.4",
		"std::ostream::put@@GLIBCXX_3.4");
	check("_ZNSt13runtime_errorC2EPKc.cold@GLIBCXX_3.4.21",
		"std::runtime_error::runtime_error(char const*) [clone .cold]@GLIBCXX_3.4.21",
		"std::runtime_error::runtime_error [clone .cold]@GLIBCXX_3.4.21");
	check_untouched("cfree@GLIBC_2.2.5");
	check_untouched("_Znonsense@@V");
	check_untouched("_@");
	intern_fini(&strings);
}

TEST(demangle_reads_rust_of_both_kinds)
{
	/* Older names look like C++, with a hash that nobody wants to see. */
	check("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad",
		"core::fmt::Formatter::pad");
	check("_ZN60_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..Drop$GT$"
	      "4drop17h0123456789abcdefE",
		"<alloc::vec::Vec<T> as core::ops::Drop>::drop",
		"<alloc::vec::Vec<T> as core::ops::Drop>::drop");
	check("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE.llvm.99",
		"core::fmt::Formatter::pad [clone .llvm.99]",
		"core::fmt::Formatter::pad [clone .llvm.99]");
	check("_RNvC7mycrate3bar.cold", "mycrate::bar [clone .cold]", "mycrate::bar [clone .cold]");
	check("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar", "mycrate::foo::bar");
	check("_RNvMs_C7mycrateNtB4_3Foo3new", "<mycrate::Foo>::new", "<mycrate::Foo>::new");
	intern_fini(&strings);
}

#define GC "core.internal.gc.impl.conservative.gc."

TEST(demangle_reads_d)
{
	check("_Dmain", "D main", "D main");
	check("_D8demangle4testFaZv", "demangle.test(char)", "demangle.test(char)");
	check("_D3std5stdio7writelnFZv", "std.stdio.writeln()", "std.stdio.writeln()");
	check("_D3std5stdio7writelnFZv.localalias", "std.stdio.writeln() [clone .localalias]",
		"std.stdio.writeln() [clone .localalias]");
	check("_D3std5stdio7writelnFZv.part.0.cold",
		"std.stdio.writeln() [clone .part.0] [clone .cold]",
		"std.stdio.writeln() [clone .part.0] [clone .cold]");
	/* Many references, but not to each other: the collector's lock, in each profile of a program. */
	check("_D4core8internal2gc4impl12conservativeQw14ConservativeGC__T9runLockedS_"
	      "DQCsQCqQCkQCkQCiQCtQBy12mallocNoSyncMFNbmkKmxC8TypeInfoZPvS_DQFaQEyQEsQEsQEqQFb10mallocTimel"
	      "S_DQGiQGgQGaQGaQFyQGj10numMallocslTmTkTmTxQDlZQFuMFNbKmKkKmKxQEeZQDx",
		GC "ConservativeGC.runLocked!(" GC
		   "ConservativeGC.mallocNoSync(ulong, uint, ref ulong, "
		   "const(TypeInfo)), " GC "mallocTime, " GC
		   "numMallocs, ulong, uint, ulong, const(TypeInfo))"
		   ".runLocked(ref ulong, ref uint, ref ulong, ref const(TypeInfo))",
		GC "ConservativeGC.runLocked!(" GC
		   "ConservativeGC.mallocNoSync(ulong, uint, ref ulong, "
		   "const(TypeInfo)), " GC "mallocTime, " GC
		   "numMallocs, ulong, uint, ulong, const(TypeInfo))"
		   ".runLocked(ref ulong, ref uint, ref ulong, ref const(TypeInfo))");
	/* As gdc 12 and ldc 1.30 write std.range.primitives.front. */
	check("_D3std5range10primitives__T5frontThZQjFNaNbNcNdNiNfNkMANghZNgh",
		"std.range.primitives.front!(ubyte).front(scope return inout(ubyte)[])",
		"std.range.primitives.front!(ubyte).front(scope return inout(ubyte)[])");
	intern_fini(&strings);
}

TEST(demangle_reads_ocaml)
{
	check("camlStdlib__List__iter_120", "Stdlib.List.iter", "Stdlib.List.iter");
	check("camlMain__entry", "Main.entry", "Main.entry");
	check("camlStdlib__$5e_137", "Stdlib.^", "Stdlib.^");
	check("camlA__f_1_22", "A.f_1", "A.f_1");
	check("camlStdlib.compare_5", "Stdlib.compare", "Stdlib.compare");
	/* Nameless ones are told apart by their numbers. */
	check("camlStdlib__List__fun_120", "Stdlib.List.fun_120", "Stdlib.List.fun_120");
	check("camlO__refun_120", "O.refun", "O.refun");
	/* Of the runtime, in C. */
	check_untouched("caml_alloc");
	check_untouched("camlish");
	check_untouched("caml");
	check("camlA$", "A$", "A$");
	check("camlA$1b_3", "A$1b", "A$1b");
	intern_fini(&strings);
}

TEST(demangle_reads_java)
{
	check("Ljava/lang/StringLatin1;equals([B[B)Z",
		"boolean java.lang.StringLatin1.equals(byte[], byte[])",
		"java.lang.StringLatin1.equals");
	check("La/B;run()V", "void a.B.run()", "a.B.run");
	check("La/B;<init>(ILa/C;[[J)V", "void a.B.<init>(int, a.C, long[][])", "a.B.<init>");
	check("La/B;::run", "a.B.run", "a.B.run");
	check_untouched("La/B;");
	check_untouched("La/B;run(");
	check_untouched("La/B;run(I");
	check_untouched("La/B;run(Q)V");
	check_untouched("La/B;run(I)");
	check_untouched("La/B;run(I)VV");
	check_untouched("La/B;run(La/C)V");
	check_untouched("L;run()V");
	check_untouched("Lookup");
	check_untouched("L");
	intern_fini(&strings);
}

static void check_folded(const char *name, const char *full, const char *brief)
{
	CHECK_STR(demangle(name, DEMANGLE_COMPACT | DEMANGLE_PARAMETERS, &strings), full);
	CHECK_STR(demangle(name, DEMANGLE_COMPACT, &strings), brief);
}

TEST(demangle_folds_template_arguments_if_asked_to)
{
	check_folded("_ZNSt6vectorIiSaIiEE9push_backERKi",
		"std::vector<...>::push_back(int const&)", "std::vector<...>::push_back");
	check_folded("_ZNSt6vectorIiSaIiEE9push_backERKi.cold",
		"std::vector<...>::push_back(int const&) [clone .cold]",
		"std::vector<...>::push_back [clone .cold]");
	check_folded("_Z3maxIiET_S0_S0_", "int max<...>(int, int)", "max<...>");
	/* Signs are no brackets. */
	check_folded("_ZlsRSoRK3foo", "operator<<(std::ostream&, foo const&)", "operator<<");
	check_folded("_ZltRK3fooS1_", "operator<(foo const&, foo const&)", "operator<");
	check_folded("_ZNK3fooptEv", "foo::operator->() const", "foo::operator->");
	check_folded("_ZN3barIiEltERKS0_", "bar<...>::operator<(bar<...> const&)",
		"bar<...>::operator<");
	check_folded("_Z3foov", "foo()", "foo");
	check_folded("sort<It<int*, std::vector<int> >, main()::<lambda(int, int)> >", "sort<...>",
		"sort<...>");
	check_folded("Builtin:<anonymous> a<b", "Builtin:<anonymous> a<b",
		"Builtin:<anonymous> a<b");
	check_folded("_D3std5range10primitives__T5frontThZQjFNaNbNcNdNiNfNkMANghZNgh",
		"std.range.primitives.front!(...).front(scope return inout(ubyte)[])",
		"std.range.primitives.front!(...).front(scope return inout(ubyte)[])");
	/* Rust: a type is no argument, its own arguments are. */
	check_folded("_RNvMs_C7mycrateNtB4_3Foo3new", "<mycrate::Foo>::new", "<mycrate::Foo>::new");
	check_folded("_ZN60_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..Drop$GT$"
		     "4drop17h0123456789abcdefE",
		"<alloc::vec::Vec<...> as core::ops::Drop>::drop",
		"<alloc::vec::Vec<...> as core::ops::Drop>::drop");
	/* Rust: what is dropped is the name, and its own arguments are folded. */
	check_folded("_RINvNtCs_4core3ptr13drop_in_placeINtNtCs_5alloc3vec3VechEECs_1a",
		"core::ptr::drop_in_place::<alloc::vec::Vec<...>>",
		"core::ptr::drop_in_place::<alloc::vec::Vec<...>>");
	check_folded("_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17h0123456789abcdefE",
		"core::ptr::drop_in_place<alloc::string::String>",
		"core::ptr::drop_in_place<alloc::string::String>");
	/* LLVM's numbers say nothing. */
	check_folded("_Z3foov.llvm.12345678901234567890.cold", "foo() [clone .cold]",
		"foo [clone .cold]");
	check_folded("main", "main", "main");
	intern_fini(&strings);
}

TEST(demangle_leaves_everything_alone_if_asked_to)
{
	static const char *const names[] = {"_Z3foov", "_RNvC7mycrate3bar", "_Dmain",
		"camlMain__entry", "La/B;run()V"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		CHECK(demangle(names[i], DEMANGLE_NOT | DEMANGLE_PARAMETERS, &strings) == names[i]);
}

TEST(demangle_gives_equal_names_the_same_text)
{
	CHECK(demangle("_Z3foov", true, &strings) == demangle("_Z3foov", true, &strings));
	intern_fini(&strings);
}

/* ---- hostile names ---- */

/* Of the processor: it may have much else to do. */
static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Ends in a blink, and the text is no larger than anybody could want. */
static void check_bounded(const char *name)
{
	double began = seconds();

	for (unsigned style = 0; style < DEMANGLE_NOT; style++)
		CHECK(strlen(demangle(name, style, &strings)) <=
			MAX(strlen(name), (size_t)32 << 10));
	CHECK(seconds() - began < 1);
}

/* S_, S0_ ... SZ_, S10_ ...: C++'s i-th reference. */
static void add_reference(struct str *s, unsigned i)
{
	str_addc(s, 'S');
	if (i > 36)
		str_addc(s, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(i - 1) / 36]);
	if (i)
		str_addc(s, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(i - 1) % 36]);
	str_addc(s, '_');
}

TEST(demangle_of_cpp_that_doubles_with_each_reference_ends)
{
	static const char *const heads[] = {"_Z1f1aIiiE", "_Z1fI1aIiiE", "_Z1fDp1aIiiE",
		"_ZN1f1gE1aIiiE"};

	for (size_t head = 0; head < ARRAY_SIZE(heads); head++) {
		for (unsigned depth = 10; depth <= 100; depth += 10) {
			struct str name = {0};

			/* a<X, X>, where X is the one before. */
			str_add(&name, heads[head]);
			for (unsigned i = 0; i < depth; i++) {
				add_reference(&name, head == 1 ? 1 : 0);
				str_addc(&name, 'I');
				add_reference(&name, i + (head == 1 ? 2 : 1));
				add_reference(&name, i + (head == 1 ? 2 : 1));
				str_addc(&name, 'E');
			}
			check_bounded(name.at);
			str_add(&name, head == 1 ? "EvDpS1_" : "DpS9_");
			check_bounded(name.at);
			str_fini(&name);
		}
	}
	intern_fini(&strings);
}

static void add_base62(struct str *s, u64 v)
{
	char digits[16];
	size_t n = 0;

	for (; v; v /= 62)
		digits[n++] =
			"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[v % 62];
	while (n)
		str_addc(s, digits[--n]);
}

TEST(demangle_of_rust_that_doubles_with_each_reference_ends)
{
	for (unsigned depth = 4; depth <= 64; depth += 6) {
		struct str name = {0};
		u64 before = 0;

		str_add(&name, "_RIC1f");
		for (unsigned i = 0; i < depth; i++) {
			u64 here = name.n - 2;

			str_addc(&name, 'T');
			for (int k = 0; k < 2; k++) {
				str_addc(&name, i ? 'B' : 'j');
				if (!i)
					continue;
				/* Positions count from behind _R; they are written less one. */
				if (before)
					add_base62(&name, before - 1);
				if (before == 1)
					str_addc(&name, '0');
				str_addc(&name, '_');
			}
			str_addc(&name, 'E');
			before = here;
		}
		str_addc(&name, 'E');
		CHECK(demangle(name.at, true, &strings) != name.at || depth > 8);
		check_bounded(name.at);
		str_fini(&name);
	}
	intern_fini(&strings);
}

TEST(demangle_of_d_that_doubles_with_each_reference_ends)
{
	for (unsigned depth = 4; depth <= 64; depth += 6) {
		struct str name = {0};
		size_t before;

		str_add(&name, "_D1fF");
		before = name.n;
		str_add(&name, "PFiiZv");
		for (unsigned i = 0; i < depth; i++) {
			size_t here = name.n;

			str_add(&name, "PF");
			for (int k = 0; k < 2; k++) {
				/* How far back, in base 26, the last digit small. */
				size_t back = name.n - before;

				str_addc(&name, 'Q');
				if (back >= 26)
					str_addc(&name, 'A' + back / 26);
				str_addc(&name, 'a' + back % 26);
			}
			str_add(&name, "Zv");
			before = here;
		}
		str_add(&name, "Zv");
		CHECK(demangle(name.at, true, &strings) != name.at || depth > 4);
		check_bounded(name.at);
		str_fini(&name);
	}
	intern_fini(&strings);
}

TEST(demangle_of_very_deep_and_very_long_names_ends)
{
	static const struct {
		const char *head, *repeated, *tail;
	} rows[] = {
		{"_Z1f", "P", "i"},
		{"_Z1f", "1aI", "i"},
		{"_ZN", "1a", "Ev"},
		{"_Z", "Z1fvEN", "1gEv"},
		{"_Z1fILi", "9", "EEvv"},
		{"_Z1fIXplplpl", "pl", "EEvv"},
		{"_Z99999999999", "a", ""},
		{"_RNv", "Nv", "C1a1b"},
		{"_RIC1f", "T", ""},
		{"_RNvC", "9", ""},
		{"_R", "B_", ""},
		{"_ZN", "1a", "17h0123456789abcdefE"},
		{"_D1fF", "P", "iZv"},
		{"_D", "1a", "FZv"},
		{"_D1fFQ", "a", "Zv"},
		{"_D", "9", ""},
		{"_D1f", "__T1gT", "iZv"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		for (unsigned n = 100; n <= 1000000; n *= 100) {
			struct str name = {0};

			str_add(&name, rows[i].head);
			for (unsigned k = 0; k < n; k++)
				str_add(&name, rows[i].repeated);
			str_add(&name, rows[i].tail);
			check_bounded(name.at);
			str_fini(&name);
		}
	}
	intern_fini(&strings);
}

TEST(demangle_of_nonsense_ends)
{
	static const char alphabet[] = "NSTIEXLDpsrBCFMQZ_0123459abcdefhijlmntvwxyz$.";
	static const char *const heads[] = {"_Z", "_ZN", "_Z1f", "_R", "_RNv", "_RIC1f", "_D",
		"_D1fF"};
	u64 random = 1;

	for (unsigned round = 0; round < 20000; round++) {
		char name[128];
		size_t n = snprintf(name, 16, "%s", heads[round % ARRAY_SIZE(heads)]);
		size_t end = n + recording_below(&random, sizeof(name) - 1 - n);

		while (n < end)
			name[n++] = alphabet[recording_below(&random, sizeof(alphabet) - 1)];
		name[n] = '\0';
		check_bounded(name);
	}
	intern_fini(&strings);
}
