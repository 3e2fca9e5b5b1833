#include "symbol/resolve/dsofiles.h"

#include <elf.h>

#include "arch/arch.h"
#include "symbol/elf/elfcfi.h"
#include "symbol/go/gocfi.h"
#include "symbol/go/gotab.h"
#include "symbol/elf/vdso.h"

enum tried { NOT_TRIED, TRIED_HERE, TRIED_SERVERS };

void dso_files_init(struct dso_files *f, const struct machine *machine,
	const struct find_places *places)
{
	memset(f, 0, sizeof(*f));
	f->machine = machine;
	f->places = *places;
	liveproc_init(&f->liveproc, machine, "/proc");
	debuginfod_init(&f->debuginfod, 0, places->log);
	if (!places->liveproc)
		f->places.liveproc = &f->liveproc;
	if (!places->debuginfod)
		f->places.debuginfod = &f->debuginfod;
	pthread_mutex_init(&f->lock, NULL);
	dso_files_settle(f);
}

static void close_file(struct dso_file *file)
{
	if (!file)
		return;
	cfi_fini(&file->cfi);
	symtab_fini(&file->symtab);
	elfstarts_fini(&file->starts);
	str_fini(&file->made_frames);
	elf_close(&file->packed);
	elf_close(&file->debug);
	elf_close(&file->image);
	pthread_mutex_destroy(&file->lock);
	mem_free(file);
}

void dso_files_close(struct dso_files *f, u32 id)
{
	if (--f->at[id]->n_users)
		return;
	close_file(f->at[id]);
	f->at[id] = NULL;
}

void dso_files_rest(const struct dso_files *f)
{
	for (size_t i = 0; i < f->n; i++) {
		if (!f->at[i])
			continue;
		elf_rest(&f->at[i]->image);
		elf_rest(&f->at[i]->debug);
	}
}

void dso_files_fini(struct dso_files *f)
{
	for (size_t i = 0; i < f->n; i++)
		close_file(f->at[i]);
	mem_free(f->at);
	liveproc_fini(&f->liveproc);
	debuginfod_fini(&f->debuginfod);
	pthread_mutex_destroy(&f->lock);
	memset(f, 0, sizeof(*f));
}

void *dso_files_room(void *at, size_t *n, u32 id, size_t each)
{
	size_t more = MAX((size_t)id + 1, 2 * *n);

	if (id < *n)
		return at;
	at = mem_realloc(at, more * each);
	memset((u8 *)at + *n * each, 0, (more - *n) * each);
	*n = more;
	return at;
}

void dso_files_settle(struct dso_files *f)
{
	if (f->machine->dsos.at.n)
		f->at = dso_files_room(f->at, &f->n, (u32)f->machine->dsos.at.n - 1,
			sizeof(struct dso_file *));
}

/* ---- opening, with the file's lock held ---- */

static void open_image(struct dso_files *f, struct dso_file *file)
{
	const struct dso *dso = file->dso;

	if (file->image_tried)
		return;
	file->image_tried = TRIED_HERE;
	if (dso->kind == DSO_FILE)
		find_image(&f->places, dso, &file->image, &file->image_err);
	else if (find_is_own_vdso(&f->places, dso))
		vdso_open(&file->image, &file->image_err);
	else
		err_set(&file->image_err, ERR_NOENT,
			"the vdso of the recording is not this kernel's");
	if (file->image.data)
		file->crt = crt_of(&file->image);
}

static void open_debug(struct dso_files *f, struct dso_file *file)
{
	if (file->debug_tried)
		return;
	file->debug_tried = TRIED_HERE;
	if (file->dso->kind == DSO_FILE)
		find_debug(&f->places, file->dso, file->image.data ? &file->image : NULL,
			&file->debug, &file->debug_err);
	else
		err_set(&file->debug_err, ERR_NOENT, "'%s' is not a file", file->dso->path);
}

/* Asks servers for the image. An error of the file with the recorded name explains more than theirs. */
static void fetch_image(struct dso_files *f, struct dso_file *file)
{
	struct err ignored;

	open_image(f, file);
	if (file->image.data || file->image_tried == TRIED_SERVERS ||
		!find_may_fetch(&f->places, file->dso, NULL))
		return;
	file->image_tried = TRIED_SERVERS;
	if (!find_fetch(&f->places, file->dso, NULL, DEBUGINFOD_EXECUTABLE, &file->image, &ignored))
		file->crt = crt_of(&file->image);
}

static void fetch_debug(struct dso_files *f, struct dso_file *file)
{
	const struct elf *image = file->image.data ? &file->image : NULL;

	open_debug(f, file);
	if (file->debug.data || file->debug_tried == TRIED_SERVERS ||
		!find_may_fetch(&f->places, file->dso, image))
		return;
	file->debug_tried = TRIED_SERVERS;
	find_fetch(&f->places, file->dso, image, DEBUGINFOD_DEBUG, &file->debug, &file->debug_err);
}

/* Returns the entry of a DSO without opening its image. */
static struct dso_file *file_of(struct dso_files *f, const struct dso *dso)
{
	struct dso_file *file;

	/* The array grows only if the machine still follows a stream; then there is one thread. */
	if (dso->id >= f->n)
		f->at = dso_files_room(f->at, &f->n, dso->id, sizeof(struct dso_file *));
	file = __atomic_load_n(&f->at[dso->id], __ATOMIC_ACQUIRE);
	if (file)
		return file;
	pthread_mutex_lock(&f->lock);
	file = f->at[dso->id];
	if (!file) {
		file = mem_zalloc(sizeof(*file));
		file->dso = dso;
		pthread_mutex_init(&file->lock, NULL);
		__atomic_store_n(&f->at[dso->id], file, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&f->lock);
	return file;
}

struct dso_file *dso_files_get(struct dso_files *f, const struct dso *dso)
{
	struct dso_file *file = file_of(f, dso);

	pthread_mutex_lock(&file->lock);
	file->n_users++;
	fetch_image(f, file);
	pthread_mutex_unlock(&file->lock);
	return file;
}

bool dso_files_debug(struct dso_files *f, struct dso_file *file)
{
	pthread_mutex_lock(&file->lock);
	fetch_debug(f, file);
	pthread_mutex_unlock(&file->lock);
	return file->debug.data;
}

void dso_files_ask(struct dso_files *f, const struct dso *dso)
{
	struct dso_file *file;

	if (dso->kind != DSO_FILE || !find_may_fetch(&f->places, dso, NULL))
		return;
	file = file_of(f, dso);
	pthread_mutex_lock(&file->lock);
	open_image(f, file);
	if (!file->image.data)
		find_ask(&f->places, dso, DEBUGINFOD_EXECUTABLE);
	if (!file->image.data || !elf_section(&file->image, ".symtab")) {
		open_debug(f, file);
		if (!file->debug.data)
			find_ask(&f->places, dso, DEBUGINFOD_DEBUG);
	}
	pthread_mutex_unlock(&file->lock);
}

/* ---- reading ---- */

/* Adds what a stripped file still has: the exported symbols, and maybe a few more in .gnu_debugdata. */
static void add_stripped(struct dso_file *file)
{
	symtab_add_elf(&file->symtab, &file->image, SHT_DYNSYM);
	if (file->packed.data ||
		!elf_open_debugdata(&file->packed, &file->image, &file->packed_err))
		symtab_add_elf(&file->symtab, &file->packed, SHT_SYMTAB);
}

static enum dso_table add_table(struct dso_files *f, struct dso_file *file)
{
	if (symtab_add_elf(&file->symtab, &file->image, SHT_SYMTAB))
		return DSO_TABLE_IMAGE;
	fetch_debug(f, file);
	if (file->debug.data && symtab_add_elf(&file->symtab, &file->debug, SHT_SYMTAB))
		return DSO_TABLE_DEBUG;
	return gotab_add(&file->symtab, &file->image) ? DSO_TABLE_GO : DSO_TABLE_STRIPPED;
}

static enum dso_table read_table(struct dso_files *f, struct dso_file *file)
{
	enum dso_table table;

	symtab_fini(&file->symtab);
	table = add_table(f, file);
	if (table == DSO_TABLE_STRIPPED)
		add_stripped(file);
	symtab_finish(&file->symtab);
	if (table != DSO_TABLE_STRIPPED)
		symtab_merge_elf(&file->symtab, &file->image, SHT_DYNSYM);
	symtab_add_plt(&file->symtab, &file->image);
	return table;
}

enum dso_table dso_files_symtab(struct dso_files *f, struct dso_file *file)
{
	enum dso_table table = __atomic_load_n(&file->table, __ATOMIC_ACQUIRE);
	bool had_debug;

	if (table && table != DSO_TABLE_STRIPPED)
		return table;
	pthread_mutex_lock(&file->lock);
	had_debug = file->debug.data;
	if (file->table)
		fetch_debug(f, file);
	if (!file->table || (file->table == DSO_TABLE_STRIPPED && !had_debug && file->debug.data)) {
		table = read_table(f, file);
		__atomic_store_n(&file->table, table, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&file->lock);
	return file->table;
}

static void read_cfi(struct dso_files *f, struct dso_file *file)
{
	const struct arch *arch = arch_of_machine(file->image.machine);
	struct cfi_input in;
	bool is_go;

	elfcfi_find(&file->image, &in);
	/* It has more than the .debug_frame of Go's linker. */
	is_go = gocfi_make(&file->image, &file->made_frames);
	if (is_go)
		in.debug_frame = bytes_of(file->made_frames.at, file->made_frames.n);
	if (!bytes_left(&in.eh_frame) && !bytes_left(&in.debug_frame)) {
		open_debug(f, file);
		if (file->debug.data)
			in.debug_frame = elfcfi_section(&file->debug, ".debug_frame");
	}
	cfi_init(&file->cfi, &in);
	file->cfi.keeps_pointers = is_go && arch->go == ARCH_GO_FRAME_POINTERS;
}

const struct cfi *dso_files_cfi(struct dso_files *f, struct dso_file *file)
{
	if (__atomic_load_n(&file->has_cfi, __ATOMIC_ACQUIRE))
		return &file->cfi;
	pthread_mutex_lock(&file->lock);
	if (!file->has_cfi) {
		read_cfi(f, file);
		__atomic_store_n(&file->has_cfi, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&file->lock);
	return &file->cfi;
}

bool dso_file_around(struct dso_file *file, u64 rva, u64 *ret_start, u64 *ret_end)
{
	bool ret;

	pthread_mutex_lock(&file->lock);
	ret = elfstarts_around(&file->starts, &file->image, rva, ret_start, ret_end);
	pthread_mutex_unlock(&file->lock);
	return ret;
}

bool dso_file_is_beyond(struct dso_file *file, u64 start, u64 rva)
{
	bool ret;

	pthread_mutex_lock(&file->lock);
	ret = elfstarts_is_beyond(&file->starts, &file->image, start, rva);
	pthread_mutex_unlock(&file->lock);
	return ret;
}
