#include "file/section.h"

bool section_get_string(struct bytes *b, struct file_info *info, const char **ret_s)
{
	const void *p;
	u32 n;

	if (!bytes_u32(b, &n) || !bytes_take(b, n, &p))
		return false;
	*ret_s = arena_strdup(&info->host.arena, p, strnlen(p, n));
	return true;
}

void section_put_u32(struct str *out, u32 v)
{
	str_addn(out, &v, sizeof(v));
}

void section_put_u64(struct str *out, u64 v)
{
	str_addn(out, &v, sizeof(v));
}

void section_put_string(struct str *out, const char *s)
{
	size_t n = strlen(s) + 1, padded = align_up(n, SECTION_NAME_ALIGN);

	section_put_u32(out, padded);
	str_addn(out, s, n);
	str_fill(out, '\0', padded - n);
}

bool section_get_count(struct bytes *b, size_t each, u32 *ret_n)
{
	return bytes_u32(b, ret_n) && *ret_n <= bytes_left(b) / each;
}

bool section_get_names(struct bytes *b, struct file_info *info, host_names *names)
{
	u32 n;

	if (!section_get_count(b, 4, &n))
		return false;
	while (n--)
		if (!section_get_string(b, info, vec_push(names)))
			return names->n--, false;
	return true;
}

void section_put_names(struct str *out, const host_names *names)
{
	section_put_u32(out, names->n);
	vec_each(name, names)
		section_put_string(out, *name);
}
