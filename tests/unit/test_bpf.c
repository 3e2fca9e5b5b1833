#include "test.h"

#include <linux/btf.h>

#include "base/str.h"
#include "base/sysfile.h"
#include "collect/record/bpf.h"

static void add_type(struct str *types, u32 name, u32 kind, u32 n, u32 size, u32 tail)
{
	static const u8 zeros[256];
	u32 head[3] = {name, kind << 24 | n, size};

	str_addn(types, head, sizeof(head));
	str_addn(types, zeros, tail);
}

/* int, a struct of two, a prototype of one argument, "first", an enum of three, "second". */
static void make_btf(struct str *btf)
{
	static const char strings[] = "\0int\0first\0second\0";
	struct str types = {0};
	struct btf_header head = {.magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof(head)};

	add_type(&types, 1, BTF_KIND_INT, 0, 4, 4);
	add_type(&types, 0, BTF_KIND_STRUCT, 2, 8, 24);
	add_type(&types, 0, BTF_KIND_FUNC_PROTO, 1, 1, 8);
	add_type(&types, 5, BTF_KIND_FUNC, 1, 3, 0);
	add_type(&types, 0, BTF_KIND_ENUM, 3, 4, 24);
	add_type(&types, 11, BTF_KIND_FUNC, 1, 3, 0);
	head.type_len = head.str_off = (u32)types.n;
	head.str_len = sizeof(strings) - 1;
	str_addn(btf, &head, sizeof(head));
	str_addn(btf, types.at, types.n);
	str_addn(btf, strings, sizeof(strings) - 1);
	str_fini(&types);
}

TEST(bpf_functions_have_their_names_in_btf)
{
	struct str btf = {0};
	struct bytes all;

	make_btf(&btf);
	all = bytes_of(btf.at, btf.n);
	CHECK_STR(bpf_function_name(all, 4), "first");
	CHECK_STR(bpf_function_name(all, 6), "second");
	/* An int is no function; there are no more than six; nor is there a type 0. */
	CHECK(!bpf_function_name(all, 1));
	CHECK(!bpf_function_name(all, 7));
	CHECK(!bpf_function_name(all, 0));
	str_fini(&btf);
}

TEST(bpf_btf_that_is_cut_or_damaged_is_survived)
{
	struct str btf = {0};

	make_btf(&btf);
	for (size_t n = 0; n < btf.n; n++) {
		u8 *exact = mem_alloc(n + 1);

		memcpy(exact, btf.at, n);
		bpf_function_name(bytes_of(exact, n), 6);
		mem_free(exact);
	}
	for (size_t i = 0; i < btf.n; i++) {
		char was = btf.at[i];

		for (int v = 0; v < 256; v += 15) {
			btf.at[i] = (char)v;
			bpf_function_name(bytes_of(btf.at, btf.n), 6);
		}
		btf.at[i] = was;
	}
	str_fini(&btf);
}

TEST(bpf_reads_all_kinds_of_types_that_the_kernel_has)
{
	struct str btf = {0};
	struct err err;
	const char *name = NULL;
	u32 id, n_types = 0;

	if (sysfile_read("/sys/kernel/btf/vmlinux", 64 << 20, &btf, &err)) {
		str_fini(&btf);
		SKIP("the kernel has no BTF");
	}
	/* Functions lie all over it: the last one that is found is far behind. */
	for (id = 1; id < 1 << 20; id += 997) {
		const char *found = bpf_function_name(bytes_of(btf.at, btf.n), id);

		if (found) {
			name = found;
			n_types = id;
		}
	}
	CHECK(name && n_types > 10000);
	str_fini(&btf);
}
