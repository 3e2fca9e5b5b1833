#include "cmd/watch/watch_odd.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/version.h"
#include "file/identity.h"
#include "file/writer.h"
#include "fleet/timerange.h"

/* A few may follow each other; then one in so many minutes. */
enum { AT_ONCE = 3, MINUTES_EACH = 10 };

/* Records of a minute lie in rings for a while after its end. */
enum { SLACK_NS = 2000000000, ADVANCE_NS = 1000000000 };

extern char **environ;

/* ---- the last minute ---- */

static int keep(void *ctx, const struct iovec *runs, int n, struct err *err)
{
	struct watch_odd *w = ctx;
	const u64 now = clock_now_ns();

	if (!w->has_window)
		window_init(&w->window, w->options->every_ns + SLACK_NS, WATCH_ODD_WINDOW,
			window_time_place(&w->feed->events));
	w->has_window = true;
	if (w->keeping.append(w->keeping.ctx, runs, n, err))
		return err->code;
	if (now >= w->advanced_ns + ADVANCE_NS) {
		window_advance(&w->window, now);
		w->advanced_ns = now;
	}
	return 0;
}

int watch_odd_open(struct watch_odd *w, const struct watch_options *o, const char *store,
	struct feed *feed, struct log *log, struct err *err)
{
	*w = (struct watch_odd){.options = o,
		.feed = feed,
		.log = log,
		.folder.fd = -1,
		.allowed = AT_ONCE};
	if (!o->odd_bytes)
		return 0;
	w->keeping = window_sink(&w->window);
	w->sink = (struct sink){.ctx = w, .append = keep};
	return oddfolder_open(&w->folder, store, true, err);
}

void watch_odd_close(struct watch_odd *w)
{
	if (w->packing)
		waitpid(w->packing, NULL, 0);
	if (w->has_window)
		window_fini(&w->window);
	usual_fini(&w->usual);
	if (w->folder.fd >= 0)
		oddfolder_close(&w->folder);
}

u64 watch_odd_bytes(void *ctx)
{
	struct watch_odd *w = ctx;
	struct err ignored;

	if (w->folder.fd < 0 || oddfolder_refresh(&w->folder, &ignored))
		return 0;
	return w->folder.n_bytes;
}

/* ---- a recording ---- */

static void make_room(struct watch_odd *w)
{
	const u64 more = w->window.bytes + w->window.state.n;

	while (watch_odd_bytes(w) + more > w->options->odd_bytes && oddfolder_drop(&w->folder))
		;
}

static void describe(const struct watch_odd *w, const char *why, struct file_info *info)
{
	static char word[] = "watch";
	char *words[] = {word};

	identity_fill(info, &w->feed->events, version_text(), ARRAY_SIZE(words), words);
	info->has_compression = true;
	str_addf(&info->notes, "watch: an odd minute: %s\n", why);
	if (w->window.was_full)
		str_addf(&info->notes, "watch: only the last %d MiB of records were kept\n",
			WATCH_ODD_WINDOW >> 20);
}

static int write_packed(struct watch_odd *w, struct writer *writer, struct packer *packer,
	const char *why, struct err *err)
{
	struct file_info info;
	int r;

	describe(w, why, &info);
	info.compression = writer_compression(packer, PACKER_LEVEL);
	r = writer_pack(writer, packer, &info, err);
	if (!r)
		r = window_write(&w->window, writer, err);
	/* Now the ratio is known. */
	info.compression = writer_compression(packer, PACKER_LEVEL);
	if (!r)
		r = writer_finish(writer, &info, err);
	file_info_fini(&info);
	return r;
}

static int write_recording(struct watch_odd *w, const char *path, const char *why, struct err *err)
{
	struct packer packer;
	struct writer writer;
	int r;

	if (writer_open(&writer, path, &w->feed->events, err))
		return err->code;
	r = packer_init(&packer, PACKER_LEVEL, err);
	if (!r)
		r = write_packed(w, &writer, &packer, why, err);
	packer_fini(&packer);
	writer_close(&writer, !r);
	return r;
}

/* Names and code are looked up by a process of its own, when nobody else wants the CPU. */
static void pack(struct watch_odd *w, const char *path)
{
	const char *const argv[] = {"pace", "data", "pack", "--in-place", "-j", "1", path, NULL};
	posix_spawn_file_actions_t files;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&w->packing, "/proc/self/exe", &files, NULL, (char *const *)argv, environ))
		w->packing = 0;
	else
		(void)setpriority(PRIO_PROCESS, (id_t)w->packing, 19);
	posix_spawn_file_actions_destroy(&files);
}

/* The process before: two at a time would take too much. */
static bool is_packing(struct watch_odd *w)
{
	if (w->packing && !waitpid(w->packing, NULL, WNOHANG))
		return true;
	w->packing = 0;
	return false;
}

static void say_failure(struct watch_odd *w, const struct err *err)
{
	if (!w->is_failure_said)
		log_warn(w->log, "the samples of an odd minute could not be kept: %s", err->msg);
	w->is_failure_said = true;
}

static bool record(struct watch_odd *w, const char *path, const char *why)
{
	struct err err;

	make_room(w);
	window_advance(&w->window, clock_now_ns());
	if (write_recording(w, path, why, &err)) {
		say_failure(w, &err);
		return false;
	}
	w->is_failure_said = false;
	pack(w, path);
	return true;
}

void watch_odd_look(struct watch_odd *w, struct batch *b)
{
	char path[STORE_PATH + 2 * STORE_NAME];
	struct str why = {0}, when = {0};

	w->allowed += 1. / MINUTES_EACH;
	if (w->allowed > AT_ONCE)
		w->allowed = AT_ONCE;
	if (w->has_window && usual_look(&w->usual, b, &why)) {
		batch_say(b, "odd", str_text(&why));
		oddfolder_path(&w->folder, b->start_ns, path);
		if (w->allowed >= 1 && !is_packing(w) && record(w, path, str_text(&why))) {
			w->allowed--;
			batch_say(b, "odd_recording", strrchr(path, '/') + 1);
			timerange_add_time(b->start_ns, &when);
			log_debug(w->log, "%s was odd: %s; its samples are in '%s'",
				str_text(&when), str_text(&why), path);
		}
	}
	str_fini(&why);
	str_fini(&when);
}
