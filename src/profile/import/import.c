#include "profile/import/import.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "file/standin.h"
#include "symbol/elf/unpack.h"

/* One row per format: import_x, in a file of its own. */
#define IMPORTERS(X) \
	X(batch)     \
	X(otlp)      \
	X(pprof)     \
	X(folded)

#define DECLARE(name) extern const struct importer import_##name;
IMPORTERS(DECLARE)

#define ROW(name) &import_##name,
const struct importer *const import_table[] = {IMPORTERS(ROW) NULL};

/* ---- which it is ---- */

static const struct importer *recognize(const void *first, size_t n)
{
	for (size_t i = 0; import_table[i]; i++)
		if (n && import_table[i]->recognizes(first, n))
			return import_table[i];
	return NULL;
}

/* Finds the importer for data that begins with these bytes, packed or not; NULL: there is none. */
static const struct importer *importer_of(const void *first, size_t n)
{
	const struct bytes packed = bytes_of(first, n);
	const enum unpack_form form = unpack_form_of(packed);
	const struct importer *found;
	struct str plain = {0};
	struct err err;

	if (form == UNPACK_NONE)
		return recognize(first, MIN(n, (size_t)IMPORT_PEEK));
	/* The data is cut off, so this fails, but `plain` has what could be unpacked. */
	unpack(form, packed, IMPORT_PEEK, &plain, &err);
	found = recognize(plain.at, plain.n);
	str_fini(&plain);
	return found;
}

const struct importer *import_of_file(const char *path)
{
	const struct importer *found = NULL;
	u8 first[IMPORT_PEEK];
	struct stat st;
	ssize_t n;
	int fd;

	/* Opening a named pipe would make its writer take this for the reader. */
	if (!standin_is(path) && (stat(path, &st) || !S_ISREG(st.st_mode)))
		return NULL;
	fd = standin_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	n = fd_read_some_at(fd, first, sizeof(first), 0);
	if (n > 0)
		found = importer_of(first, (size_t)n);
	close(fd);
	return found;
}

/* ---- reading ---- */

/* Reads until there are n bytes, or the file ends. */
static int read_up_to(struct import *in, int fd, u64 n, struct err *err)
{
	enum { STEP = 1 << 18 };
	u64 limit;

	while (in->bytes.n < n) {
		const size_t step = MIN(n - in->bytes.n, (u64)STEP);
		ssize_t got;

		str_reserve(&in->bytes, step);
		got = fd_read(fd, in->bytes.at + in->bytes.n, step);
		if (got < 0)
			return err_sys(err, errno, "reading '%s'", in->path);
		if (!got)
			break;
		in->bytes.n += (size_t)got;
		limit = allowance_bytes(&in->allowance, in->bytes.n);
		if (in->bytes.n > limit)
			return allowance_exceeded(&in->allowance, limit, in->bytes.n, "its bytes",
				err);
	}
	in->n_stored = in->bytes.n;
	return 0;
}

static int unpack_all(struct import *in, enum unpack_form form, struct err *err)
{
	const u64 limit = allowance_bytes(&in->allowance, in->n_stored);
	struct str plain = {0};
	int result = unpack(form, import_bytes(in), limit, &plain, err);

	str_fini(&in->bytes);
	in->bytes = plain;
	in->is_packed = true;
	if (result == ERR_LIMIT)
		return allowance_exceeded(&in->allowance, limit, in->n_stored, "unpacked bytes",
			err);
	return result ? err_prefix(err, "'%s'", in->path) : 0;
}

int import_open(struct import *in, int fd, const char *path, const void *first, size_t n,
	struct err *err)
{
	enum unpack_form form;

	*in = (struct import){.path = path};
	if (allowance_init(&in->allowance, path, err))
		return err->code;
	str_addn(&in->bytes, first, n);
	/* Do not read on if no importer knows the format: the input may never end. */
	if (read_up_to(in, fd, IMPORT_PEEK, err))
		return err->code;
	in->importer = importer_of(str_text(&in->bytes), in->bytes.n);
	if (!in->importer)
		return 0;
	if (read_up_to(in, fd, UINT64_MAX, err))
		return err->code;
	form = unpack_form_of(import_bytes(in));
	return form != UNPACK_NONE ? unpack_all(in, form, err) : 0;
}

void import_close(struct import *in)
{
	str_fini(&in->bytes);
	*in = (struct import){0};
}

int import_check_label(const struct import *in, enum profile_label label, struct err *err)
{
	if (in->importer->labels & LABEL_BIT(label))
		return 0;
	return err_set(err, ERR_INVAL,
		"'%s' is %s and does not tell that: a recording of 'pace record' may", in->path,
		in->importer->what);
}

int import_charge(const struct import *in, const struct profile *p, u64 held, u64 offset,
	struct err *err)
{
	const u64 limit = allowance_bytes(&in->allowance, in->n_stored);
	const u64 n = in->bytes.cap + p->strings.arena.total + profile_bytes(p) + held +
		p->dsos.n * sizeof(*p->dsos.at);

	return n <= limit
		? 0
		: allowance_exceeded(&in->allowance, limit, offset, "stacks and names", err);
}

static void sum_up(struct profile *p)
{
	vec_each(row, &p->rows) {
		p->events.at[row->event].n_samples += row->n_samples;
		p->events.at[row->event].period += row->period;
	}
}

int import_read(const struct import *in, const struct import_options *o, struct profile *p,
	struct err *err)
{
	for (unsigned i = 0; i < p->n_labels; i++)
		if (import_check_label(in, (enum profile_label)p->label_at[i], err))
			return err->code;
	if (in->importer->read(in, o, p, err))
		return err->code;
	sum_up(p);
	return 0;
}
