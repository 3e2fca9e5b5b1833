/*
 * feature.h - the sections behind the data: who recorded, on what machine, which files were in use.
 *
 * In       struct file_info to write; a section's bytes to read
 * Out      a section's bytes; struct file_info; lines for --header
 * Owns     struct file_info owns its strings and arrays (its host's arena)
 * Errors   ERR_FORMAT with name and offset for a damaged section; the other sections are read all the
 *          same
 * Source   perf.data-file-format.txt, HEADER_*
 */
#ifndef PACE_FILE_FEATURE_H
#define PACE_FILE_FEATURE_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/str.h"
#include "collect/around/host.h"
#include "event/event.h"
#include "record/record.h"

struct file_build_id {
	u16 misc; /* CPU mode of the maps it belongs to */
	s32 pid;  /* -1: the host; else a guest */
	u8 id[BUILD_ID_MAX];
	u8 id_size;
	const char *path;
};

#define FILE_GROUP_UNNAMED "{anon_group}"

struct file_group {
	const char *name; /* or FILE_GROUP_UNNAMED */
	u32 leader, n_members;
};

struct file_compression {
	u32 type, level;
	u32 ratio; /* unpacked size / size in the file */
	u32 chunk; /* bytes that a compressed record may unpack to */
};

struct file_info {
	struct host host;
	const char *version; /* of the program that recorded */
	host_names cmdline;
	struct event_list events; /* EVENT_DESC: attrs, names, ids */
	VEC(struct file_build_id) build_ids;
	VEC(struct file_group) groups;
	struct str cpu_caps;                /* what the CPU's PMU can do, as a line of text */
	struct str pmu_caps;                /* the same for other PMUs, a line each */
	struct str cpu_kinds;               /* which CPUs are of which kind, a line each */
	struct str bpf_programs, bpf_types; /* their ids, a line each */
	u64 directory_version;
	struct str meta;         /* simpleperf's META_INFO: key, NUL, value, NUL, ... */
	struct str files[2];     /* simpleperf's sections FILE and FILE2: files and their symbols */
	struct str tracing_data; /* the whole section, as tracing_write() makes it */
	struct str notes;        /* the recorder's remarks on this recording, lines of text */
	bool has_times;
	u64 first_time, last_time; /* ns, of samples */
	bool has_counts; /* those of `stat record`, in place of samples; for writing only */
	bool has_compression;
	struct file_compression compression;
	bool has_clockid;
	u64 clock_resolution_ns;
	bool has_clock_data;
	u32 clockid;
	u64 wall_ns, clock_ns; /* the same moment on two clocks */
	struct str
		embedded; /* for writing only; symbol/embed/embedded.h reads the section itself */
};

void file_info_init(struct file_info *info);
void file_info_fini(struct file_info *info);

/* The value of a key in META_INFO, or NULL. */
const char *file_info_meta(const struct file_info *info, const char *key);

/* "HOSTNAME" ... or NULL. */
const char *feature_name(unsigned id);

/* Whether feature_read() parses the section. */
bool feature_is_read(unsigned id);

/* Reads section `id` into `info`. 1: done; 0: pace does not parse this section. */
int feature_read(unsigned id, struct bytes *b, struct file_info *info, struct err *err);

/* Appends section `id`; false if there is nothing to write. */
bool feature_write(unsigned id, const struct file_info *info, struct str *out);

/* Adds the "# key : value" lines of a section; with `details` the long ones too. */
void feature_add_text(unsigned id, const struct file_info *info, bool details, struct str *text);

#endif
