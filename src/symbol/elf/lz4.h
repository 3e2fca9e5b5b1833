/*
 * lz4.h - unpacks LZ4 frames, the format of apt's lists.
 *
 * In       one or more frames
 * Out      the unpacked bytes, appended
 * Errors   ERR_FORMAT: a frame is damaged; ERR_LIMIT: the result is too large. Checksums are not compared
 * Source   doc/lz4_Frame_format.md and doc/lz4_Block_format.md of the lz4 project
 */
#ifndef PACE_SYMBOL_LZ4_H
#define PACE_SYMBOL_LZ4_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/str.h"

int lz4_unpack(struct bytes packed, u64 limit, struct str *out, struct err *err);

#endif
