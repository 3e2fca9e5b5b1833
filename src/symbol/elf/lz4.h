/*
 * lz4.h - LZ4 frames unpacked: apt keeps its lists so.
 *
 * In       a frame, or several
 * Out      what it was before, appended
 * Errors   ERR_FORMAT for damaged ones, ERR_LIMIT for what becomes too large. Checksums are not compared
 * Source   doc/lz4_Frame_format.md and doc/lz4_Block_format.md of the lz4 project
 */
#ifndef PACE_SYMBOL_LZ4_H
#define PACE_SYMBOL_LZ4_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/str.h"

int lz4_unpack(struct bytes packed, u64 limit, struct str *out, struct err *err);

#endif
