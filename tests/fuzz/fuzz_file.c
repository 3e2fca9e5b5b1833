/* Whole recordings of any dialect, in a file. */
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	const char *path = fuzz_file(data, n);

	fuzz_read_recording(path);
	fuzz_stream_recording(path);
	return 0;
}
