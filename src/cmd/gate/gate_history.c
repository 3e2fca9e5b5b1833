#include "cmd/gate/gate_history.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/hash.h"
#include "base/str.h"

enum { FIELDS = 7 };

static const char head[] =
	"# pace gate 1: time, host, commands, rounds, noise, least q of equal runs, verdict\n";

/* A number from 0 on; NAN: it is none. */
static double number_of(const char *text)
{
	char *end;
	const double v = strtod(text, &end);

	return *text && !*end && v >= 0 && isfinite(v) ? v : NAN;
}

static int take_line(struct gate_past *p, char *line, const char *host, double wanted)
{
	char *fields[FIELDS], *at = line;
	double noise, null_q;
	size_t n = 0;

	while (n < FIELDS && at) {
		fields[n++] = at;
		at = strchr(at, '\t');
		if (at)
			*at++ = '\0';
	}
	if (n < FIELDS)
		return ERR_FORMAT;
	noise = number_of(fields[4]);
	null_q = number_of(fields[5]);
	if (isnan(noise) || isnan(null_q) || null_q > 1)
		return ERR_FORMAT;
	if (strcmp(fields[1], host) != 0)
		return 0;
	vec_add(&p->nulls, null_q);
	vec_add(&p->noises, noise);
	p->n_alarms += null_q <= wanted;
	return 0;
}

int gate_past_read(struct gate_past *p, const char *path, const char *host, double wanted,
	struct err *err)
{
	FILE *f = path ? fopen(path, "re") : NULL;
	char *line = NULL;
	size_t room = 0;
	u64 number = 0;
	int result = 0;

	*p = (struct gate_past){0};
	if (!f)
		return !path || errno == ENOENT ? 0 : err_sys(err, errno, "opening '%s'", path);
	while (!result && getline(&line, &room, f) > 0) {
		number++;
		line[strcspn(line, "\n")] = '\0';
		if (*line && *line != '#' && take_line(p, line, host, wanted))
			result = err_set(err, ERR_FORMAT,
				"'%s': line %llu is not one of 'pace gate': %d fields separated by tabs are expected",
				path, (unsigned long long)number, FIELDS);
	}
	free(line);
	fclose(f);
	return result;
}

void gate_past_fini(struct gate_past *p)
{
	vec_fini(&p->nulls);
	vec_fini(&p->noises);
}

static u64 hash_of(const char *text)
{
	u64 hash = strlen(text);

	for (; *text; text++)
		hash = hash_lasting(hash, (u8)*text);
	return hash;
}

int gate_past_add(const char *path, const struct gate_line *line, struct err *err)
{
	const int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	const time_t now = time(NULL);
	struct str text = {0};
	char when[32] = "";
	struct tm utc;
	int result = 0, sys;

	if (fd < 0)
		return err_sys(err, errno, "opening '%s'", path);
	if (gmtime_r(&now, &utc))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &utc);
	if (!lseek(fd, 0, SEEK_END))
		str_add(&text, head);
	str_addf(&text, "%s\t%s\t%016llx\t%llu\t%.5f\t%.6f\t%s\n", when, line->host,
		(unsigned long long)hash_of(line->command), (unsigned long long)line->n_rounds,
		line->noise, line->null_q, line->verdict);
	/* One write: gates that end at the same time do not mix their lines. */
	if ((sys = fd_write(fd, text.at, text.n)) != 0)
		result = err_sys(err, sys, "writing '%s'", path);
	close(fd);
	str_fini(&text);
	return result;
}
