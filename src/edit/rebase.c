#include "edit/rebase.h"

#include "base/hash.h"
#include "base/mem.h"
#include "event/abi.h"

#define USER_BASE   0x200000ull
#define KERNEL_BASE 0xffff800010000000ull
#define PAGE        0x1000ull
/* Beyond that they begin anew: maps of this size are never of code. */
#define USER_END 0x7fff00000000ull

enum { TRACEPOINT_COMMON = 8 }; /* bytes of a tracepoint's id, flags and pid */

void rebase_init(struct rebase *r)
{
	*r = (struct rebase){0};
	vec_add(&r->spaces, ((struct rebase_space){.pid = UINT32_MAX, .next = KERNEL_BASE}));
}

void rebase_fini(struct rebase *r)
{
	vec_fini(&r->spaces);
	table_fini(&r->index);
	arena_fini(&r->maps.arena);
	str_fini(&r->room);
}

/* ---- spaces ---- */

static u32 space_of(struct rebase *r, u32 pid)
{
	struct table_probe probe = table_probe(&r->index, hash_u64(pid));
	u32 i;

	while ((i = table_next(&r->index, &probe)) != TABLE_NONE)
		if (r->spaces.at[i].pid == pid)
			return i;
	table_add(&r->index, hash_u64(pid), r->spaces.n);
	vec_add(&r->spaces, ((struct rebase_space){.pid = pid, .next = USER_BASE}));
	return (u32)r->spaces.n - 1;
}

/* A new map takes the place of what was there. Returns where it goes. */
static u64 add_map(struct rebase *r, u32 space, u64 start, u64 length)
{
	struct rebase_space *s = &r->spaces.at[space];
	const struct map map = {.start = start,
		.end = start + length < start ? UINT64_MAX : start + length,
		.pgoff = s->next};

	if (length)
		s->maps = maps_add(&r->maps, s->maps, &map);
	s->next += ((length + PAGE - 1) & ~(PAGE - 1)) + PAGE;
	if (space && s->next > USER_END)
		s->next = USER_BASE;
	return map.pgoff;
}

static u64 moved(struct rebase *r, u32 space, u64 address)
{
	const struct map *map = maps_find(r->spaces.at[space].maps, address);

	if (map)
		return map_offset(map, address);
	r->n_lost += address != 0;
	return 0;
}

/* By what it is: the kernel's half of the address space. */
static u64 moved_any(struct rebase *r, u32 space, u64 address)
{
	return moved(r, (s64)address < 0 ? 0 : space, address);
}

static void fork_space(struct rebase *r, const struct record_task *t)
{
	u32 from, to;

	if (t->pid == t->ppid)
		return;
	from = space_of(r, t->ppid);
	to = space_of(r, t->pid);
	/* Both have the same tree until one of them changes it. */
	r->maps.owner++;
	r->spaces.at[to].maps = r->spaces.at[from].maps;
	r->spaces.at[to].next = r->spaces.at[from].next;
}

static void begin_anew(struct rebase *r, u32 pid)
{
	struct rebase_space *s = &r->spaces.at[space_of(r, pid)];

	s->maps = NULL;
	s->next = USER_BASE;
}

/* ---- records ---- */

static bool is_kernels(u16 misc)
{
	return (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
}

static void move_map(struct rebase *r, u16 misc, struct record_mmap *m)
{
	const u32 space = is_kernels(misc) ? 0 : space_of(r, m->pid);
	const u64 to = add_map(r, space, m->addr, m->len);

	/* The kernel's own map has the address of its first symbol there. */
	if (is_kernels(misc) && m->pgoff)
		m->pgoff += to - m->addr;
	m->addr = to;
	m->end = (struct record_end){0};
}

/* True if the body was changed. */
static bool move_body(struct rebase *r, const struct record *rec, union record_body *b)
{
	switch (rec->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		move_map(r, rec->misc, &b->mmap);
		return true;
	case PERF_RECORD_COMM:
		if (rec->misc & PERF_RECORD_MISC_COMM_EXEC)
			begin_anew(r, b->comm.pid);
		return false;
	case PERF_RECORD_FORK:
		fork_space(r, &b->task);
		return false;
	case PERF_RECORD_KSYMBOL:
		/* Code that has no map: BPF programs, trampolines. */
		b->ksymbol.addr = add_map(r, 0, b->ksymbol.addr, b->ksymbol.len);
		b->ksymbol.end = (struct record_end){0};
		return true;
	case PERF_RECORD_TEXT_POKE:
		b->text_poke.addr = moved(r, 0, b->text_poke.addr);
		b->text_poke.end = (struct record_end){0};
		return true;
	}
	return false;
}

static bool take_encoded(struct rebase *r, struct record *rec)
{
	if (r->room.n > UINT16_MAX)
		return false;
	rec->at = (const u8 *)r->room.at;
	rec->size = (u16)r->room.n;
	return true;
}

static bool move_record(struct rebase *r, const struct sample_format *format, struct record *rec)
{
	const u32 trailer = record_has_trailer(rec->type) ? format->trailer : 0;
	union record_body body;
	struct err ignored;

	/* Types without addresses need not be understood. */
	if (record_decode(rec, trailer, &body, &ignored) <= 0)
		return rec->type != PERF_RECORD_MMAP && rec->type != PERF_RECORD_MMAP2 &&
			rec->type != PERF_RECORD_KSYMBOL && rec->type != PERF_RECORD_TEXT_POKE;
	if (!move_body(r, rec, &body))
		return true;
	str_clear(&r->room);
	if (!record_encode(rec->type, rec->misc, &body, trailer, &r->room))
		return false;
	memcpy(r->room.at + r->room.n - trailer, rec->at + rec->size - trailer, trailer);
	return take_encoded(r, rec);
}

/* Appends words in which addresses have moved; returns where they begin. */
static size_t add_chain(struct rebase *r, u32 space, const struct sample_words *chain,
	struct str *words)
{
	const size_t start = words->n;

	for (u64 i = 0; i < chain->n; i++) {
		u64 word = load_u64(chain->at + 8 * i);

		/* Markers say whose the following addresses are. */
		if (word < PERF_CONTEXT_MAX)
			word = moved_any(r, space, word);
		str_addn(words, &word, sizeof(word));
	}
	return start;
}

static size_t add_branches(struct rebase *r, u32 space, const struct sample_branches *b,
	struct str *words)
{
	enum { ENTRY = 24 };
	const size_t start = words->n;

	for (u64 i = 0; i < b->n; i++) {
		u64 entry[3];

		memcpy(entry, b->entries + i * ENTRY, sizeof(entry));
		entry[0] = moved_any(r, space, entry[0]);
		entry[1] = moved_any(r, space, entry[1]);
		str_addn(words, entry, sizeof(entry));
	}
	return start;
}

static bool move_sample(struct rebase *r, const struct sample_format *format, bool is_tracepoint,
	struct record *rec)
{
	struct record_header header = {rec->type, rec->misc, 0};
	struct str words = {0}, raw = {0};
	struct sample s = {0};
	struct err ignored;
	size_t chain, branches, kept;
	u32 space;

	if (format->type & PERF_SAMPLE_PHYS_ADDR) {
		r->n_dropped++;
		return false;
	}
	if (sample_decode(format, rec->at + RECORD_HEADER_SIZE, rec->size - RECORD_HEADER_SIZE,
		    UINT64_MAX, &s, &ignored))
		return false;
	space = space_of(r, s.pid);
	s.ip = is_kernels(rec->misc) ? moved(r, 0, s.ip) : moved_any(r, space, s.ip);
	s.addr = moved_any(r, space, s.addr);
	chain = add_chain(r, space, &s.chain, &words);
	branches = add_branches(r, space, &s.branches, &words);
	if (words.n) {
		s.chain.at = (const u8 *)words.at + chain;
		s.branches.entries = (const u8 *)words.at + branches;
	}
	r->n_blanked += s.user_stack.bytes.n || s.user_regs.values.n || s.intr_regs.values.n ||
		s.raw.n || s.aux.n;
	s.user_regs = s.intr_regs = (struct sample_regs){0};
	s.user_stack = (struct sample_stack){0};
	s.aux.n = 0;
	kept = is_tracepoint ? MIN(s.raw.n, (u32)TRACEPOINT_COMMON) : 0;
	if (s.raw.n) {
		str_addn(&raw, s.raw.at, kept);
		str_fill(&raw, '\0', s.raw.n - kept);
		s.raw.at = (const u8 *)raw.at;
	}
	str_clear(&r->room);
	str_addn(&r->room, &header, sizeof(header));
	sample_encode(format, &s, &r->room);
	str_fini(&words);
	str_fini(&raw);
	return take_encoded(r, rec);
}

bool rebase_record(struct rebase *r, const struct sample_format *format, bool is_tracepoint,
	struct record *rec)
{
	return rec->type == PERF_RECORD_SAMPLE ? move_sample(r, format, is_tracepoint, rec)
					       : move_record(r, format, rec);
}
