/* Runs a program whose file is in no folder: argv[1] "memfd" or "deleted", argv[2] and on the program. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
	int from = argc > 2 ? open(argv[2], O_RDONLY) : -1, to;
	struct stat st;

	if (from < 0 || fstat(from, &st))
		return 1;
	to = !strcmp(argv[1], "memfd") ? memfd_create("hidden", 0)
				       : open("gone", O_WRONLY | O_CREAT, 0700);
	if (to < 0 || sendfile(to, from, NULL, st.st_size) != st.st_size)
		return 1;
	if (strcmp(argv[1], "memfd")) {
		/* what is open for writing cannot be run */
		close(to);
		to = open("gone", O_RDONLY);
		unlink("gone");
	}
	fexecve(to, argv + 2, environ);
	return 1;
}
