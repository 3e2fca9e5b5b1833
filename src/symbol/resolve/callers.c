#include "symbol/resolve/callers.h"

#include "base/hash.h"
#include "event/abi.h"
#include "record/regs.h"
#include "symbol/elf/elfcfi.h"
#include "symbol/embed/frames.h"

enum { LIVE_ROWS = 1 << 18 }; /* 4 MB of rules, of some thousand functions */

struct callers_file {
	struct dso_file *file; /* NULL: DSOs of this kind have no files */
	const struct cfi *cfi; /* NULL: none */
	bool is_embedded;      /* `embedded` and `frames` are used instead */
	struct embedded_dso embedded;
	struct frames frames;
	enum stack_ending ending; /* if there is no cfi */
	bool has_debug;           /* a debug file is open: its table has all functions */
};

void callers_init(struct callers *c, struct dso_files *files, const char *arch)
{
	memset(c, 0, sizeof(*c));
	c->files = files;
	c->arch = arch_of_name(arch);
	pthread_mutex_init(&c->lock, NULL);
	callers_settle(c);
}

static void close_file(struct callers_file *f)
{
	if (f)
		frames_close(&f->frames);
	mem_free(f);
}

void callers_fini(struct callers *c)
{
	for (size_t i = 0; i < c->n_dsos; i++)
		close_file(c->dsos[i]);
	mem_free(c->dsos);
	pthread_mutex_destroy(&c->lock);
	memset(c, 0, sizeof(*c));
}

void callers_walk_init(struct callers_walk *w, struct callers *callers)
{
	memset(w, 0, sizeof(*w));
	w->callers = callers;
	stack_init(&w->stack);
	/* What runs for days meets the functions of all programs. */
	if (callers->files->places.is_now)
		w->stack.rows.most = LIVE_ROWS;
	w->lbr.stitches = callers->stitches;
	w->lbr.depth = callers->n_branches;
}

void callers_walk_fini(struct callers_walk *w)
{
	stack_fini(&w->stack);
	livecode_fini(&w->live);
	lbr_fini(&w->lbr);
	vec_fini(&w->chain);
	vec_fini(&w->looks);
	vec_each(code, &w->codes) {
		cfi_fini(&(*code)->cfi);
		mem_free((*code)->tables);
		mem_free((*code)->code);
		mem_free(*code);
	}
	vec_fini(&w->codes);
	table_fini(&w->codes_by_off);
}

/* ---- files ---- */

static void take_cfi(struct callers *c, struct callers_file *f)
{
	const struct cfi *cfi = dso_files_cfi(c->files, f->file);

	f->has_debug = f->file->debug.data;
	f->ending = STACK_NO_CFI;
	if (!cfi_is_empty(cfi))
		f->cfi = cfi;
}

static struct callers_file *load(struct callers *c, const struct dso *dso)
{
	struct callers_file *f = mem_zalloc(sizeof(*f));
	bool has_files = dso->kind == DSO_FILE || dso->kind == DSO_VDSO;

	f->ending = has_files ? STACK_NO_FILE : STACK_NO_CODE_FILE;
	if (embedded_is_there(c->embedded) && embedded_find_dso(c->embedded, dso, &f->embedded) &&
		frames_open(&f->frames, c->embedded, &f->embedded)) {
		f->is_embedded = true;
		return f;
	}
	if (has_files)
		f->file = dso_files_get(c->files, dso);
	if (has_files && f->file->image.data)
		take_cfi(c, f);
	return f;
}

void callers_settle(struct callers *c)
{
	const struct machine *m = c->files->machine;

	dso_files_settle(c->files);
	if (m->dsos.at.n)
		c->dsos = dso_files_room(c->dsos, &c->n_dsos, (u32)m->dsos.at.n - 1,
			sizeof(struct callers_file *));
}

/* Whether the files of DSO `id` are still open although no process has mapped them. */
static bool is_left_open(const struct callers *c, const u8 *is_mapped, u32 id)
{
	return c->dsos[id] && c->dsos[id]->file && !is_mapped[id] &&
		c->dsos[id]->file->dso->kind == DSO_FILE;
}

bool callers_forget(struct callers *c, struct callers_walk *w)
{
	enum { OPEN_LEAST = 32 };
	u32 n_open = 0, n_left = 0;
	u8 *is_mapped;

	callers_settle(c);
	is_mapped = mem_zalloc(c->n_dsos);
	machine_mark_mapped(c->files->machine, is_mapped);
	for (u32 id = 0; id < c->n_dsos; id++) {
		n_open += c->dsos[id] != NULL;
		n_left += is_left_open(c, is_mapped, id);
	}
	if (n_left >= OPEN_LEAST + (n_open - n_left)) {
		for (u32 id = 0; id < c->n_dsos; id++) {
			if (!is_left_open(c, is_mapped, id))
				continue;
			close_file(c->dsos[id]);
			c->dsos[id] = NULL;
			dso_files_close(c->files, id);
		}
		callers_walk_fini(w);
		callers_walk_init(w, c);
	} else {
		n_left = 0;
	}
	mem_free(is_mapped);
	return n_left;
}

static struct callers_file *file_of(struct callers *c, const struct dso *dso)
{
	struct callers_file *f;

	if (UNLIKELY(dso->id >= c->n_dsos))
		callers_settle(c);
	f = __atomic_load_n(&c->dsos[dso->id], __ATOMIC_ACQUIRE);
	if (f)
		return f;
	pthread_mutex_lock(&c->lock);
	f = c->dsos[dso->id];
	if (!f) {
		f = load(c, dso);
		__atomic_store_n(&c->dsos[dso->id], f, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&c->lock);
	return f;
}

void callers_embed(struct callers *c, const struct dso *dso, const u64 *at, size_t n,
	struct embedder *e)
{
	const struct callers_file *f = file_of(c, dso);

	if (f->cfi)
		frames_add(e, f->cfi, at, n);
}

/* ---- generated code ---- */

/* Reads bytes of a dump. Errors of this machine are logged. */
static bool read_dump(const struct callers_walk *w, const struct dso *dso,
	const struct jitdump *dump, u64 off, void *to, u32 n)
{
	struct err err;

	if (!jitdump_read(dump, off, to, n, &err))
		return true;
	err_prefix(&err, "the jitdump '%s'", dso->path);
	log_untried(w->callers->files->places.log, dso->path, &err);
	return false;
}

/* Loads the tables to where perf inject would put them: behind the code, at a multiple of 8. */
static void load_tables(const struct callers_walk *w, const struct dso *dso, struct callers_code *c,
	const struct jitdump *dump, const struct jitdump_code *code)
{
	u32 n = code->unwind_size, frame = n - code->unwind_hdr_size;
	struct cfi_input in = {.is_64 = true};

	c->tables = mem_alloc(n + 1);
	if (read_dump(w, dso, dump, code->unwind_off, c->tables, n)) {
		in.eh_frame = bytes_of(c->tables, frame);
		in.eh_frame.offset = code->off + align_up(code->size, 8);
		in.eh_frame_hdr = bytes_of(c->tables + frame, code->unwind_hdr_size);
		in.eh_frame_hdr.offset = in.eh_frame.offset + frame;
	}
	cfi_init(&c->cfi, &in);
}

/* The code at an offset of a dump, or NULL. */
static struct callers_code *code_at(struct callers_walk *w, const struct dso *dso, u64 off,
	const struct jitdump **ret_dump)
{
	const struct jitdump *dump =
		w->callers->jitcode ? jitcode_find(w->callers->jitcode, dso) : NULL;
	const struct jitdump_code *known = dump ? jitdump_find(dump, off) : NULL;
	struct callers_code *code;
	struct table_probe probe;
	u64 hash;
	u32 i;

	if (!known)
		return NULL;
	*ret_dump = dump;
	hash = hash_mix(known->off, dso->id);
	probe = table_probe(&w->codes_by_off, hash);
	while ((i = table_next(&w->codes_by_off, &probe)) != TABLE_NONE)
		if (w->codes.at[i]->off == known->off && w->codes.at[i]->dso == dso->id)
			return w->codes.at[i];
	code = mem_zalloc(sizeof(*code));
	code->dso = dso->id;
	code->off = known->off;
	code->code_size = (u32)MIN(known->size, (u64)CALLERS_CODE);
	load_tables(w, dso, code, dump, known);
	table_add(&w->codes_by_off, hash, w->codes.n);
	vec_add(&w->codes, code);
	return code;
}

/* Looks up the code at a return address. It may be the end of the code: the call was its last instruction. */
static void look_at_code(struct callers_walk *w, const struct dso *dso, u64 off,
	struct stack_bytes *ret_bytes)
{
	const struct jitdump *dump;
	struct callers_code *c = code_at(w, dso, off, &dump);
	u64 into;

	if (!c && off)
		c = code_at(w, dso, off - 1, &dump);
	if (!c || dump->is_names_only)
		return;
	if (!c->code) {
		c->code = mem_alloc((size_t)c->code_size + 1);
		if (!read_dump(w, dso, dump, c->off, c->code, c->code_size))
			c->code_size = 0;
	}
	into = off - c->off;
	if (into <= c->code_size)
		*ret_bytes = (struct stack_bytes){c->code + into, (u32)into,
			(u32)(c->code_size - into), into};
}

/* ---- code of files ---- */

/*
 * Whether rva is in a program's start-up code. This often has no size, no call frame information, and several
 * names inside (_dl_start_user).
 */
static bool is_near_entry(u64 entry, u64 rva)
{
	enum { LONGEST = 64 };

	return entry && rva >= entry && rva - entry < LONGEST;
}

/*
 * Takes code from the recording, which contains the functions on the stacks. It may have more names than
 * the file itself, such as that of a loop behind the entry point.
 */
static void look_at_embedded(const struct callers *c, const struct callers_file *f, u64 off,
	struct stack_bytes *ret_bytes)
{
	struct embedded_name name;
	u64 rva, before = 0, n;
	const u8 *bytes;
	bool has_name;

	if (!embedded_address_of_offset(c->embedded, &f->embedded, off, &rva))
		return;
	/* The entry point is known even if its code is missing. */
	ret_bytes->is_entry = is_near_entry(f->embedded.entry, rva);
	n = embedded_find_code(c->embedded, &f->embedded, rva, &bytes, &before);
	if (!n)
		return;
	has_name = embedded_find_name(c->embedded, &f->embedded, rva, &name) == EMBEDDED_FOUND;
	*ret_bytes = (struct stack_bytes){bytes, (u32)MIN(before, (u64)UINT32_MAX),
		(u32)MIN(n, (u64)UINT32_MAX), has_name ? rva - name.start : STACK_START_UNKNOWN,
		ret_bytes->is_entry};
}

/* The distance of an address from the start of its function. */
static u64 into_function(struct callers *c, const struct callers_file *f, u64 rva)
{
	bool is_debug = dso_files_symtab(c->files, f->file) == DSO_TABLE_DEBUG;
	const struct symbol *symbol = symtab_find(&f->file->symtab, rva);
	u64 start, end;
	bool is_known;

	if (symbol && !symbol->is_open)
		return rva - symbol->start;
	/* The image's own table, or that of the debug file, is complete: what it lacks is not a function. */
	if (is_debug || f->has_debug)
		return symbol ? rva - symbol->start : STACK_START_UNKNOWN;
	is_known = dso_file_around(f->file, rva, &start, &end);
	if (symbol && (!is_known || start < symbol->start))
		return rva - symbol->start;
	return is_known ? rva - start : STACK_START_UNKNOWN;
}

static void look_at_file(struct callers *c, const struct dso *dso, u64 off,
	struct stack_bytes *ret_bytes)
{
	const struct callers_file *f = file_of(c, dso);
	const struct elf *image = f->file ? &f->file->image : NULL;
	u64 rva, before, into, main_at, entry;
	struct bytes b;

	if (f->is_embedded) {
		look_at_embedded(c, f, off, ret_bytes);
		return;
	}
	if (!image || !image->data || !elf_address_of_offset(image, off, &rva))
		return;
	b = elfcfi_loaded_at(image, rva, &before);
	if (!bytes_left(&b))
		return;
	into = into_function(c, f, rva);
	entry = image->entry;
	main_at = f->file->crt.main;
	*ret_bytes = (struct stack_bytes){b.at, (u32)MIN(before, (u64)UINT32_MAX),
		(u32)MIN(bytes_left(&b), (size_t)UINT32_MAX), into,
		is_near_entry(entry, rva) || (entry && rva >= entry && into == rva - entry),
		main_at && rva >= main_at && into == rva - main_at};
}

/* ---- samples ---- */

static void find_code(void *ctx, u64 ip, struct stack_code *ret_code)
{
	struct callers_walk *w = ctx;
	const struct map *map = machine_find(w->space, ip);
	const struct callers_file *f;
	const struct jitdump *ignored;
	const struct callers_code *code;

	*ret_code = (struct stack_code){.ending = STACK_NO_MAP};
	if (!map)
		return;
	ret_code->dso = map->dso->id;
	ret_code->is_code = map->dso->kind != DSO_NONE;
	ret_code->is_lasting = maps_find(w->space->maps, ip) != NULL;
	if (map->dso->kind == DSO_JITDUMP) {
		ret_code->ending = STACK_NO_CODE_FILE;
		ret_code->rva = map_offset(map, ip);
		code = code_at(w, map->dso, ret_code->rva, &ignored);
		if (code && !cfi_is_empty(&code->cfi))
			ret_code->cfi = &code->cfi;
		return;
	}
	f = file_of(w->callers, map->dso);
	ret_code->ending = f->ending;
	if (f->is_embedded) {
		ret_code->ending = STACK_NO_CFI;
		if (embedded_address_of_offset(w->callers->embedded, &f->embedded,
			    map_offset(map, ip), &ret_code->rva))
			ret_code->cfi = &f->frames.cfi;
		return;
	}
	if (f->cfi && elf_address_of_offset(&f->file->image, map_offset(map, ip), &ret_code->rva))
		ret_code->cfi = f->cfi;
}

static void look(void *ctx, u64 ip, struct stack_bytes *ret_bytes)
{
	static const u8 nothing[1];
	struct callers_walk *w = ctx;
	const struct map *map = machine_find(w->space, ip);

	/* If a process reports all the code it generates, the rest of its memory is not code. */
	if (map && map->dso->kind == DSO_JIT && w->space->code && w->callers->jitcode &&
		jitcode_has_code(w->callers->jitcode, map->dso->pid))
		*ret_bytes = (struct stack_bytes){.at = nothing, .into = STACK_START_UNKNOWN};
	else if (map && map->dso->kind == DSO_JITDUMP)
		look_at_code(w, map->dso, map_offset(map, ip), ret_bytes);
	else if (map)
		look_at_file(w->callers, map->dso, map_offset(map, ip), ret_bytes);
	if (map && w->callers->notes_looks)
		vec_add(&w->looks, ((struct callers_look){map->dso->id, map_offset(map, ip)}));
}

/* Reads code that has no file, or whose file is not written yet, from the process. */
static void peek(void *ctx, u64 ip, struct stack_bytes *ret_bytes)
{
	struct callers_walk *w = ctx;
	const struct map *map = machine_find(w->space, ip);
	const u8 *at;
	u32 n;

	*ret_bytes = (struct stack_bytes){.into = STACK_START_UNKNOWN};
	if (!w->pid || !map || (map->dso->kind != DSO_JIT && map->dso->kind != DSO_JITDUMP))
		return;
	n = livecode_read(&w->live, w->pid, ip, &at);
	if (n)
		*ret_bytes = (struct stack_bytes){at, 0, n, STACK_START_UNKNOWN, false};
}

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
	struct stack_input in = {.arch = regs_arch(w->callers->arch, sample->user_regs.abi),
		.mask = mask,
		.regs = &sample->user_regs,
		.stack = &sample->user_stack,
		.chain = &sample->chain,
		.max_frames = CALLERS_MAX_FRAMES};
	struct stack_places places = {find_code, w, user ? user->id : UINT32_MAX - 1, look,
		w->callers->files->places.is_now ? peek : NULL};

	/* Kernel threads have neither. */
	if (!sample->user_regs.values.n || !sample->user_stack.bytes.n)
		return false;
	w->space = user;
	w->pid = sample->pid;
	*ret_end = stack_walk(&w->stack, &in, &places);
	if (!w->stack.chain.n)
		return false;
	add_kernel(w, &sample->chain);
	vec_each(word, &w->stack.chain)
		vec_add(&w->chain, *word);
	*ret_chain = (struct sample_words){(const u8 *)w->chain.at, w->chain.n};
	return true;
}

/* Where user code was interrupted; 0: it was not, or that is unknown. */
static u64 user_ip(const struct sample *sample, u8 mode)
{
	const struct sample_words *chain = &sample->chain;

	for (u64 i = 0; i + 1 < chain->n; i++)
		if (load_u64(chain->at + 8 * i) == PERF_CONTEXT_USER)
			return load_u64(chain->at + 8 * (i + 1));
	return mode == PERF_RECORD_MISC_USER ? sample->ip : 0;
}

/*
 * per sample: the same, with the user part from the processor's records of calls. `mode`: the CPU mode of the
 * sample.
 */
static bool find_in_branches(struct callers_walk *w, u64 branch_type, const struct sample *sample,
	u8 mode, struct sample_words *ret_chain, struct stack_end *ret_end)
{
	struct lbr_input in = {.tid = sample->tid,
		.branches = &sample->branches,
		.hw_index = branch_type & PERF_SAMPLE_BRANCH_HW_INDEX ? sample->branches.hw_index
								      : LBR_NO_INDEX,
		.ip = user_ip(sample, mode)};

	/* A thread whose user code is being replaced by the kernel (exec) has no callers there. */
	if (!sample->branches.n || !in.ip)
		return false;
	*ret_end = (struct stack_end){.ending = lbr_walk(&w->lbr, &in)};
	add_kernel(w, &sample->chain);
	vec_each(word, &w->lbr.chain)
		vec_add(&w->chain, *word);
	*ret_chain = (struct sample_words){(const u8 *)w->chain.at, w->chain.n};
	return true;
}

/* per sample */
bool callers_of_sample(struct callers_walk *w, const struct space *user,
	const struct sample_format *format, const struct sample *sample, u8 mode,
	struct sample_words *ret_chain, struct stack_end *ret_end)
{
	if (format->type & PERF_SAMPLE_STACK_USER)
		return callers_find(w, user, format->user_regs, sample, ret_chain, ret_end);
	if (format->type & PERF_SAMPLE_BRANCH_STACK &&
		format->branch_type & PERF_SAMPLE_BRANCH_CALL_STACK)
		return find_in_branches(w, format->branch_type, sample, mode, ret_chain, ret_end);
	return false;
}
