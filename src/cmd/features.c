#include "cmd/features.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/err.h"
#include "base/str.h"
#include "event/pfm.h"
#include "symbol/code/llvm.h"
#include "symbol/elf/unpack.h"

bool feature_is_always(void)
{
	return true;
}

static bool is_never(void)
{
	return false;
}

bool feature_has_llvm(void)
{
	const char *name;
	struct err ignored;

	return llvm_load(&name, &ignored) == 0;
}

/* Whether a library that is loaded on demand can be loaded. */
static bool can_load(const char *library)
{
	void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);

	if (handle)
		dlclose(handle);
	return handle;
}

bool feature_has_pfm(void)
{
	return pfm_is_built_in() && can_load("libpfm.so.4");
}

bool feature_has_debuginfod(void)
{
	return can_load("libdebuginfod.so.1");
}

/* Scripts run in the Python that is installed. */
static bool has_python(void)
{
	const char *path = getenv("PATH");
	struct str name = {0};
	bool is_there = false;

	for (const char *p = path ? path : ""; *p && !is_there;) {
		const size_t n = strcspn(p, ":");

		str_clear(&name);
		str_addf(&name, "%.*s/python3", (int)n, p);
		is_there = n && !access(name.at, X_OK);
		p += n + (p[n] == ':');
	}
	str_fini(&name);
	return is_there;
}

/* clang-format off: a row a feature */
const struct feature_row feature_rows[] = {
	{"aio", "HAVE_AIO_SUPPORT", is_never},
	{"bpf", "HAVE_LIBBPF_SUPPORT", is_never},
	{"bpf_skeletons", "HAVE_BPF_SKEL", is_never},
	{"debuginfod", "HAVE_DEBUGINFOD_SUPPORT", feature_has_debuginfod},
	{"dwarf", "HAVE_DWARF_SUPPORT", feature_is_always},
	{"dwarf_getlocations", "HAVE_DWARF_GETLOCATIONS_SUPPORT", feature_is_always},
	{"dwarf-unwind", "HAVE_DWARF_UNWIND_SUPPORT", feature_is_always},
	{"libbfd", "HAVE_LIBBFD_SUPPORT", is_never},
	{"babeltrace2-ctf-writer", "HAVE_BABELTRACE2_CTF_WRITER_SUPPORT", is_never},
	{"libbpf-strings", "HAVE_LIBBPF_STRINGS_SUPPORT", is_never},
	{"libcapstone", "HAVE_LIBCAPSTONE_SUPPORT", is_never},
	{"libcrypto", "HAVE_LIBCRYPTO_SUPPORT", is_never},
	{"libdw-dwarf-unwind", "HAVE_LIBDW_SUPPORT", feature_is_always},
	{"libelf", "HAVE_LIBELF_SUPPORT", feature_is_always},
	{"libLLVM", "HAVE_LIBLLVM_SUPPORT", feature_has_llvm},
	{"libnuma", "HAVE_LIBNUMA_SUPPORT", is_never},
	{"libopencsd", "HAVE_CSTRACE_SUPPORT", is_never},
	{"libperl", "HAVE_LIBPERL_SUPPORT", is_never},
	{"libpfm4", "HAVE_LIBPFM", feature_has_pfm},
	{"libpython", "HAVE_LIBPYTHON_SUPPORT", has_python},
	{"libslang", "HAVE_SLANG_SUPPORT", feature_is_always},
	{"libtraceevent", "HAVE_LIBTRACEEVENT", feature_is_always},
	{"libunwind", "HAVE_LIBUNWIND_SUPPORT", is_never},
	{"lzma", "HAVE_LZMA_SUPPORT", unpack_has_xz},
	{"numa_num_possible_cpus", "HAVE_LIBNUMA_SUPPORT", is_never},
	{"syscall_table", "HAVE_SYSCALL_TABLE_SUPPORT", feature_is_always},
	{"zlib", "HAVE_ZLIB_SUPPORT", feature_is_always},
	{"zstd", "HAVE_ZSTD_SUPPORT", feature_is_always},
	{"rust", "HAVE_RUST_SUPPORT", is_never},
};
/* clang-format on */

const size_t feature_n_rows = ARRAY_SIZE(feature_rows);

static bool is_name(const char *full, const char *name, size_t n)
{
	return strlen(full) == n && !strncasecmp(full, name, n);
}

const struct feature_row *feature_find(const char *name, size_t n)
{
	for (size_t i = 0; i < feature_n_rows; i++)
		if (is_name(feature_rows[i].name, name, n) ||
			is_name(feature_rows[i].macro, name, n))
			return &feature_rows[i];
	return NULL;
}

void feature_add_line(const struct feature_row *row, struct str *text)
{
	str_addf(text, "%22s: [ %s ]  # %s\n", row->name, row->is_there() ? "on " : "OFF",
		row->macro);
}
