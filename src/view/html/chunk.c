#include "view/html/chunk.h"

enum { ROOM = 64 << 10, LEVEL = 6, LEVEL_NUMBERS = 1, NUMBER_BYTES = 10 };

/* zlib allocates like everybody else here: memory never runs out quietly. */
static void *allocate(void *ctx, uInt n, uInt size)
{
	(void)ctx;
	return mem_alloc((size_t)n * size);
}

static void release(void *ctx, void *p)
{
	(void)ctx;
	mem_free(p);
}

/* Writes what is packed, but for the last bytes that are no group of three. */
static void write_base64(struct chunk *c, bool is_last)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const u8 *at = (const u8 *)c->packed.at;
	size_t i = 0, n = c->packed.n;

	for (; i + 3 <= n; i += 3) {
		const u32 bits = (u32)at[i] << 16 | (u32)at[i + 1] << 8 | at[i + 2];
		const char four[] = {digits[bits >> 18], digits[bits >> 12 & 63],
			digits[bits >> 6 & 63], digits[bits & 63]};

		str_addn(&c->out->text, four, sizeof(four));
	}
	if (is_last && i < n) {
		const u32 bits = (u32)at[i] << 16 | (i + 1 < n ? (u32)at[i + 1] << 8 : 0);

		str_addc(&c->out->text, digits[bits >> 18]);
		str_addc(&c->out->text, digits[bits >> 12 & 63]);
		str_addc(&c->out->text, i + 1 < n ? digits[bits >> 6 & 63] : '=');
		str_addc(&c->out->text, '=');
		i = n;
	}
	if (i)
		memmove(c->packed.at, c->packed.at + i, n - i);
	c->packed.n = n - i;
	out_flush_some(c->out);
}

static void pack(struct chunk *c, int how)
{
	c->stream.next_in = (Bytef *)c->raw.at;
	c->stream.avail_in = (uInt)c->raw.n;
	do {
		str_reserve(&c->packed, ROOM);
		c->stream.next_out = (Bytef *)c->packed.at + c->packed.n;
		c->stream.avail_out = ROOM;
		deflate(&c->stream, how);
		c->packed.n += ROOM - c->stream.avail_out;
		write_base64(c, false);
	} while (!c->stream.avail_out);
	str_clear(&c->raw);
}

static void open_at(struct chunk *c, struct out *out, const char *id, int level)
{
	*c = (struct chunk){.out = out, .stream = {.zalloc = allocate, .zfree = release}};
	deflateInit2(&c->stream, level, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
	str_addf(&out->text, "<script type=\"application/octet-stream\" id=\"%s\">", id);
}

void chunk_open(struct chunk *c, struct out *out, const char *id)
{
	open_at(c, out, id, LEVEL);
}

void chunk_open_numbers(struct chunk *c, struct out *out, const char *id)
{
	open_at(c, out, id, LEVEL_NUMBERS);
}

void chunk_add(struct chunk *c, const void *data, size_t n)
{
	const char *at = data;

	while (n) {
		const size_t some = MIN(n, (size_t)ROOM);

		str_addn(&c->raw, at, some);
		at += some;
		n -= some;
		if (c->raw.n >= ROOM)
			pack(c, Z_NO_FLUSH);
	}
}

void chunk_add_number(struct chunk *c, u64 v)
{
	str_reserve(&c->raw, NUMBER_BYTES);
	for (; v > 0x7f; v >>= 7)
		c->raw.at[c->raw.n++] = (char)(v | 0x80);
	c->raw.at[c->raw.n++] = (char)v;
	if (c->raw.n >= ROOM)
		pack(c, Z_NO_FLUSH);
}

void chunk_close(struct chunk *c)
{
	pack(c, Z_FINISH);
	write_base64(c, true);
	deflateEnd(&c->stream);
	str_fini(&c->raw);
	str_fini(&c->packed);
	str_add(&c->out->text, "</script>\n");
}
