#include "symbol/callers.h"

#include <elf.h>
#include <sys/utsname.h>

#include "event/abi.h"
#include "symbol/elf.h"
#include "symbol/frames.h"
#include "symbol/vdso.h"

struct callers_file {
	struct elf image, debug;
	struct cfi cfi;
	bool is_embedded; /* `embedded` and `frames` take the place of these */
	struct embedded_dso embedded;
	struct frames frames;
	enum stack_ending ending; /* if there is no cfi */
};

void callers_init(struct callers *c, const struct machine *machine,
	const struct find_places *places, const char *arch)
{
	static struct utsname own;

	memset(c, 0, sizeof(*c));
	c->machine = machine;
	c->places = *places;
	if (!arch && !own.machine[0])
		uname(&own);
	c->arch = arch ? arch : own.machine;
	c->n_files = machine->dsos.at.n;
	c->files = mem_zalloc((c->n_files + 1) * sizeof(struct callers_file *));
	pthread_mutex_init(&c->lock, NULL);
}

void callers_fini(struct callers *c)
{
	for (size_t i = 0; i < c->n_files; i++) {
		if (!c->files[i])
			continue;
		cfi_fini(&c->files[i]->cfi);
		frames_close(&c->files[i]->frames);
		elf_close(&c->files[i]->image);
		elf_close(&c->files[i]->debug);
		mem_free(c->files[i]);
	}
	mem_free(c->files);
	pthread_mutex_destroy(&c->lock);
	memset(c, 0, sizeof(*c));
}

void callers_walk_init(struct callers_walk *w, struct callers *callers)
{
	memset(w, 0, sizeof(*w));
	w->callers = callers;
	stack_init(&w->stack);
}

void callers_walk_fini(struct callers_walk *w)
{
	stack_fini(&w->stack);
	vec_fini(&w->chain);
}

/* ---- files ---- */

/* A section's bytes, with the address that they are loaded to as their offset. */
static struct bytes loaded_section(const struct elf *elf, const char *name)
{
	const struct elf_section *s = elf_section(elf, name);
	struct bytes b = {0};

	if (s && !(s->flags & SHF_COMPRESSED) && elf_contents(elf, s, &b))
		b.offset = s->addr;
	return b;
}

static u64 section_address(const struct elf *elf, const char *name)
{
	const struct elf_section *s = elf_section(elf, name);

	return s ? s->addr : 0;
}

/* What lies at an address, up to the end of its segment. */
static struct bytes loaded_at(const struct elf *elf, u64 va)
{
	for (u32 i = 0; i < elf->n_segments; i++) {
		const struct elf_segment *s = &elf->segments[i];
		struct bytes b = bytes_of(elf->data, elf->size), segment;

		if (s->type != PT_LOAD || va < s->va || va - s->va >= s->file_size)
			continue;
		b.swap = elf->swap;
		if (!bytes_skip(&b, s->offset) || !bytes_sub(&b, s->file_size, &segment) ||
			!bytes_skip(&segment, va - s->va))
			break;
		segment.offset = va;
		return segment;
	}
	return (struct bytes){0};
}

/* Files without a table of sections: a segment leads to the search table, and that to the rest. */
static void find_by_segment(const struct elf *elf, struct cfi_input *in)
{
	for (u32 i = 0; i < elf->n_segments; i++) {
		struct bytes hdr;
		u32 to;

		if (elf->segments[i].type != PT_GNU_EH_FRAME)
			continue;
		in->eh_frame_hdr = hdr = loaded_at(elf, elf->segments[i].va);
		/* version, three encodings, of which the first is nearly always pcrel sdata4 */
		if (bytes_left(&hdr) > 8 && hdr.at[1] == 0x1b && bytes_skip(&hdr, 4) &&
			bytes_u32(&hdr, &to))
			in->eh_frame = loaded_at(elf, hdr.offset - 4 + (u64)(s64)(s32)to);
	}
}

static void take_cfi(struct callers *c, const struct dso *dso, struct callers_file *f)
{
	struct cfi_input in = {.eh_frame = loaded_section(&f->image, ".eh_frame"),
		.eh_frame_hdr = loaded_section(&f->image, ".eh_frame_hdr"),
		.debug_frame = loaded_section(&f->image, ".debug_frame"),
		.text = section_address(&f->image, ".text"),
		.data = section_address(&f->image, ".got"),
		.is_64 = f->image.is_64};
	struct err ignored;

	if (!bytes_left(&in.eh_frame))
		find_by_segment(&f->image, &in);
	if (!bytes_left(&in.eh_frame) && !bytes_left(&in.debug_frame) && dso->kind == DSO_FILE &&
		!find_debug(&c->places, dso, &f->image, &f->debug, &ignored))
		in.debug_frame = loaded_section(&f->debug, ".debug_frame");
	cfi_init(&f->cfi, &in);
	if (cfi_is_empty(&f->cfi))
		f->ending = STACK_NO_CFI;
}

static bool is_own_vdso(const struct dso *dso)
{
	u8 id[BUILD_ID_MAX], n = vdso_build_id(id);

	return !dso->build_id_size || (n == dso->build_id_size && !memcmp(id, dso->build_id, n));
}

static struct callers_file *load(struct callers *c, const struct dso *dso)
{
	struct callers_file *f = mem_zalloc(sizeof(*f));
	struct err err;
	int r = -1;

	f->ending =
		dso->kind == DSO_FILE || dso->kind == DSO_VDSO ? STACK_NO_FILE : STACK_NO_CODE_FILE;
	if (embedded_is_there(c->embedded) && embedded_find_dso(c->embedded, dso, &f->embedded) &&
		frames_open(&f->frames, c->embedded, &f->embedded)) {
		f->is_embedded = true;
		return f;
	}
	if (dso->kind == DSO_FILE)
		r = find_image(&c->places, dso, &f->image, &err);
	else if (dso->kind == DSO_VDSO && is_own_vdso(dso))
		r = vdso_open(&f->image, &err);
	if (!r)
		take_cfi(c, dso, f);
	return f;
}

/* A recording that is read while it is made names files as they come. */
static void make_room(struct callers *c, u32 id)
{
	size_t n = MAX((size_t)id + 1, 2 * c->n_files);

	if (id < c->n_files)
		return;
	c->files = mem_realloc(c->files, n * sizeof(struct callers_file *));
	memset(c->files + c->n_files, 0, (n - c->n_files) * sizeof(struct callers_file *));
	c->n_files = n;
}

static struct callers_file *file_of(struct callers *c, const struct dso *dso)
{
	struct callers_file *f;

	make_room(c, dso->id);
	f = __atomic_load_n(&c->files[dso->id], __ATOMIC_ACQUIRE);
	if (f)
		return f;
	pthread_mutex_lock(&c->lock);
	f = c->files[dso->id];
	if (!f) {
		f = load(c, dso);
		__atomic_store_n(&c->files[dso->id], f, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&c->lock);
	return f;
}

void callers_embed(struct callers *c, const struct dso *dso, const u64 *at, size_t n,
	struct embedder *e)
{
	const struct callers_file *f = file_of(c, dso);

	if (!f->is_embedded && !cfi_is_empty(&f->cfi))
		frames_add(e, &f->cfi, at, n);
}

/* ---- samples ---- */

static void find_code(void *ctx, u64 ip, struct stack_code *ret_code)
{
	struct callers_walk *w = ctx;
	const struct map *map = machine_find(w->space, ip);
	const struct callers_file *f;

	*ret_code = (struct stack_code){.ending = STACK_NO_MAP};
	if (!map)
		return;
	f = file_of(w->callers, map->dso);
	ret_code->dso = map->dso->id;
	ret_code->is_code = map->dso->kind != DSO_NONE;
	ret_code->is_lasting = maps_find(w->space->maps, ip) != NULL;
	ret_code->ending = f->ending;
	if (f->is_embedded) {
		ret_code->ending = STACK_NO_CFI;
		if (embedded_address_of_offset(w->callers->embedded, &f->embedded,
			    map_offset(map, ip), &ret_code->rva))
			ret_code->cfi = &f->frames.cfi;
		return;
	}
	if (cfi_is_empty(&f->cfi))
		return;
	ret_code->ending = STACK_NO_CFI;
	if (elf_address_of_offset(&f->image, map_offset(map, ip), &ret_code->rva))
		ret_code->cfi = &f->cfi;
}

/* The kernel's part: what stands before the marker of user code. */
static void add_kernel(struct callers_walk *w, const struct sample_words *chain)
{
	w->chain.n = 0;
	for (u64 i = 0; i < chain->n; i++) {
		u64 word = load_u64(chain->at + 8 * i);

		if (word == PERF_CONTEXT_USER)
			return;
		vec_add(&w->chain, word);
	}
}

/* per sample */
bool callers_find(struct callers_walk *w, const struct space *user, u64 mask,
	const struct sample *sample, struct sample_words *ret_chain, struct stack_end *ret_end)
{
	struct stack_input in = {.arch = stack_arch_of(w->callers->arch, sample->user_regs.abi),
		.mask = mask,
		.regs = &sample->user_regs,
		.stack = &sample->user_stack,
		.max_frames = CALLERS_MAX_FRAMES};
	struct stack_places places = {find_code, w, user ? user->id : UINT32_MAX - 1};

	/* Threads of the kernel have neither. */
	if (!sample->user_regs.values.n || !sample->user_stack.bytes.n)
		return false;
	w->space = user;
	*ret_end = stack_walk(&w->stack, &in, &places);
	if (!w->stack.chain.n)
		return false;
	add_kernel(w, &sample->chain);
	vec_each(word, &w->stack.chain)
		vec_add(&w->chain, *word);
	*ret_chain = (struct sample_words){(const u8 *)w->chain.at, w->chain.n};
	return true;
}
