#include "symbol/kernel/guest.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/num.h"
#include "base/sysfile.h"
#include "event/abi.h"

/* Reads the kernel's release of a guest whose files are mounted. */
static void read_release(struct guest_request *q)
{
	struct str path = {0};
	struct err ignored;

	str_addf(&path, "%s/proc/sys/kernel/osrelease", q->root.at);
	if (sysfile_read(path.at, 256, &q->release, &ignored))
		str_clear(&q->release);
	str_cut(&q->release, strcspn(str_text(&q->release), "\n"));
	if (q->release.n)
		q->kernel.release = q->release.at;
	str_fini(&path);
}

void guest_request_init(struct guest_request *q, const struct guest_files *files, u32 pid,
	const char *symfs, struct log *log)
{
	memset(q, 0, sizeof(*q));
	q->kernel.symfs = symfs;
	q->kernel.log = log;
	if (files->mount && pid) {
		str_addf(&q->root, "%s/%u", files->mount, pid);
		str_addf(&q->kallsyms, "%s/proc/kallsyms", q->root.at);
		str_addf(&q->modules, "%s/proc/modules", q->root.at);
	}
	if (q->root.n && !access(q->kallsyms.at, R_OK)) {
		read_release(q);
		q->kernel.symfs = q->root.at;
		q->kernel.named_kallsyms = q->kallsyms.at;
		q->kernel.copy_modules = q->modules.at;
		return;
	}
	q->kernel.named_vmlinux = files->vmlinux;
	q->kernel.named_kallsyms = files->kallsyms;
	q->kernel.copy_modules = files->modules;
}

void guest_request_fini(struct guest_request *q)
{
	str_fini(&q->root);
	str_fini(&q->kallsyms);
	str_fini(&q->modules);
	str_fini(&q->release);
}

/* ---- maps ---- */

struct introduction {
	struct machine *machine;
	u32 pid;
};

/* Adds a map, as a record would. */
static void add_map(const struct introduction *in, const char *name, size_t n, u64 start, u64 size,
	u64 pgoff)
{
	struct record rec = {.type = PERF_RECORD_MMAP, .misc = PERF_RECORD_MISC_GUEST_KERNEL};
	union record_body body = {.mmap = {.pid = in->pid,
					  .tid = in->pid,
					  .addr = start,
					  .len = size,
					  .pgoff = pgoff,
					  .path = {(const u8 *)name, n}}};

	machine_apply(in->machine, &rec, &body, 0);
}

static bool take_module(void *ctx, const char *name, size_t n, u64 base, u64 size)
{
	char bracketed[80];

	if (base && size && n + 3 <= sizeof(bracketed)) {
		snprintf(bracketed, sizeof(bracketed), "[%.*s]", (int)n, name);
		add_map(ctx, bracketed, n + 2, base, size, 0);
	}
	return true;
}

/* The start of the kernel's code, according to the files; 0 if they do not say. */
static u64 text_of(const struct kernel_request *q, struct err *err)
{
	struct kernel k;
	u64 text;

	kernel_load(&k, q);
	text = k.has_image ? k.image.text : k.has_kallsyms ? k.kallsyms.text : 0;
	if (!text)
		*err = k.err;
	kernel_close(&k);
	return text;
}

static void introduce(struct machine *m, const struct guest_files *files, u32 pid, struct log *log)
{
	struct introduction in = {m, pid};
	struct guest_request q;
	char name[64];
	struct err err = {0};
	u64 text;

	vec_each(known, &m->guests)
		if (known->pid == pid)
			return;
	guest_request_init(&q, files, pid, "", log);
	snprintf(name, sizeof(name), pid ? "[guest.kernel.kallsyms.%u]" : "[guest.kernel.kallsyms]",
		pid);
	text = q.kernel.named_kallsyms || q.kernel.named_vmlinux ? text_of(&q.kernel, &err) : 0;
	/* Size 1: the machine knows how much room a kernel takes. */
	if (text)
		add_map(&in, name, strlen(name), text, 1, text);
	if (text && q.kernel.copy_modules)
		kallsyms_each_module(q.kernel.copy_modules, log, take_module, &in);
	guest_request_fini(&q);
}

void guest_introduce(struct machine *m, const struct guest_files *files, struct log *log)
{
	struct dirent *entry;
	DIR *dir;

	if (files->vmlinux || files->kallsyms)
		introduce(m, files, 0, log);
	if (!files->mount)
		return;
	dir = opendir(files->mount);
	if (!dir) {
		log_warn(log, "'%s' cannot be read: its guests have no names", files->mount);
		return;
	}
	while ((entry = readdir(dir))) {
		const char *p = entry->d_name;
		u64 pid;

		if (num_scan(&p, 10, &pid) && !*p && pid && pid <= INT32_MAX)
			introduce(m, files, (u32)pid, log);
	}
	closedir(dir);
}
