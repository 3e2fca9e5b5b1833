#include "symbol/plainelf.h"

#include <elf.h>

#include "symbol/unpack.h"

enum { ZSTD = 2 }; /* ELFCOMPRESS_ZSTD: older elf.h lack it */

/* How a section is packed, and its bytes behind the header that says so; false if it is not packed. */
static bool open_packed(const struct elf *elf, const struct elf_section *s, u32 *ret_type,
	struct bytes *ret_packed)
{
	u64 header = elf->is_64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
	struct bytes b;

	if (!(s->flags & SHF_COMPRESSED) || !elf_raw(elf, s, &b))
		return false;
	*ret_packed = b;
	return bytes_u32(&b, ret_type) && bytes_skip(ret_packed, header);
}

bool plainelf_is_needed(const struct elf *elf)
{
	for (u32 i = 0; i < elf->n_sections; i++) {
		struct bytes packed;
		u32 type;

		if (open_packed(elf, &elf->sections[i], &type, &packed) && type != ELFCOMPRESS_ZLIB)
			return true;
	}
	return false;
}

/* Puts a number of the file's class and byte order into the image. */
static void put_word(const struct elf *elf, struct str *image, u64 at, u64 value)
{
	u64 wide = elf->swap ? __builtin_bswap64(value) : value;
	u32 narrow = elf->swap ? __builtin_bswap32((u32)value) : (u32)value;

	if (elf->is_64)
		memcpy(image->at + at, &wide, sizeof(wide));
	else
		memcpy(image->at + at, &narrow, sizeof(narrow));
}

/* Where the header of section 0 is; false if the table is not in the file. */
static bool find_headers(const struct elf *elf, u64 *ret_at)
{
	struct bytes b = bytes_of(elf->data, elf->size);
	u64 wide = 0, size = elf->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	u32 narrow = 0;

	b.swap = elf->swap;
	if (elf->is_64 ? !bytes_skip(&b, offsetof(Elf64_Ehdr, e_shoff)) || !bytes_u64(&b, &wide)
		       : !bytes_skip(&b, offsetof(Elf32_Ehdr, e_shoff)) || !bytes_u32(&b, &narrow))
		return false;
	*ret_at = elf->is_64 ? wide : narrow;
	return *ret_at <= elf->size && elf->n_sections <= (elf->size - *ret_at) / size;
}

/* The section's header says that it is not packed, and lies from `off` on. */
static void change_header(const struct elf *elf, struct str *image, u64 headers, u32 i, u64 off,
	u64 size)
{
	u64 flags = elf->sections[i].flags & ~(u64)SHF_COMPRESSED;

	if (elf->is_64) {
		u64 at = headers + i * sizeof(Elf64_Shdr);

		put_word(elf, image, at + offsetof(Elf64_Shdr, sh_flags), flags);
		put_word(elf, image, at + offsetof(Elf64_Shdr, sh_offset), off);
		put_word(elf, image, at + offsetof(Elf64_Shdr, sh_size), size);
	} else {
		u64 at = headers + i * sizeof(Elf32_Shdr);

		put_word(elf, image, at + offsetof(Elf32_Shdr, sh_flags), flags);
		put_word(elf, image, at + offsetof(Elf32_Shdr, sh_offset), off);
		put_word(elf, image, at + offsetof(Elf32_Shdr, sh_size), size);
	}
}

static int add_section(const struct elf *elf, u32 i, u64 headers, u64 limit, struct str *image,
	struct err *err)
{
	struct bytes packed;
	u64 off;
	u32 type;
	int r;

	if (!open_packed(elf, &elf->sections[i], &type, &packed))
		return 0;
	if (type != ELFCOMPRESS_ZLIB && type != ZSTD)
		return err_set(err, ERR_UNSUPPORTED,
			"a section of it is packed in a way that is not known here (%u)", type);
	str_fill(image, '\0', -image->n & 7);
	off = image->n;
	r = unpack(type == ZSTD ? UNPACK_ZSTD : UNPACK_ZLIB, packed, limit - MIN(limit, image->n),
		image, err);
	if (r)
		return err_prefix(err, "unpacking a section of its debug information");
	change_header(elf, image, headers, i, off, image->n - off);
	return 0;
}

int plainelf_make(const struct elf *elf, u64 limit, struct str *ret_image, struct err *err)
{
	struct str image = {0};
	u64 headers;
	int r = 0;

	if (!find_headers(elf, &headers))
		return err_set(err, ERR_FORMAT, "its section headers are cut off");
	str_addn(&image, elf->data, elf->size);
	for (u32 i = 0; i < elf->n_sections && !r; i++)
		r = add_section(elf, i, headers, limit, &image, err);
	if (r) {
		str_fini(&image);
		return r;
	}
	*ret_image = image;
	return 0;
}
