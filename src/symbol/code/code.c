#include "symbol/code/code.h"

#include <elf.h>
#include <errno.h>

#include "arch/arch.h"
#include "symbol/kernel/kcore.h"

struct code_wish {
	const struct resolver *resolver;
	const struct dso *dso;
	u64 start, n;
};

static void of_elf(struct code *c, const struct elf *elf, const char *origin)
{
	c->machine = elf->machine;
	c->is_big = elf->data[EI_DATA] == ELFDATA2MSB;
	c->va = c->start;
	str_add(&c->origin, elf->path ? elf->path : origin);
	c->path = elf->path ? c->origin.at : NULL;
}

/* Takes code from the mapped file, or the vdso. */
static int from_image(struct code *c, const struct code_wish *w, struct err *err)
{
	const struct elf *elf = resolver_image(w->resolver, w->dso);
	const char *reason = resolver_reason(w->resolver, w->dso);

	if (!elf)
		return err_set(err, ERR_NOENT, "%s",
			reason ? reason : "the file with its code is missing");
	c->at = elf_bytes_at(elf, w->start, w->n);
	if (!c->at)
		return err_set(err, ERR_NOENT, "'%s' has no bytes for 0x%llx-0x%llx",
			elf->path ? elf->path : w->dso->path, (unsigned long long)w->start,
			(unsigned long long)(w->start + w->n));
	of_elf(c, elf, w->dso->path);
	return 0;
}

/* Takes code from the recording, which contains only that of sampled functions. */
static int from_recording(struct code *c, const struct code_wish *w, struct err *err)
{
	const struct embedded_dso *d = resolver_embedded(w->resolver, w->dso);
	u64 n, before;

	n = d ? embedded_find_code(w->resolver->embedded, d, w->start, &c->at, &before) : 0;
	if (!d || n < w->n) {
		const char *reason = resolver_reason(w->resolver, w->dso);

		return err_set(err, ERR_NOENT, "%s",
			reason ? reason
			       : "its code is neither in a file here nor in the recording: 'pace data pack' adds it, where the file is");
	}
	c->va = c->start;
	c->machine = (u16)d->machine;
	str_add(&c->origin, "the recording");
	return 0;
}

/* Takes code from the file, although the recording has its names: nobody has sampled this function. */
static int from_file(struct code *c, const struct code_wish *w, struct err *err)
{
	const struct dso_file *file = dso_files_get(w->resolver->files, w->dso);

	c->at = file->image.data ? elf_bytes_at(&file->image, w->start, w->n) : NULL;
	/* The recording's reason is the better one. */
	if (!c->at)
		return err->code;
	of_elf(c, &file->image, w->dso->path);
	return 0;
}

static int from_perfmap(struct code *c, const struct code_wish *w, struct err *err);

static int from_jitdump(struct code *c, const struct code_wish *w, struct err *err)
{
	const struct jitcode *j = w->resolver->jitcode;
	const struct jitdump *dump = j ? jitcode_find(j, w->dso) : NULL;
	const struct jitdump_code *code = dump ? jitdump_find(dump, w->start) : NULL;

	if (!code)
		return err_set(err, ERR_NOENT, "the jitdump '%s' is not here", w->dso->path);
	if (dump->is_names_only)
		return from_perfmap(c, w, err);
	str_fill(&c->own, 0, w->n);
	if (jitdump_read(dump, w->start, c->own.at, w->n, err))
		return err_prefix(err, "the jitdump '%s'", w->dso->path);
	c->at = (const u8 *)c->own.at;
	c->va = code->va + (w->start - code->off);
	c->machine = dump->machine;
	c->is_big = dump->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	str_add(&c->origin, w->dso->path);
	return 0;
}

static int from_perfmap(struct code *c, const struct code_wish *w, struct err *err)
{
	(void)c;
	return err_set(err, ERR_NOENT,
		"the program left names of its code (%s), not the code: a jitdump has both (node --perf-prof, java with libperf-jvmti.so); record it then with -k mono",
		w->dso->path);
}

/* The distance from a kernel's recorded address to one whose _text is at `text`. */
static u64 shift_to(const struct kernel *k, u64 text)
{
	return k->request.text && text ? text - k->request.text : 0;
}

/* Takes code from the running kernel, if it is the recorded one: as it is now, with all its patches. */
static int from_kcore(struct code *c, const struct code_wish *w, struct err *err)
{
	const struct resolver *r = w->resolver;
	const struct kernel *k = &r->kernel;
	struct kcore kcore;
	size_t n;
	int sys;

	if (w->dso->is_guest || !k->has_kallsyms || k->is_copy)
		return err_set(err, ERR_NOENT, "the recorded kernel does not run here");
	if (kcore_open(&kcore, r->kcore, err))
		return err->code;
	str_fill(&c->own, 0, w->n);
	n = kcore_read(&kcore, w->start + shift_to(k, k->kallsyms.text), c->own.at, w->n);
	sys = errno;
	kcore_close(&kcore);
	if (n < w->n && sys)
		return err_sys(err, sys, "reading '%s'", r->kcore);
	if (n < w->n)
		return err_set(err, ERR_NOENT, "'%s' has only %zu of %llu bytes", r->kcore, n,
			(unsigned long long)w->n);
	c->at = (const u8 *)c->own.at;
	c->va = c->start;
	c->machine = arch_of_host() ? arch_of_host()->machine : EM_NONE;
	c->is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	str_add(&c->origin, r->kcore);
	return 0;
}

/* Takes code from vmlinux, as it was linked: without the patches that the kernel makes at start-up. */
static int from_vmlinux(struct code *c, const struct code_wish *w, struct err *err)
{
	const struct kernel *k = &w->resolver->kernel;

	if (w->dso->is_guest || !k->has_image)
		return err_set(err, ERR_NOENT, "no vmlinux of this build is here");
	c->at = elf_bytes_at(&k->image.elf, w->start + shift_to(k, k->image.text), w->n);
	if (!c->at)
		return err_set(err, ERR_NOENT, "'%s' has no bytes for it", k->image.elf.path);
	of_elf(c, &k->image.elf, w->dso->path);
	return 0;
}

static int from_kernel(struct code *c, const struct code_wish *w, struct err *err)
{
	(void)c;
	return err_set(err, ERR_NOENT,
		"the code of %s is in memory only: a vmlinux of this build (-k FILE), or /proc/kcore read by root, has it",
		w->dso->name);
}

static int from_nowhere(struct code *c, const struct code_wish *w, struct err *err)
{
	(void)c;
	return err_set(err, ERR_NOENT, "%s is not a file with code", w->dso->name);
}

/* In the order in which they are tried. */
static const struct {
	u32 kinds; /* 1 << enum dso_kind */
	int (*find)(struct code *c, const struct code_wish *w, struct err *err);
} sources[] = {
	{1 << DSO_FILE | 1 << DSO_VDSO, from_image},
	{1 << DSO_FILE, from_recording},
	{1 << DSO_FILE, from_file},
	{1 << DSO_JITDUMP, from_jitdump},
	{1 << DSO_JIT, from_perfmap},
	{1 << DSO_KERNEL, from_kcore},
	{1 << DSO_KERNEL, from_vmlinux},
	{1 << DSO_KERNEL | 1 << DSO_MODULE | 1 << DSO_BPF, from_kernel},
	{1 << DSO_UNKNOWN | 1 << DSO_NONE, from_nowhere},
};

int code_find(struct code *c, const struct resolver *r, const struct dso *dso, u64 start, u64 end,
	struct err *err)
{
	struct code_wish w = {r, dso, start, end - start};
	int result = ERR_NOENT;

	memset(c, 0, sizeof(*c));
	if (end <= start)
		return err_set(err, ERR_NOENT, "its end is unknown");
	if (w.n > CODE_MAX)
		return err_set(err, ERR_LIMIT, "it has %llu bytes, the limit is %d",
			(unsigned long long)w.n, CODE_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(sources) && result; i++) {
		if (!(sources[i].kinds >> dso->kind & 1))
			continue;
		code_fini(c);
		c->start = start;
		result = sources[i].find(c, &w, err);
	}
	if (result) {
		code_fini(c);
		return result;
	}
	c->n = w.n;
	c->arch = arch_of_machine(c->machine);
	c->isa = c->arch ? c->arch->isa : NULL;
	return 0;
}

void code_fini(struct code *c)
{
	str_fini(&c->origin);
	str_fini(&c->own);
	memset(c, 0, sizeof(*c));
}

struct resolver_answer code_name(const struct code *c, struct resolver *r, const struct dso *dso,
	u64 va)
{
	const struct elf *image = resolver_image(r, dso);
	const struct jitdump_code *code;
	u64 address = va - c->va + c->start;

	if (dso->kind == DSO_JITDUMP && address - c->start >= c->n) {
		code = jitdump_find_loaded(jitcode_find(r->jitcode, dso), va);
		if (!code)
			return (struct resolver_answer){.start = va,
				.end = va,
				.at = va,
				.outcome = RESOLVER_NO_SYMBOL};
		address = code->off + (va - code->va);
	}
	if (image && !elf_offset_of_address(image, address, &address))
		return (struct resolver_answer){.start = va,
			.end = va,
			.at = va,
			.outcome = RESOLVER_NO_SYMBOL};
	return resolver_find(r, dso, address);
}
