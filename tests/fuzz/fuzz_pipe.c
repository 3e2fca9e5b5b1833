/* The records of a recording in pipe mode: in a file, then in a pipe. */
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	static const u8 header[16] = "PERFILE2\20";
	u8 *whole = malloc(sizeof(header) + n);
	const char *path;

	FUZZ_CHECK(whole);
	memcpy(whole, header, sizeof(header));
	if (n)
		memcpy(whole + sizeof(header), data, n);
	path = fuzz_file(whole, sizeof(header) + n);
	fuzz_read_recording(path);
	fuzz_stream_recording(path);
	if (fuzz_stdin(whole, sizeof(header) + n))
		fuzz_stream_recording("-");
	if (fuzz_stdin(whole, sizeof(header) + n))
		fuzz_read_recording("-");
	free(whole);
	return 0;
}
