#include "symbol/embed/frames.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/sort.h"

/* ---- making ---- */

struct stretch {
	u64 from, size;
};

struct wanted {
	VEC(struct cfi_function) functions;
	VEC(struct stretch) stretches[2]; /* by section */
};

SORT_BY(by_from, struct stretch, from)

static void find_functions(struct wanted *w, const struct cfi *cfi, const u64 *at, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct cfi_function *last =
			w->functions.n ? &w->functions.at[w->functions.n - 1] : NULL;
		struct cfi_extent x;

		if ((last && at[i] >= last->start && at[i] < last->end) ||
			!cfi_extent_of(cfi, at[i], &x))
			continue;
		vec_add(&w->functions, x.function);
		vec_add(&w->stretches[x.function.is_debug_frame],
			((struct stretch){x.function.entry, x.fde_size}));
		vec_add(&w->stretches[x.function.is_debug_frame],
			((struct stretch){x.cie, x.cie_size}));
	}
}

void frames_add(struct embedder *e, const struct cfi *cfi, const u64 *at, size_t n)
{
	const struct entry_section *sections[2] = {&cfi->eh_frame, &cfi->debug_frame};
	struct wanted w = {0};

	find_functions(&w, cfi, at, n);
	vec_each(f, &w.functions)
		embedder_add_frame(e, f->start, f->end, f->entry, f->is_debug_frame);
	for (unsigned s = 0; s < 2; s++) {
		const struct entry_section *section = sections[s];
		u64 end = 0;

		if (!w.stretches[s].n)
			continue;
		qsort(w.stretches[s].at, w.stretches[s].n, sizeof(*w.stretches[s].at), by_from);
		embedder_add_section(e, s, section->bytes.offset, bytes_left(&section->bytes),
			section->bases.text, section->bases.data,
			(section->bases.address_size == 8 ? EMBEDDED_IS_64 : 0) |
				(section->bytes.swap ? EMBEDDED_IS_SWAPPED : 0));
		vec_each(x, &w.stretches[s]) {
			if (x->from < end)
				continue;
			embedder_add_section_piece(e, x->from, section->bytes.at + x->from,
				x->size);
			end = x->from + x->size;
		}
		vec_fini(&w.stretches[s]);
	}
	vec_fini(&w.functions);
}

/* ---- reading ---- */

/* Copies the pieces to their offsets, into memory whose other pages stay unused. */
static bool fill(struct frames *f, const struct embedded *e, const struct embedded_section *s)
{
	u8 *p;

	if (!s->size || s->size > EMBEDDED_LIMIT || f->sections[s->which])
		return false;
	p = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		-1, 0);
	if (p == MAP_FAILED)
		return false;
	f->sections[s->which] = p;
	f->sizes[s->which] = s->size;
	for (u32 i = 0; i < s->n_pieces; i++) {
		struct embedded_piece piece;
		const u8 *bytes;

		if (!embedded_entry(e, EMBEDDED_PIECES, (u64)s->first_piece + i, &piece,
			    sizeof(piece)))
			return false;
		bytes = embedded_bytes(e, piece.bytes, piece.size);
		if (bytes && piece.offset <= s->size && piece.size <= s->size - piece.offset)
			memcpy(p + piece.offset, bytes, piece.size);
	}
	return true;
}

static struct bytes view_of(const struct frames *f, const struct embedded_section *s)
{
	struct bytes b = bytes_of(f->sections[s->which], f->sizes[s->which]);

	b.offset = s->address;
	b.swap = (s->flags & EMBEDDED_IS_SWAPPED) != 0;
	return b;
}

bool frames_open(struct frames *f, const struct embedded *e, const struct embedded_dso *d)
{
	VEC(struct cfi_function) functions = {0};
	struct cfi_input in = {0};
	bool is_there = false;

	memset(f, 0, sizeof(*f));
	for (u32 i = 0; i < d->n_sections; i++) {
		struct embedded_section s;

		embedded_entry(e, EMBEDDED_SECTIONS, d->first_section + i, &s, sizeof(s));
		if (s.which > 1 || !fill(f, e, &s))
			continue;
		*(s.which ? &in.debug_frame : &in.eh_frame) = view_of(f, &s);
		in.text = s.text;
		in.data = s.data;
		in.is_64 = (s.flags & EMBEDDED_IS_64) != 0;
		is_there = true;
	}
	for (u32 i = 0; i < d->n_frames; i++) {
		struct embedded_frame frame;

		embedded_entry(e, EMBEDDED_FRAMES, d->first_frame + i, &frame, sizeof(frame));
		vec_add(&functions,
			((struct cfi_function){frame.start, frame.end, frame.entry,
				frame.which != 0}));
	}
	if (is_there)
		cfi_init_listed(&f->cfi, &in, functions.at, functions.n);
	vec_fini(&functions);
	if (!is_there)
		frames_close(f);
	return is_there;
}

void frames_close(struct frames *f)
{
	cfi_fini(&f->cfi);
	for (unsigned s = 0; s < 2; s++)
		if (f->sections[s])
			munmap(f->sections[s], f->sizes[s]);
	memset(f, 0, sizeof(*f));
}
