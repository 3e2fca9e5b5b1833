#include "symbol/kernel/kmodule.h"

#include <elf.h>
#include <sys/utsname.h>

#include "arch/arch.h"
#include "base/sysfile.h"
#include "symbol/dwarf/dwarf.h"

enum {
	DEP_LIMIT = 64 << 20,
	/* The address given to sections that are loaded elsewhere or not at all: beyond any module's code. */
	ELSEWHERE = 1 << 30,
};

/* Whether a file is the module NAME: NAME.ko, NAME.ko.xz. A - matches a _. */
static bool is_file_of(const char *file, size_t n, const char *name, size_t n_name)
{
	if (n < n_name + 3 || strncmp(file + n_name, ".ko", 3))
		return false;
	for (size_t i = 0; i < n_name; i++)
		if ((file[i] == '-' ? '_' : file[i]) != name[i])
			return false;
	return true;
}

/* The path of the module's file according to modules.dep. */
static bool find_in_dep(const char *folder, const struct dso *dso, struct log *log,
	struct str *path)
{
	const char *name = dso->name + 1;
	size_t n_name = strcspn(name, "]");
	struct str text = {0}, dep = {0};
	struct err err;
	bool is_found = false;

	str_addf(&dep, "%s/modules.dep", folder);
	if (sysfile_read(dep.at, DEP_LIMIT, &text, &err)) {
		log_untried(log, dso->name, &err);
	} else {
		/* kernel/net/netfilter/nf_tables.ko.xz: dependencies */
		for (const char *line = text.at; line && *line && !is_found;
			line = strchr(line, '\n'), line += line != NULL) {
			size_t n = strcspn(line, ":\n");
			const char *slash = memrchr(line, '/', n), *file = slash ? slash + 1 : line;

			is_found = is_file_of(file, line + n - file, name, n_name);
			if (is_found)
				str_addf(path, "%s/%.*s", folder, (int)n, line);
		}
	}
	str_fini(&dep);
	str_fini(&text);
	return is_found;
}

/* Sets the addresses of the executable sections, relative to the module's start. */
static int lay_out(struct elf *elf, struct err *err)
{
	const struct arch *arch = arch_of_machine(elf->machine);
	u64 at = 0, elsewhere = ELSEWHERE;

	if (elf->type != ET_REL)
		return err_set(err, ERR_FORMAT, "it is not a kernel module");
	if ((!arch || !arch->has_plain_modules) && elf_section(elf, ".plt"))
		return err_set(err, ERR_UNSUPPORTED,
			"the load address of its code is unknown: the kernel adds a .plt");
	for (u32 i = 0; i < elf->n_sections; i++) {
		struct elf_section *s = &elf->sections[i];
		const u64 wanted = SHF_ALLOC | SHF_EXECINSTR;

		bool is_init = elf_has_name(elf, s, ".init");
		u64 *its = (s->flags & wanted) == wanted && !is_init ? &at : &elsewhere;

		s->addr = 0;
		if (!(s->flags & SHF_ALLOC))
			continue;
		if (is_init)
			s->flags &= ~(u64)SHF_EXECINSTR;
		if (s->align > 1)
			*its = (*its + s->align - 1) / s->align * s->align;
		s->addr = *its;
		*its += MIN(s->size, (u64)ELSEWHERE);
	}
	return 0;
}

static int check_build(const struct elf *elf, const struct dso *dso, struct err *err)
{
	u8 id[BUILD_ID_MAX], n = elf_build_id(elf, id);

	if (!dso->build_id_size || (n == dso->build_id_size && !memcmp(id, dso->build_id, n)))
		return 0;
	return err_set(err, ERR_FORMAT, "it is another build than the recorded one");
}

/* Opens the module's file and lays it out. */
static int open_file(const struct find_places *places, const struct dso *dso, const char *release,
	struct elf *ret_elf, struct err *err)
{
	struct str path = {0}, folder = {0};
	struct utsname uts;
	int r;

	if (!release && !uname(&uts))
		release = uts.release;
	if (dso->path[0] == '/') {
		str_addf(&path, "%s%s", places->symfs, dso->path);
	} else if (release && !strchr(release, '/')) {
		str_addf(&folder, "%s/lib/modules/%s", places->symfs, release);
		find_in_dep(folder.at, dso, places->log, &path);
	}
	str_fini(&folder);
	if (!path.n)
		return err_set(err, ERR_NOENT, "its file is not in /lib/modules");
	r = elf_open(ret_elf, path.at, err);
	if (!r && (check_build(ret_elf, dso, err) || lay_out(ret_elf, err))) {
		r = err_prefix(err, "'%s'", path.at);
		elf_close(ret_elf);
	}
	if (r)
		log_untried(places->log, dso->name, err);
	else
		log_debug(places->log, "%s: using '%s'", dso->name, path.at);
	str_fini(&path);
	return r;
}

int kmodule_open(const struct find_places *places, const struct dso *dso, const char *release,
	struct elf *ret_elf, struct symtab *ret_symtab, struct err *err)
{
	int r = open_file(places, dso, release, ret_elf, err);

	if (r == ERR_NOENT)
		err_prefix(err, "the module is not loaded now");
	if (r)
		return r;
	if (!symtab_add_elf(ret_symtab, ret_elf, SHT_SYMTAB)) {
		err_set(err, ERR_FORMAT, "'%s' has no symbol table", ret_elf->path);
		elf_close(ret_elf);
		return err->code;
	}
	symtab_finish(ret_symtab);
	return 0;
}

int kmodule_open_debug(const struct find_places *places, const struct dso *dso, const char *release,
	struct elf *ret_elf, struct err *err)
{
	struct elf image = {0};
	struct err missing, why;
	bool has_image = !open_file(places, dso, release, &image, &missing);

	if (has_image && dwarf_is_in(&image)) {
		*ret_elf = image;
		return 0;
	}
	if (!find_debug(places, dso, has_image ? &image : NULL, ret_elf, &why) ||
		!find_fetch(places, dso, has_image ? &image : NULL, DEBUGINFOD_DEBUG, ret_elf,
			&why)) {
		elf_close(&image);
		if (!lay_out(ret_elf, err))
			return 0;
		elf_close(ret_elf);
		return err_prefix(err, "the debug file of '%s'", dso->name);
	}
	elf_close(&image);
	return err_set(err, ERR_NOENT,
		"%.400s: install the package with the kernel's debug files (linux-image-*-dbg, kernel-debuginfo), or set DEBUGINFOD_URLS",
		has_image ? "the module has no debug information" : missing.msg);
}
