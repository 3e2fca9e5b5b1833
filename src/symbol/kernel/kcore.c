#include "symbol/kernel/kcore.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/str.h"
#include "symbol/elf/elf.h"

enum { HEAD_LIMIT = 4 << 20, NOTES_LIMIT = 1 << 20 };

static size_t read_at(int fd, void *buf, size_t n, u64 offset)
{
	size_t done = 0;

	while (done < n) {
		ssize_t r = pread(fd, (u8 *)buf + done, n - done, (off_t)(offset + done));

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			break;
		done += (size_t)r;
	}
	return done;
}

/* Reads the ELF header and the program headers, and nothing else: the file is as large as the memory. */
static int read_head(int fd, struct str *head, struct elf *elf, struct err *err)
{
	Elf64_Ehdr h;
	u64 n;

	if (read_at(fd, &h, sizeof(h), 0) != sizeof(h) || memcmp(h.e_ident, ELFMAG, SELFMAG) ||
		h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_type != ET_CORE ||
		h.e_ident[EI_DATA] !=
			(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB))
		return err_set(err, ERR_FORMAT, "it is not a core file for this kind of machine");
	if (h.e_phoff > HEAD_LIMIT)
		return err_set(err, ERR_FORMAT, "its program headers lie at %llu",
			(unsigned long long)h.e_phoff);
	n = h.e_phoff + (u64)h.e_phnum * sizeof(Elf64_Phdr);
	str_reserve(head, n);
	head->n = read_at(fd, head->at, n, 0);
	return elf_of_memory(elf, head->at, head->n, err);
}

/* Parses "BUILD-ID=0123...", a line of the notes that describe the kernel to crash tools. */
static void take_vmcoreinfo(struct kcore *k, const char *text, size_t n)
{
	static const char word[] = "BUILD-ID=";
	const char *at = memmem(text, n, word, sizeof(word) - 1), *end = text + n;
	u8 size = 0;

	if (!at || (at > text && at[-1] != '\n'))
		return;
	for (at += sizeof(word) - 1; end - at >= 2 && size < BUILD_ID_MAX; at += 2) {
		u8 byte = 0;

		for (int i = 0; i < 2; i++) {
			const char *digits = "0123456789abcdef", *d = strchr(digits, at[i]);

			if (!at[i] || !d)
				goto done;
			byte = (u8)(byte << 4 | (d - digits));
		}
		k->build_id[size++] = byte;
	}
done:
	k->build_id_size = size;
}

static void read_notes(struct kcore *k, const struct elf_segment *s)
{
	u64 size = MIN(s->file_size, (u64)NOTES_LIMIT);
	u32 name_size, desc_size, type;
	struct str text = {0};
	struct bytes b;

	str_reserve(&text, size);
	text.n = read_at(k->fd, text.at, size, s->offset);
	b = bytes_of(text.at, text.n);
	while (!k->build_id_size && bytes_u32(&b, &name_size) && bytes_u32(&b, &desc_size) &&
		bytes_u32(&b, &type)) {
		const void *name, *desc;

		if (!bytes_take(&b, align_up((u64)name_size, 4), &name) ||
			desc_size > bytes_left(&b) ||
			!bytes_take(&b, MIN(align_up((u64)desc_size, 4), bytes_left(&b)), &desc))
			break;
		if (name_size == sizeof("VMCOREINFO") && !memcmp(name, "VMCOREINFO", name_size))
			take_vmcoreinfo(k, desc, desc_size);
	}
	str_fini(&text);
}

static void take_segments(struct kcore *k, const struct elf *elf)
{
	struct sort_item *items = mem_alloc((elf->n_segments + 1) * sizeof(*items));
	size_t n = 0;

	for (u32 i = 0; i < elf->n_segments; i++) {
		const struct elf_segment *s = &elf->segments[i];

		if (s->type == PT_NOTE && !k->build_id_size)
			read_notes(k, s);
		if (s->type == PT_LOAD && s->file_size && s->va + s->file_size > s->va &&
			s->offset + s->file_size > s->offset &&
			s->offset <= INT64_MAX - s->file_size)
			items[n++] = (struct sort_item){s->va, i};
	}
	sort_by_key(items, n);
	for (size_t i = 0; i < n; i++) {
		const struct elf_segment *s = &elf->segments[items[i].value];
		struct kcore_range range = {s->va, s->va + s->file_size, s->offset};
		u64 taken = k->ranges.n ? k->ranges.at[k->ranges.n - 1].end : 0;

		if (range.end <= taken)
			continue;
		if (range.start < taken) {
			range.offset += taken - range.start;
			range.start = taken;
		}
		vec_add(&k->ranges, range);
	}
	mem_free(items);
}

int kcore_open(struct kcore *k, const char *path, struct err *err)
{
	struct str head = {0};
	struct elf elf;

	memset(k, 0, sizeof(*k));
	k->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (k->fd < 0)
		return err_sys(err, errno, "opening '%s'", path);
	if (read_head(k->fd, &head, &elf, err)) {
		str_fini(&head);
		close(k->fd);
		return err_prefix(err, "'%s'", path);
	}
	take_segments(k, &elf);
	elf_close(&elf);
	str_fini(&head);
	return 0;
}

void kcore_close(struct kcore *k)
{
	close(k->fd);
	vec_fini(&k->ranges);
}

size_t kcore_read(const struct kcore *k, u64 va, void *buf, size_t n)
{
	/* `start` is the first member, so search_behind() compares it. */
	size_t i = search_behind(k->ranges.at, k->ranges.n, sizeof(*k->ranges.at), va);
	const struct kcore_range *range;

	errno = 0;
	range = i ? &k->ranges.at[i - 1] : NULL;
	if (!range || range->end <= va)
		return 0;
	return read_at(k->fd, buf, MIN((u64)n, range->end - va), va - range->start + range->offset);
}
