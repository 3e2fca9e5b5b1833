/*
 * hardware.h - the sections about the recorded machine: its CPUs, caches, memory and PMUs.
 *
 * In       the bytes of a section
 * Out      members of struct file_info; a section's bytes; a section's lines for --header
 * Errors   readers: false if the section ends too soon; writers: false if there is nothing to write
 * Source   perf.data-file-format.txt
 */
#ifndef PACE_FILE_HARDWARE_H
#define PACE_FILE_HARDWARE_H

#include "base/bytes.h"
#include "file/feature.h"

bool hardware_read_cpus(struct bytes *b, struct file_info *info);
bool hardware_write_cpus(const struct file_info *info, struct str *out);
void hardware_print_cpus(const struct file_info *info, struct str *text);
bool hardware_read_numa(struct bytes *b, struct file_info *info);
bool hardware_write_numa(const struct file_info *info, struct str *out);
void hardware_print_numa(const struct file_info *info, struct str *text);
bool hardware_read_pmus(struct bytes *b, struct file_info *info);
bool hardware_write_pmus(const struct file_info *info, struct str *out);
void hardware_print_pmus(const struct file_info *info, struct str *text);
bool hardware_read_caches(struct bytes *b, struct file_info *info);
bool hardware_write_caches(const struct file_info *info, struct str *out);
void hardware_print_caches(const struct file_info *info, struct str *text);
bool hardware_read_memory(struct bytes *b, struct file_info *info);
bool hardware_write_memory(const struct file_info *info, struct str *out);
void hardware_print_memory(const struct file_info *info, struct str *text);
bool hardware_read_cpu_caps(struct bytes *b, struct file_info *info);
void hardware_print_cpu_caps(const struct file_info *info, struct str *text);
/* How many branch records the recorded CPU keeps; 0: the recording does not say. */
u32 hardware_branches(const struct file_info *info);
bool hardware_read_pmu_caps(struct bytes *b, struct file_info *info);
void hardware_print_pmu_caps(const struct file_info *info, struct str *text);
bool hardware_read_cpu_kinds(struct bytes *b, struct file_info *info);
void hardware_print_cpu_kinds(const struct file_info *info, struct str *text);

#endif
