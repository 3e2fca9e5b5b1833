#include "unit/jitmaker.h"

enum { LOAD, MOVE, DEBUG_INFO, UNWINDING_INFO = 4 };

static void put32(struct jitmaker *m, u32 v)
{
	v = m->swap ? __builtin_bswap32(v) : v;
	str_addn(&m->file, &v, sizeof(v));
}

static void put64(struct jitmaker *m, u64 v)
{
	v = m->swap ? __builtin_bswap64(v) : v;
	str_addn(&m->file, &v, sizeof(v));
}

static void put_prefix(struct jitmaker *m, u32 id, u64 size, u64 time)
{
	put32(m, id);
	put32(m, (u32)(16 + size));
	put64(m, time);
}

void jitmaker_init(struct jitmaker *m, bool swap, u64 flags)
{
	memset(m, 0, sizeof(*m));
	m->swap = swap;
	put32(m, 0x4a695444);
	put32(m, 1);
	put32(m, 40);
	put32(m, 62);
	put32(m, 0);
	put32(m, 42);
	put64(m, 1);
	put64(m, flags);
}

void jitmaker_fini(struct jitmaker *m)
{
	str_fini(&m->file);
}

void jitmaker_load(struct jitmaker *m, u64 time, u64 index, u64 va, u64 size, const char *name)
{
	put_prefix(m, LOAD, 40 + strlen(name) + 1 + size, time);
	put32(m, 42);
	put32(m, 42);
	put64(m, va);
	put64(m, va);
	put64(m, size);
	put64(m, index);
	str_addn(&m->file, name, strlen(name) + 1);
	str_fill(&m->file, '\xcc', size);
}

void jitmaker_move(struct jitmaker *m, u64 time, u64 index, u64 from, u64 to, u64 size)
{
	put_prefix(m, MOVE, 48, time);
	put32(m, 42);
	put32(m, 42);
	put64(m, to);
	put64(m, from);
	put64(m, to);
	put64(m, size);
	put64(m, index);
}

void jitmaker_lines(struct jitmaker *m, u64 va, const struct jitmaker_line *lines, size_t n)
{
	size_t size = 16;

	for (size_t i = 0; i < n; i++)
		size += 16 + strlen(lines[i].file) + 1;
	put_prefix(m, DEBUG_INFO, size, 0);
	put64(m, va);
	put64(m, n);
	for (size_t i = 0; i < n; i++) {
		put64(m, lines[i].va);
		put32(m, lines[i].line);
		put32(m, 0);
		str_addn(&m->file, lines[i].file, strlen(lines[i].file) + 1);
	}
}

void jitmaker_unwinding(struct jitmaker *m, const char *frames, size_t n_frames, const char *header,
	size_t n_header)
{
	put_prefix(m, UNWINDING_INFO, 24 + n_frames + n_header, 0);
	put64(m, n_frames + n_header);
	put64(m, n_header);
	put64(m, 0);
	str_addn(&m->file, frames, n_frames);
	str_addn(&m->file, header, n_header);
}

void jitmaker_other(struct jitmaker *m, u32 id, size_t n)
{
	put_prefix(m, id, n, 0);
	str_fill(&m->file, '\0', n);
}
