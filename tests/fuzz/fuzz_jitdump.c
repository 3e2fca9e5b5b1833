/* A jitdump, then look-ups of all that is in it, and its functions as files. */
#include "fuzz/fuzz.h"

#include <fcntl.h>
#include <unistd.h>

#include "symbol/jit/jitimage.h"

static void check_code(const struct jitdump *d, const struct jitdump_code *code, size_t file_size)
{
	const struct jitdump_line *line;

	FUZZ_CHECK(code->size && code->off < file_size && code->size <= file_size - code->off);
	FUZZ_CHECK(jitdump_find(d, code->off) == code);
	FUZZ_CHECK(jitdump_find(d, code->off + code->size - 1) == code);
	line = jitdump_find_line(d, code->off + code->size - 1);
	FUZZ_CHECK(!line || line->file);
}

static void check_image(const struct jitdump *d, const struct jitdump_code *code)
{
	struct jitimage image;
	struct err err;

	if (jitimage_make(d, code, &image, &err))
		return;
	FUZZ_CHECK(image.file.n > JITIMAGE_TEXT + code->size);
	str_fini(&image.file);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	int fd = open(fuzz_file(data, n), O_RDONLY | O_CLOEXEC);
	struct jitdump_event e;
	struct jitdump d;
	struct err err;

	FUZZ_CHECK(fd >= 0);
	if (jitdump_open(&d, fd, &err)) {
		close(fd);
		return 0;
	}
	while (jitdump_next(&d, &e, &err) > 0) {
		FUZZ_CHECK(e.size && e.va + e.size >= e.va);
		FUZZ_CHECK(jitdump_find(&d, e.off));
	}
	for (size_t i = 0; i < d.codes.n && i < 1000; i++)
		check_code(&d, &d.codes.at[i], n);
	for (size_t i = 0; i < d.codes.n && i < 100; i++)
		check_image(&d, &d.codes.at[i]);
	jitdump_close(&d);
	return 0;
}
