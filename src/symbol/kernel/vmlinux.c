#include "symbol/kernel/vmlinux.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "arch/arch.h"

enum { PATH_SIZE = 4096 };

static void add_hex(const u8 *id, u8 n, struct str *text)
{
	for (u8 i = 0; i < n; i++)
		str_addf(text, "%02x", id[i]);
}

static int check_build(const struct elf *elf, const char *path, const struct vmlinux_wish *wish,
	struct err *err)
{
	struct str is = {0}, wanted = {0};
	u8 id[BUILD_ID_MAX], n = elf_build_id(elf, id);

	if (!wish->build_id_size || (n == wish->build_id_size && !memcmp(id, wish->build_id, n)))
		return 0;
	add_hex(id, n, &is);
	add_hex(wish->build_id, wish->build_id_size, &wanted);
	err_set(err, ERR_FORMAT, "'%s' is another build: build-id %s, recorded was %s", path,
		is.n ? str_text(&is) : "(none)", str_text(&wanted));
	str_fini(&is);
	str_fini(&wanted);
	return err->code;
}

/* The start of the kernel's code: the symbol that recordings refer to, see synth_kernel(). */
static u64 find_text(const struct vmlinux *v)
{
	const struct arch *arch = arch_of_machine(v->elf.machine);
	const char *name = arch && arch->kernel_text ? arch->kernel_text : "_text";
	u64 fallback = 0;

	vec_each(s, &v->symtab.symbols) {
		if (!strcmp(s->name, name))
			return s->start;
		if (!strcmp(s->name, "_stext"))
			fallback = s->start;
	}
	return fallback;
}

int vmlinux_open(struct vmlinux *v, const char *path, const struct vmlinux_wish *wish,
	struct err *err)
{
	memset(v, 0, sizeof(*v));
	if (elf_open(&v->elf, path, err))
		return err->code;
	if (check_build(&v->elf, path, wish, err)) {
		vmlinux_close(v);
		return err->code;
	}
	if (!symtab_add_elf(&v->symtab, &v->elf, SHT_SYMTAB)) {
		vmlinux_close(v);
		return err_set(err, ERR_FORMAT, "'%s' has no symbol table", path);
	}
	/* Before symtab_finish() keeps only one name for each address. */
	v->text = find_text(v);
	symtab_finish(&v->symtab);
	return 0;
}

void vmlinux_close(struct vmlinux *v)
{
	symtab_fini(&v->symtab);
	elf_close(&v->elf);
	memset(v, 0, sizeof(*v));
}

/* Makes a path by build-id: folder/XX/YYYY and a suffix. A ~ in `folder` is the user's home. */
static bool id_path(const struct vmlinux_wish *wish, const char *folder, const char *suffix,
	struct str *path)
{
	const char *home = getenv("HOME");

	if (wish->build_id_size < 2 || (folder[0] == '~' && (!home || !*home)))
		return false;
	str_clear(path);
	if (folder[0] == '~')
		str_addf(path, "%s%s", home, folder + 1);
	else
		str_addf(path, "%s%s", wish->symfs, folder);
	str_addf(path, "/%02x/", wish->build_id[0]);
	add_hex(wish->build_id + 1, wish->build_id_size - 1, path);
	str_add(path, suffix);
	return true;
}

static bool is_it(struct vmlinux *v, const char *path, const struct vmlinux_wish *wish,
	struct err *first)
{
	struct err err;
	int r = vmlinux_open(v, path, wish, &err);

	if (r)
		log_untried(wish->log, "[kernel.kallsyms]", &err);
	else
		log_debug(wish->log, "[kernel.kallsyms]: using '%s'", path);
	/* A file that exists and does not fit explains more than a missing one. */
	if (r && r != ERR_NOENT && first->code == ERR_NOENT)
		*first = err;
	return !r;
}

int vmlinux_search(struct vmlinux *v, const struct vmlinux_wish *wish, struct err *err)
{
	static const struct {
		const char *folder, *suffix;
	} by_id[] = {{"~/.debug/.build-id", "/vmlinux"}, {"~/.debug/.build-id", "/elf"},
		{"/usr/lib/debug/.build-id", ".debug"}, {"/usr/lib/debug/.build-id", ""}};
	static const char *const by_release[] = {"/usr/lib/debug/boot/vmlinux-%s",
		"/usr/lib/debug/lib/modules/%s/vmlinux",
		"/usr/lib/debug/lib/modules/%s/vmlinux.debug", "/lib/modules/%s/build/vmlinux",
		"/lib/modules/%s/vmlinux", "/boot/vmlinux-%s"};
	struct str path = {0};
	bool is_found = false;

	err_set(err, ERR_NOENT,
		"no vmlinux of the recorded kernel was found: install its -dbgsym or -debuginfo package, or name one with --vmlinux");
	for (size_t i = 0; i < ARRAY_SIZE(by_id) && !is_found; i++)
		is_found = id_path(wish, by_id[i].folder, by_id[i].suffix, &path) &&
			is_it(v, path.at, wish, err);
	for (size_t i = 0; i < ARRAY_SIZE(by_release) && !is_found; i++) {
		/* The release comes from the recording: it must not lead out of the folder. */
		if (!wish->release || !*wish->release || strchr(wish->release, '/'))
			break;
		str_clear(&path);
		str_add(&path, wish->symfs);
		str_addf(&path, by_release[i], wish->release);
		is_found = is_it(v, path.at, wish, err);
	}
	str_fini(&path);
	return is_found ? 0 : err->code;
}

bool vmlinux_kallsyms_copy(const struct vmlinux_wish *wish, struct str *ret_path)
{
	struct err err;

	if (!id_path(wish, "~/.debug/.build-id", "/kallsyms", ret_path))
		return false;
	if (!access(ret_path->at, R_OK))
		return true;
	err_sys(&err, errno, "looking for '%s'", ret_path->at);
	log_untried(wish->log, "[kernel.kallsyms]", &err);
	return false;
}
