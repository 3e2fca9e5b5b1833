#include "symbol/kernel/kernel.h"

#include <string.h>
#include <sys/utsname.h>

#include "symbol/find/buildid.h"

/*
 * Whether the running kernel may be the recorded one. If the recording has neither its build-id nor its release,
 * the addresses must decide: *ret_is_unsure.
 */
static bool is_running(struct kernel *k, const struct kernel_request *q, const u8 *id, u8 n,
	bool *ret_is_unsure)
{
	struct utsname uts;

	*ret_is_unsure = false;
	if (q->dso && q->dso->build_id_size && n) {
		if (n == q->dso->build_id_size && !memcmp(id, q->dso->build_id, n))
			return true;
		err_set(&k->err, ERR_FORMAT, "it was recorded on another kernel build%s%s",
			q->release ? ", " : "", q->release ? q->release : "");
		return false;
	}
	/* Without build-ids the releases are compared. */
	if (q->release && uname(&uts) == 0 && strcmp(uts.release, q->release)) {
		err_set(&k->err, ERR_FORMAT, "it was recorded on Linux %s, this is %s", q->release,
			uts.release);
		return false;
	}
	*ret_is_unsure = !q->release;
	return true;
}

static struct vmlinux_wish wish_of(const struct kernel_request *q)
{
	struct vmlinux_wish wish = {.release = q->release, .symfs = q->symfs, .log = q->log};

	if (q->dso) {
		wish.build_id = q->dso->build_id;
		wish.build_id_size = q->dso->build_id_size;
	}
	return wish;
}

static bool open_running(struct kernel *k, const struct kernel_request *q)
{
	u8 id[BUILD_ID_MAX], n = buildid_of_kernel(id, q->log);
	bool is_unsure;

	if (!q->kallsyms || !is_running(k, q, id, n, &is_unsure) ||
		kallsyms_open(&k->kallsyms, q->kallsyms, q->has_modules, id, n, &k->err))
		return false;
	if (is_unsure && k->kallsyms.text != q->text) {
		kallsyms_close(&k->kallsyms);
		err_set(&k->err, ERR_FORMAT,
			"the recording does not say which kernel ran, and its address is not that of the running one: name a kernel with --kallsyms or --vmlinux");
		return false;
	}
	k->has_kallsyms = true;
	return true;
}

static bool open_copy(struct kernel *k, const struct kernel_request *q, const char *path,
	struct err *err)
{
	if (kallsyms_open(&k->kallsyms, path, true, NULL, 0, err))
		return false;
	log_debug(q->log, "[kernel.kallsyms]: using '%s'", path);
	k->has_kallsyms = k->is_copy = true;
	return true;
}

/*
 * Searches for files of a kernel that does not run here, or hides its addresses. Their addresses are those the
 * kernel was linked to, so the recorded load address must be known.
 */
static void search(struct kernel *k, const struct kernel_request *q)
{
	struct vmlinux_wish wish = wish_of(q);
	struct str copy = {0};
	struct err err;

	if (!wish.build_id_size && !wish.release)
		return;
	if (vmlinux_kallsyms_copy(&wish, &copy)) {
		bool is_open = open_copy(k, q, copy.at, &err);

		str_fini(&copy);
		if (is_open)
			return;
		log_untried(q->log, "[kernel.kallsyms]", &err);
	} else {
		str_fini(&copy);
	}
	if (q->ignores_vmlinux)
		return;
	if (!vmlinux_search(&k->image, &wish, &err)) {
		k->has_image = k->request.text && k->image.text;
		if (!k->has_image)
			err_set(&k->err, ERR_FORMAT,
				"the recording does not say where the kernel was loaded, so vmlinux cannot be used");
	} else if (err.code != ERR_NOENT) {
		k->err = err;
	}
}

/* Loads what the user named. If that fails, nothing else is tried. */
static void load_named(struct kernel *k, const struct kernel_request *q)
{
	struct vmlinux_wish wish = wish_of(q);
	struct err why;

	if (q->named_vmlinux) {
		k->has_image = !vmlinux_open(&k->image, q->named_vmlinux, &wish, &k->err);
		why = k->err;
		/* It has no modules; the running kernel has them, if it is the same build. */
		if (q->has_modules && k->has_image)
			open_running(k, q);
		k->err = why;
	} else {
		open_copy(k, q, q->named_kallsyms, &k->err);
	}
	if (!kernel_has_names(k))
		log_warn(q->log, "%s: kernel functions have no names", k->err.msg);
}

void kernel_load(struct kernel *k, const struct kernel_request *q)
{
	struct err err;

	*k = (struct kernel){.request = *q};
	if (q->named_vmlinux || q->named_kallsyms) {
		load_named(k, q);
		return;
	}
	if (q->recorded_kallsyms) {
		if (open_copy(k, q, q->recorded_kallsyms, &err))
			return;
		log_untried(q->log, "[kernel.kallsyms]", &err);
	}
	if (!open_running(k, q))
		search(k, q);
}

void kernel_close(struct kernel *k)
{
	kallsyms_close(&k->kallsyms);
	vmlinux_close(&k->image);
	memset(k, 0, sizeof(*k));
}

bool kernel_has_names(const struct kernel *k)
{
	return k->has_kallsyms || k->has_image;
}

/* The distance from the kernel's recorded address to that of its names. */
static u64 shift(const struct kernel *k)
{
	u64 now = k->has_image ? k->image.text : k->kallsyms.text;

	return k->request.text && now ? now - k->request.text : 0;
}

bool kernel_has_other_module(const struct kernel *k, const struct dso *dso)
{
	u8 id[BUILD_ID_MAX], n;

	if (!k->has_kallsyms || k->is_copy || !k->request.module_folder || !dso->build_id_size)
		return false;
	n = buildid_of_module(k->request.module_folder, dso->name, id, k->request.log);
	return n && (n != dso->build_id_size || memcmp(id, dso->build_id, n));
}

u64 kernel_module_base(const struct kernel *k, const struct dso *dso)
{
	const char *modules;

	if (!k->has_kallsyms)
		return 0;
	/* Modules move at each boot, too, by another distance; a copy has their addresses of that time. */
	if (k->is_copy && !shift(k))
		return dso->base;
	if (kernel_has_other_module(k, dso))
		return 0;
	modules = k->is_copy ? k->request.copy_modules : k->request.modules;
	return modules ? kallsyms_module_base(modules, dso->name + 1, strcspn(dso->name + 1, "]"),
				 k->request.log)
		       : 0;
}

const char *kernel_find(const struct kernel *k, u64 module_base, u64 address, u64 *ret_start,
	u64 *ret_end)
{
	u64 to_now = module_base ? module_base : shift(k), start, end;
	const struct symbol *s;
	const char *name;

	if (module_base || !k->has_image) {
		name = kallsyms_find(&k->kallsyms, address + to_now, &start, &end);
	} else {
		s = symtab_find(&k->image.symtab, address + to_now);
		name = s ? s->name : NULL;
		start = s ? s->start : 0;
		end = s ? s->end : 0;
	}
	if (!name)
		return NULL;
	*ret_start = start - to_now;
	*ret_end = end - to_now;
	return name;
}

const struct elf *kernel_debug_file(struct kernel *k, u64 *ret_shift, struct err *err)
{
	struct vmlinux_wish wish = wish_of(&k->request);

	if (!k->image.elf.data) {
		if (k->request.ignores_vmlinux) {
			err_set(err, ERR_NOENT, "vmlinux is not searched for: --ignore-vmlinux");
			return NULL;
		}
		if (vmlinux_search(&k->image, &wish, err))
			return NULL;
	}
	if (!k->image.text || !k->request.text) {
		err_set(err, ERR_FORMAT,
			"the recording does not say where the kernel was loaded, so vmlinux cannot be used");
		return NULL;
	}
	*ret_shift = k->image.text - k->request.text;
	return &k->image.elf;
}
