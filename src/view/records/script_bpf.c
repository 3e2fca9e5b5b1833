/*
 * script_bpf.c - what a program of BPF's wrote: bytes, and text if they are.
 */
#include "view/records/script.h"

static bool is_printable(u8 c)
{
	return c >= ' ' && c <= '~';
}

/* Printable characters up to a NUL, and nothing but NULs after it. */
static bool is_text(const struct record_bytes *raw)
{
	u32 n = 0;

	while (n < raw->n && is_printable(raw->at[n]))
		n++;
	if (!n || n == raw->n)
		return false;
	for (u32 i = n; i < raw->n; i++)
		if (raw->at[i])
			return false;
	return true;
}

static void add_line(const struct record_bytes *raw, u32 from, struct str *text)
{
	enum { IN_A_LINE = 8 };

	str_addf(text, "%17s %04x:", from ? "" : "BPF output:", from);
	for (u32 i = from; i < from + IN_A_LINE; i++)
		if (i < raw->n)
			str_addf(text, " %02x", raw->at[i]);
		else
			str_add(text, "   ");
	str_add(text, "  ");
	for (u32 i = from; i < from + IN_A_LINE; i++)
		str_addc(text,
			i >= raw->n                        ? ' '
				: is_printable(raw->at[i]) ? (char)raw->at[i]
							   : '.');
	str_addc(text, '\n');
}

void script_add_bpf_output(const struct record_bytes *raw, struct str *text)
{
	str_addc(text, '\n');
	for (u32 i = 0; i < raw->n; i += 8)
		add_line(raw, i, text);
	if (is_text(raw))
		str_addf(text, "%17s \"%s\"\n", "BPF string:", (const char *)raw->at);
}
