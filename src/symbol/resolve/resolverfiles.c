#include "symbol/resolve/resolverdso.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "symbol/jit/foreign.h"
#include "symbol/kernel/kmodule.h"
#include "symbol/jit/runtime.h"

/* ---- kernel ---- */

static const struct dso *kernel_dso(const struct resolver *r, bool is_guest, u32 pid)
{
	vec_each(dso, &r->machine->dsos.at)
		if ((*dso)->kind == DSO_KERNEL && (*dso)->is_guest == is_guest &&
			(!is_guest || (*dso)->pid == pid))
			return *dso;
	return NULL;
}

/* Whether the recording has modules, which are in the kernel's space. */
static bool has_modules(const struct resolver *r)
{
	vec_each(dso, &r->machine->dsos.at)
		if ((*dso)->kind == DSO_MODULE && !(*dso)->is_guest)
			return true;
	return false;
}

/* The kernel's release, from the recording or else from its modules' paths. NULL: unknown. */
static const char *kernel_release(struct resolver *r)
{
	static const char folder[] = "/lib/modules/";

	if (r->recorded_release)
		return r->recorded_release;
	vec_each(dso, &r->machine->dsos.at) {
		const char *release = (*dso)->kind == DSO_MODULE && !(*dso)->is_guest
			? strstr((*dso)->path, folder)
			: NULL;

		if (!release)
			continue;
		release += strlen(folder);
		str_addn(&r->modules_release, release, strcspn(release, "/"));
		return str_text(&r->modules_release);
	}
	return NULL;
}

static bool has_embedded_kernel(const struct resolver *r)
{
	const struct dso *dso = kernel_dso(r, false, 0);
	struct embedded_dso d;

	return !r->vmlinux && !r->kallsyms_copy && dso && embedded_is_there(r->embedded) &&
		embedded_find_dso(r->embedded, dso, &d) && d.outcome == RESOLVER_FOUND;
}

static void load_kernel(struct resolver *r)
{
	kernel_load(&r->kernel,
		&(struct kernel_request){.dso = kernel_dso(r, false, 0),
			.release = kernel_release(r),
			.text = r->machine->kernel_text,
			.has_modules = has_modules(r),
			.kallsyms = r->kallsyms,
			.modules = r->modules,
			.module_folder = r->module_folder,
			.named_vmlinux = r->vmlinux,
			.named_kallsyms = r->kallsyms_copy,
			.recorded_kallsyms = r->recorded_kallsyms,
			.ignores_vmlinux = r->ignores_vmlinux,
			.symfs = r->files->places.symfs,
			.log = r->files->places.log});
}

struct kernel *resolver_kernel(struct resolver *r)
{
	pthread_mutex_lock(&r->kernel_lock);
	if (!r->has_kernel)
		load_kernel(r);
	r->has_kernel = true;
	pthread_mutex_unlock(&r->kernel_lock);
	return &r->kernel;
}

static void *read_kernel(void *resolver)
{
	resolver_kernel(resolver);
	return NULL;
}

void resolver_begin_kernel(struct resolver *r)
{
	r->has_kernel_reader =
		!has_embedded_kernel(r) && !pthread_create(&r->kernel_reader, NULL, read_kernel, r);
}

static struct resolver_guest *load_guest(struct resolver *r, u32 pid)
{
	const struct guest *known = machine_guest(r->machine, pid);
	struct resolver_guest *guest;

	vec_each(g, &r->guests)
		if ((*g)->pid == pid)
			return *g;
	guest = mem_zalloc(sizeof(*guest));
	guest->pid = pid;
	guest_request_init(&guest->request, &r->guest_files, pid, r->files->places.symfs,
		r->files->places.log);
	guest->request.kernel.dso = kernel_dso(r, true, pid);
	guest->request.kernel.text = known ? known->text : 0;
	kernel_load(&guest->kernel, &guest->request.kernel);
	if (!kernel_has_names(&guest->kernel) && !guest->kernel.err.code)
		err_set(&guest->kernel.err, ERR_NOENT,
			"no file of the guest's kernel was found: name one with --guestkallsyms or --guestvmlinux, or a folder of all guests with --guestmount");
	vec_add(&r->guests, guest);
	return guest;
}

static struct resolver_guest *guest_of(struct resolver *r, const struct dso *dso)
{
	struct resolver_guest *guest;

	pthread_mutex_lock(&r->guests_lock);
	guest = load_guest(r, dso->pid);
	pthread_mutex_unlock(&r->guests_lock);
	return guest;
}

static struct kernel *kernel_of(struct resolver *r, const struct dso *dso)
{
	return dso->is_guest ? &guest_of(r, dso)->kernel : resolver_kernel(r);
}

/* ---- files ---- */

bool resolver_packages_advise(struct resolver *r, const struct dso *dso, const struct elf *image,
	struct str *out)
{
	u8 id[BUILD_ID_MAX];

	/* Files in a folder of the user's, or in a container, belong to other packages. */
	return r->files->places.shares && r->files->places.shares[dso->id] >= FIND_SHARE_MIN &&
		image->path && !strcmp(image->path, dso->path) &&
		packages_advise(&r->packages, dso->path, id, elf_build_id(image, id), out);
}

/* Explains why a stripped file does not have all names. */
static void explain_stripped(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
	const struct dso_file *file = d->file;
	bool is_missing = !file->debug.data && file->debug_err.code == ERR_NOENT;
	struct str remedy = {0};

	if (!resolver_packages_advise(r, dso, &file->image, &remedy))
		str_add(&remedy,
			"install the package with its debug symbols (-dbgsym, -debuginfo)");
	if (!file->debug.data && !is_missing)
		d->err = file->debug_err;
	else if (!file->packed.data && file->packed_err.code != ERR_NOENT)
		err_set(&d->err, file->packed_err.code, "'%s' is stripped, %.300s: %s", dso->path,
			file->packed_err.msg, str_text(&remedy));
	else if (file->image.is_cut)
		err_set(&d->err, ERR_FORMAT, "'%s' is cut off at its end, where its symbols were",
			dso->path);
	else
		err_set(&d->err, ERR_NOENT, "'%s' is stripped: %s", dso->path, str_text(&remedy));
	str_fini(&remedy);
}

static void load_file(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
	enum dso_table table;

	d->file = dso_files_get(r->files, dso);
	if (!d->file->image.data) {
		d->err = d->file->image_err;
		d->outcome = d->err.code == ERR_FORMAT ? RESOLVER_OTHER_BUILD : RESOLVER_NO_FILE;
		return;
	}
	table = dso_files_symtab(r->files, d->file);
	if (dso->kind == DSO_FILE && table == DSO_TABLE_STRIPPED)
		explain_stripped(r, dso, d);
	if (dso->kind == DSO_FILE && !d->file->symtab.symbols.n)
		d->outcome = RESOLVER_NO_SYMBOLS;
}

/* ---- generated code ---- */

static void say_of_perfmap(struct log *log, const struct perfmap *p, const char *path)
{
	if (p->n_bad)
		log_warn(log, "'%s': %llu lines are not like 'START SIZE name' and are left out",
			path, (unsigned long long)p->n_bad);
	if (p->is_cut)
		log_warn(log,
			"'%s' is too big: only its first %zu names are read; the limit is %d lines, %llu MiB",
			path, p->ranges.n, PERFMAP_LINES, (unsigned long long)PERFMAP_BYTES >> 20);
}

static void say_no_perfmap(const struct resolver *r, const struct dso *dso, struct err *err)
{
	const struct runtime *runtime = runtime_of(r->machine, dso->pid);

	err_set(err, ERR_NOENT, "the program left no '%s': %s", dso->path,
		runtime ? runtime->names
			: "programs that generate code have an option for it, like node --perf-basic-prof");
}

static void load_perfmap(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
	struct foreign whose = {"/proc", r->files->places.symfs, dso->pid};
	char own_path[64];
	int fd;

	d->outcome = RESOLVER_NO_CODE_FILE;
	if (find_is_elsewhere(&r->files->places, dso->path, &d->err))
		return;
	snprintf(own_path, sizeof(own_path), "/tmp/perf-%u.map", foreign_own_pid(&whose));
	if (foreign_open(&whose, dso->path, own_path, &fd, &d->err)) {
		log_debug(r->files->places.log, "%s: %s", dso->name, d->err.msg);
		if (d->err.code == ERR_NOENT)
			say_no_perfmap(r, dso, &d->err);
		return;
	}
	perfmap_init(&d->perfmap);
	if (perfmap_read(&d->perfmap, fd, &d->err)) {
		err_prefix(&d->err, "'%s'", dso->path);
	} else {
		say_of_perfmap(r->files->places.log, &d->perfmap, dso->path);
		log_debug(r->files->places.log, "%s: using '%s', %zu ranges", dso->name, dso->path,
			d->perfmap.ranges.n);
		d->outcome = RESOLVER_FOUND;
	}
	close(fd);
}

const char *resolver_module_places(struct resolver *r, const struct dso *dso,
	struct find_places *ret_places)
{
	struct resolver_guest *guest = dso->is_guest ? guest_of(r, dso) : NULL;

	*ret_places = r->files->places;
	if (!guest)
		return r->recorded_release;
	ret_places->symfs = guest->request.kernel.symfs;
	return str_text(&guest->request.release);
}

/* Loads a module from its kernel's kallsyms if it is loaded there, else from its file. */
static void load_module(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
	struct find_places places;
	const char *release = resolver_module_places(r, dso, &places);

	d->kernel = kernel_of(r, dso);
	d->base = kernel_module_base(d->kernel, dso);
	if (d->base || !kmodule_open(&places, dso, release, &d->module, &d->own, &d->err))
		return;
	d->outcome = RESOLVER_NO_KERNEL;
	if (d->err.code == ERR_NOENT && kernel_has_other_module(d->kernel, dso))
		err_set(&d->err, ERR_FORMAT,
			"another build of it is loaded now, and the file of the recorded one is not in /lib/modules");
	/* If the kernel itself has no names, that explains more than a missing file. */
	if (!kernel_has_names(d->kernel) && d->err.code == ERR_NOENT)
		d->err = d->kernel->err;
}

static void load_files(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
	switch ((enum dso_kind)dso->kind) {
	case DSO_UNKNOWN:
		d->outcome = RESOLVER_NO_MAP;
		err_set(&d->err, ERR_NOENT, "no recorded map has their addresses%s",
			kernel_dso(r, false, 0)
				? ""
				: "; the kernel has no map: its addresses were hidden when this was recorded (sysctl kernel.kptr_restrict=0 shows them), or none of its code was recorded");
		break;
	case DSO_FILE:
	case DSO_VDSO:
		load_file(r, dso, d);
		break;
	case DSO_MODULE:
		load_module(r, dso, d);
		break;
	case DSO_KERNEL:
		d->kernel = kernel_of(r, dso);
		d->outcome = kernel_has_names(d->kernel) ? RESOLVER_FOUND : RESOLVER_NO_KERNEL;
		if (d->outcome != RESOLVER_FOUND)
			d->err = d->kernel->err;
		break;
	case DSO_BPF:
		break;
	case DSO_JIT:
		load_perfmap(r, dso, d);
		break;
	case DSO_JITDUMP:
		d->jitdump = r->jitcode ? jitcode_find(r->jitcode, dso) : NULL;
		d->outcome = d->jitdump ? RESOLVER_FOUND : RESOLVER_NO_FILE;
		break;
	case DSO_NONE:
		d->outcome = RESOLVER_NO_CODE_FILE;
		break;
	}
}

void resolver_load_files(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
	load_files(r, dso, d);
	/* Missing names are explained on request; errors of this machine are logged. */
	if (d->err.code == ERR_SYS)
		log_warn(r->files->places.log, "%s", d->err.msg);
}
