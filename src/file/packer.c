#include "file/packer.h"

#include <zstd.h>

#include "event/abi.h"
#include "record/record.h"

/* The room for a packed chunk, with the size before it and padding. Even an incompressible chunk fits. */
enum { PACKED_MAX = (UINT16_MAX & ~7) - RECORD_HEADER_SIZE - sizeof(u64) };

int packer_init(struct packer *p, int level, struct err *err)
{
	size_t status;

	memset(p, 0, sizeof(*p));
	p->stream = ZSTD_createCStream();
	if (!p->stream)
		return err_set(err, ERR_LIMIT, "no memory for compression");
	status = ZSTD_CCtx_setParameter(p->stream, ZSTD_c_compressionLevel, level);
	return ZSTD_isError(status) ? err_set(err, ERR_INVAL, "compression level %d: %s", level,
					      ZSTD_getErrorName(status))
				    : 0;
}

void packer_fini(struct packer *p)
{
	ZSTD_freeCStream(p->stream);
	str_fini(&p->out);
	memset(p, 0, sizeof(*p));
}

static int add_chunk(struct packer *p, const void *at, size_t n, struct err *err)
{
	struct record_header header = {
		.type = p->is_padded ? PERF_RECORD_COMPRESSED2 : PERF_RECORD_COMPRESSED};
	size_t start = p->out.n, status;
	u64 size = 0;
	ZSTD_inBuffer in = {at, n, 0};
	ZSTD_outBuffer out;

	str_addn(&p->out, &header, sizeof(header));
	if (p->is_padded)
		str_addn(&p->out, &size, sizeof(size));
	str_reserve(&p->out, PACKED_MAX);
	out = (ZSTD_outBuffer){p->out.at + p->out.n, PACKED_MAX, 0};
	do {
		status = ZSTD_compressStream2(p->stream, &out, &in, ZSTD_e_flush);
	} while (!ZSTD_isError(status) && status && out.pos < out.size);
	if (ZSTD_isError(status) || status)
		return err_set(err, ERR_FORMAT, "compressing: %s",
			ZSTD_isError(status) ? ZSTD_getErrorName(status)
					     : "a record would be too large");
	p->out.n += out.pos;
	if (p->is_padded) {
		size = out.pos;
		memcpy(p->out.at + start + sizeof(header), &size, sizeof(size));
		str_fill(&p->out, 0, -(p->out.n - start) & 7);
	}
	header.size = (u16)(p->out.n - start);
	memcpy(p->out.at + start, &header, sizeof(header));
	p->n_in += n;
	p->n_out += header.size;
	return 0;
}

int packer_add(struct packer *p, const struct iovec *runs, int n, struct err *err)
{
	str_clear(&p->out);
	for (int i = 0; i < n; i++)
		for (size_t at = 0; at < runs[i].iov_len; at += PACKER_CHUNK)
			if (add_chunk(p, (const u8 *)runs[i].iov_base + at,
				    MIN((size_t)PACKER_CHUNK, runs[i].iov_len - at), err))
				return err->code;
	return 0;
}
