#include "cmd/report/report_about.h"

#include <string.h>
#include <time.h>

#include "base/num.h"

static void add_command(const struct file_info *info, struct page_about *ret)
{
	struct str line = {0};

	vec_each(word, &info->cmdline)
		str_addf(&line, "%s%s", line.n ? " " : "", *word);
	page_about_add(ret, "Command", str_text(&line));
	str_addn(&ret->title, str_text(&line), line.n);
	str_fini(&line);
}

static void add_host(const struct host *h, struct page_about *ret)
{
	struct str line = {0};

	page_about_add(ret, "Host", h->hostname);
	page_about_add(ret, "Kernel", h->release);
	page_about_add(ret, "Processor", h->cpu_description);
	if (h->cpus_online)
		str_addf(&line, "%u of %u", h->cpus_online, h->cpus_available);
	page_about_add(ret, "CPUs", str_text(&line));
	str_clear(&line);
	if (h->memory_kb)
		str_addf(&line, "%.1f GiB", (double)h->memory_kb / (1 << 20));
	page_about_add(ret, "Memory", str_text(&line));
	str_fini(&line);
}

static void add_times(const struct file_info *info, struct page_about *ret)
{
	const time_t began = (time_t)(info->wall_ns / 1000000000);
	struct str line = {0};
	char when[64];
	struct tm tm;

	if (info->has_clock_data && gmtime_r(&began, &tm) &&
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm))
		page_about_add(ret, "Recorded", when);
	if (info->has_times && info->last_time > info->first_time)
		str_addf(&line, "%.3f s", (double)(info->last_time - info->first_time) / 1e9);
	page_about_add(ret, "Sampled for", str_text(&line));
	str_fini(&line);
}

void report_about(const struct recorded *r, const char *path, struct page_about *ret)
{
	*ret = (struct page_about){0};
	if (recorded_has_trace(r)) {
		const struct file_info *info = &r->trace.session.reader.info;

		ret->n_samples = r->trace.session.tally.n_samples;
		ret->n_lost_samples = r->trace.session.tally.n_lost_samples;
		ret->n_lost_records = r->trace.session.tally.n_lost_records;
		add_command(info, ret);
		add_host(&info->host, ret);
		add_times(info, ret);
		if (info->has_clock_data)
			ret->wall_offset_ns = info->wall_ns - info->clock_ns;
	} else {
		page_about_add(ret, "Format", r->import.importer->what);
	}
	page_about_add(ret, "File", path);
	if (!ret->title.n)
		str_add(&ret->title, strcmp(path, "-") ? path : "standard input");
	ledger_add_text(&r->ledger, true, &ret->ledger);
}
