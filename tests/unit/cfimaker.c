#include "unit/cfimaker.h"

static void put(struct str *to, u64 v, unsigned n)
{
	str_addn(to, (const char *)&v, n);
}

static void put_sleb(struct str *to, s64 v)
{
	bool is_last;

	do {
		u8 byte = v & 0x7f;

		v >>= 7;
		is_last = (v == 0 && !(byte & 0x40)) || (v == -1 && byte & 0x40);
		str_addc(to, (char)(is_last ? byte : byte | 0x80));
	} while (!is_last);
}

/* The entry is complete: its length goes to where it begins. */
static void close_entry(struct cfimaker *m, size_t start)
{
	u32 length;

	while ((m->bytes.n - start) % 8)
		str_addc(&m->bytes, 0);
	length = (u32)(m->bytes.n - start - 4);
	memcpy(m->bytes.at + start, &length, 4);
}

void cfimaker_cie(struct cfimaker *m, const char *letters, s64 data_align, u8 return_reg,
	const u8 *code, size_t n)
{
	m->cie = m->bytes.n;
	put(&m->bytes, 0, 4);
	put(&m->bytes, 0, 4);
	put(&m->bytes, 1, 1);
	str_addn(&m->bytes, letters, strlen(letters) + 1);
	put(&m->bytes, 1, 1);
	put_sleb(&m->bytes, data_align);
	put(&m->bytes, return_reg, 1);
	if (letters[0] == 'z')
		put(&m->bytes, 0, 1);
	str_addn(&m->bytes, (const char *)code, n);
	close_entry(m, m->cie);
}

void cfimaker_fde(struct cfimaker *m, u64 start, u64 size, const u8 *code, size_t n)
{
	size_t at = m->bytes.n;

	put(&m->bytes, 0, 4);
	put(&m->bytes, at + 4 - m->cie, 4);
	put(&m->bytes, start, 8);
	put(&m->bytes, size, 8);
	if (m->bytes.at[m->cie + 9] == 'z')
		put(&m->bytes, 0, 1);
	str_addn(&m->bytes, (const char *)code, n);
	close_entry(m, at);
}

struct cfi_input cfimaker_input(const struct cfimaker *m)
{
	struct cfi_input in = {.eh_frame = bytes_of(m->bytes.at, m->bytes.n), .is_64 = true};

	in.eh_frame.offset = CFIMAKER_AT;
	return in;
}
