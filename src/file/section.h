/*
 * section.h - the building blocks of feature sections.
 *
 * In       the bytes of a section; numbers and strings to write
 * Owns     nothing: strings that are read are copied into the arena of info->host
 * Errors   readers: false if the section ends too soon
 * Source   perf.data-file-format.txt: struct perf_header_string, perf_header_string_list
 */
#ifndef PACE_FILE_SECTION_H
#define PACE_FILE_SECTION_H

#include "base/bytes.h"
#include "file/feature.h"

enum { SECTION_NAME_ALIGN = 64 }; /* what names are padded to */

bool section_get_string(struct bytes *b, struct file_info *info, const char **ret_s);

/*
 * Reads a count. False if so many entries, of `each` bytes at least, cannot fit into the rest of
 * the section.
 */
bool section_get_count(struct bytes *b, size_t each, u32 *ret_n);
bool section_get_names(struct bytes *b, struct file_info *info, host_names *names);

void section_put_u32(struct str *out, u32 v);
void section_put_u64(struct str *out, u64 v);
void section_put_string(struct str *out, const char *s);
void section_put_names(struct str *out, const host_names *names);

#endif
