"""Builds the fuzz targets, if clang is here, and runs each for a few seconds. PACE_FUZZ_SECONDS=600 is for longer."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
from harness import TOP, main, needs, skip, test  # noqa: E402

SECONDS = os.environ.get('PACE_FUZZ_SECONDS', '2')
FUZZ = os.path.join(TOP, 'dev/fuzz')


def has_libfuzzer():
    """Some distributions have clang without its libraries."""
    program = 'int LLVMFuzzerTestOneInput(const char *p, unsigned long n) { return !p && n; }'
    return not subprocess.run(['clang', '-fsanitize=fuzzer', '-x', 'c', '-', '-o', 'probe'], input=program.encode(),
                              stderr=subprocess.DEVNULL, check=False).returncode


def fuzz(target):
    needs('clang')
    if not has_libfuzzer():
        skip('clang has no libFuzzer here')
    environment = {k: v for k, v in os.environ.items() if k not in ('ASAN_OPTIONS', 'UBSAN_OPTIONS', 'CC', 'CFLAGS')}
    environment['SECONDS_EACH'] = SECONDS
    # The machine may have much else to do.
    environment['SECONDS_MOST'] = '120'
    result = subprocess.run([FUZZ, target], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors='replace',
                            check=False)
    assert result.returncode == 0, result.stdout[-6000:]


@test
def fuzz_file_finds_nothing():
    fuzz('file')


@test
def fuzz_pipe_finds_nothing():
    fuzz('pipe')


@test
def fuzz_record_finds_nothing():
    fuzz('record')


@test
def fuzz_sample_finds_nothing():
    fuzz('sample')


@test
def fuzz_feature_finds_nothing():
    fuzz('feature')


@test
def fuzz_cfi_finds_nothing():
    fuzz('cfi')


@test
def fuzz_lineindexfile_finds_nothing():
    fuzz('lineindexfile')


@test
def fuzz_tracing_finds_nothing():
    fuzz('tracing')


@test
def fuzz_elf_finds_nothing():
    fuzz('elf')


@test
def fuzz_metric_finds_nothing():
    fuzz('metric')


@test
def fuzz_batch_finds_nothing():
    fuzz('batch')


@test
def fuzz_perfmap_finds_nothing():
    fuzz('perfmap')


@test
def fuzz_import_finds_nothing():
    fuzz('import')


@test
def fuzz_embedded_finds_nothing():
    fuzz('embedded')


@test
def fuzz_jitdump_finds_nothing():
    fuzz('jitdump')


@test
def fuzz_kallsyms_finds_nothing():
    fuzz('kallsyms')


@test
def fuzz_kcore_finds_nothing():
    fuzz('kcore')


@test
def fuzz_machine_finds_nothing():
    fuzz('machine')


@test
def fuzz_configfile_finds_nothing():
    fuzz('configfile')


@test
def fuzz_filecache_finds_nothing():
    fuzz('filecache')


if __name__ == '__main__':
    main(limit=1200)  # the first one builds all of it, with clang
