"""An arm64 machine with a PMU, emulated: what there is to know of it, and how to run commands on it.

    fetch()   a kernel, busybox and the libraries that pace needs, from the package sources this system is configured with
    build()   pace, libpace and the programs of this folder for it, in build-guest/
    boot()    runs commands there and gives back what they said, and the files they left

Whatever this system lacks for that is Missing, with the reason. What was fetched is kept in ~/.cache/pace (or
$PACE_GUEST_CACHE) and fetched again when dev/packages names other libraries.
"""
import fcntl
import glob
import hashlib
import lzma
import os
import re
import shutil
import stat
import subprocess
import tarfile
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(TOP, 'build-guest')
# Asked for now: tests have a home of their own.
CACHE = os.environ.get('PACE_GUEST_CACHE') or os.path.join(
    os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'pace', 'guest')
UNUSED_DAYS = 14
TARGET = 'aarch64-linux-gnu'
EMULATOR = 'qemu-system-aarch64'
MODEL = 'cortex-a57'
# One that signs return addresses, by a quick way.
SIGNING = 'max,pauth-impdef=on'
# The order in which they stand on each other.
MODULES = ['virtio/virtio_ring.ko', 'virtio/virtio.ko', 'virtio/virtio_mmio.ko', 'block/virtio_blk.ko']


class Missing(Exception):
    pass


def say(text):
    print(f'# {text}', flush=True)


def output_of(*args, **kwargs):
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                          errors='replace', **kwargs)
    return done.returncode, done.stdout


# ---- fetch ----

def check_host():
    for program, package in (('apt-get', 'apt: its kernel comes from Debian'), ('dpkg-deb', 'dpkg'),
                             (EMULATOR, 'qemu-system-arm'), (f'{TARGET}-gcc', f'gcc-{TARGET}')):
        if not shutil.which(program):
            raise Missing(f'{program} is not installed (package {package})')
    # gcc answers with a path only if it has the file.
    if not os.path.isabs(output_of(f'{TARGET}-gcc', '-print-file-name=libc.so.6')[1].strip()):
        raise Missing(f'the C library of {TARGET}-gcc is not installed (package libc6-dev-arm64-cross)')


def libraries():
    """The packages that dev/packages names for building, but for the C library: the cross compiler has one."""
    rows = [line.split(' | ') for line in open(os.path.join(TOP, 'dev/packages')) if line.startswith('build ')]
    names = [row[-5].strip() for row in rows]
    return [name for name in names if name.endswith('-dev') and name != 'libc6-dev']


class Apt:
    """apt-get for arm64, on files of its own; the system's sources and keys are used, nothing of the system is changed."""

    # What comes with the cross compiler counts as installed, so that nothing drags a second one in.
    INSTALLED = ''.join(f'Package: {name}\nStatus: install ok installed\nArchitecture: arm64\nMulti-Arch: same\n'
                        f'Version: 999\nMaintainer: none\nProvides: {provides}\nDescription: none\n\n'
                        for name, provides in (('libc6', 'none'), ('libc6-dev', 'libc-dev'), ('libgcc-s1', 'none')))

    def __init__(self, folder):
        for sub in ('state/lists/partial', 'cache/archives/partial'):
            os.makedirs(os.path.join(folder, sub))
        with open(f'{folder}/status', 'w') as status:
            status.write(self.INSTALLED)
        with open(f'{folder}/apt.conf', 'w') as conf:
            conf.write('APT::Architecture "arm64";\nAPT::Architectures { "arm64"; };\n'
                       f'Dir::State "{folder}/state";\nDir::State::status "{folder}/status";\n'
                       f'Dir::Cache "{folder}/cache";\nDir::Log "{folder}";\n'
                       'Acquire::Languages "none";\nAPT::Sandbox::User "";\n'
                       'Acquire::http::Timeout "10";\nAcquire::https::Timeout "10";\nAcquire::Retries "0";\n')
        self.archives = f'{folder}/cache/archives'
        self.env = dict(os.environ, APT_CONFIG=f'{folder}/apt.conf', LC_ALL='C', DEBIAN_FRONTEND='noninteractive')

    def run(self, program, *args):
        try:
            return output_of(program, *args, env=self.env, cwd=self.archives, timeout=300)
        except subprocess.TimeoutExpired:
            raise Missing(f'the package sources of this system do not answer: {program} {args[0]} took 300 s') from None

    def install(self, *args):
        return self.run('apt-get', 'install', '-qq', '-y', '--no-install-recommends', *args)

    def check(self, what, status_and_text):
        status, text = status_and_text
        if status:
            errors = [line for line in text.split('\n') if line.startswith('E: ')] or [text.strip()[-200:]]
            raise Missing(f'{what} for arm64: {errors[0]}')
        return text


def forget_the_rest(root):
    """What is never used is most of it."""
    shutil.rmtree(f'{root}/usr/share')
    for path, _, files in os.walk(root):
        for name in files:
            if re.search(r'/modules/.*/kernel/', f'{path}/') and not any(f'{path}/{name}'.endswith((m, m + '.xz')) for m in MODULES):
                os.remove(f'{path}/{name}')


def fetch_into(folder):
    """Unpacks the kernel and all packages into folder/root; what could not be had is named in folder/without."""
    with tempfile.TemporaryDirectory(prefix='pace-apt-') as scratch:
        apt = Apt(scratch)
        # Some sources know nothing of arm64: what is missing shows when it is asked for.
        apt.run('apt-get', 'update', '-qq')
        kernels = re.findall(r'Depends: (linux-image-\S+)', apt.run('apt-cache', 'depends', 'linux-image-cloud-arm64')[1])
        if not kernels:
            raise Missing('the package sources of this system have no linux-image-cloud-arm64, or cannot be reached')
        wanted = libraries()
        without = [name for name in wanted if apt.install('-s', name)[0]]
        wanted = [name for name in wanted if name not in without]
        apt.check('downloading libraries', apt.install('--download-only', 'busybox-static', *wanted))
        apt.check('downloading a kernel', apt.run('apt-get', 'download', '-qq', kernels[0]))
        # To compare with; of what perf wants, only what it is linked with.
        names = re.findall(r'^Inst ((?:lib|zlib)\S+|linux-perf\S*) ', apt.install('-s', 'linux-perf')[1], re.M)
        if not names or apt.run('apt-get', 'download', '-qq', *names)[0]:
            without.append('linux-perf')
        for package in glob.glob(f'{apt.archives}/*.deb'):
            apt.check('unpacking', apt.run('dpkg-deb', '-x', package, f'{folder}/root'))
    forget_the_rest(f'{folder}/root')
    with open(f'{folder}/without', 'w') as file:
        file.write(' '.join(without))


def fetch():
    """The folder with root/: from the cache if it is there."""
    check_host()
    release = open('/etc/os-release').read() if os.path.exists('/etc/os-release') else ''
    key = hashlib.sha256('\n'.join([release, *libraries()]).encode()).hexdigest()[:16]
    folder = os.path.join(CACHE, key)
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, 'lock'), 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(folder):
            begin = time.time()
            with tempfile.TemporaryDirectory(prefix='new-', dir=CACHE) as fresh:
                os.makedirs(f'{fresh}/it/root')
                fetch_into(f'{fresh}/it')
                os.rename(f'{fresh}/it', folder)
            say(f'fetched a kernel and libraries into {folder} in {time.time() - begin:.0f} s')
        os.utime(folder)
        for other in glob.glob(f'{CACHE}/*/'):
            if os.stat(other).st_mtime < time.time() - UNUSED_DAYS * 86400:
                shutil.rmtree(other)
    without = open(f'{folder}/without').read()
    if without:
        say(f'this system\'s package sources lack for arm64: {without}')
    return folder


# ---- build ----

def cross_file(root):
    include = [f'{root}/usr/include', f'{root}/usr/include/{TARGET}']
    library = [f'{root}/usr/lib/{TARGET}', f'{root}/lib/{TARGET}']
    flags = [flag for path in include for flag in ('-isystem', path)]
    links = [f'-L{path}' for path in library] + [f'-Wl,-rpath-link,{path}' for path in library]
    return f"""[binaries]
c = {[TARGET + '-gcc']}
ar = '{TARGET}-ar'
strip = '{TARGET}-strip'
pkgconfig = 'pkg-config'
[properties]
sys_root = '{root}'
pkg_config_libdir = ['{root}/usr/lib/{TARGET}/pkgconfig', '{root}/usr/share/pkgconfig']
[built-in options]
c_args = {flags}
c_link_args = {links}
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'cortex-a57'
endian = 'little'
"""


def build(root):
    """pace, libpace and tests/guest/programs in build-guest/; what the compiler says if it fails."""
    for program in ('meson', 'pkg-config'):
        if not shutil.which(program):
            raise Missing(f'{program} is not installed')
    ninja = shutil.which('ninja') or shutil.which('samu')
    if not ninja:
        raise Missing('ninja is not installed')
    text, path = cross_file(root), os.path.join(BUILD, 'cross.ini')
    if not os.path.exists(f'{BUILD}/build.ninja') or open(path).read() != text:
        shutil.rmtree(BUILD, ignore_errors=True)
        os.makedirs(BUILD)
        with open(path, 'w') as file:
            file.write(text)
        strict = output_of(os.path.join(TOP, 'dev', 'werror'), f'{TARGET}-gcc')[1].strip()
        status, said = output_of('meson', 'setup', BUILD, TOP, '--cross-file', path, '-Dtests=true', f'-Dwerror={strict}',
                                 '-Dbuildtype=debugoptimized')
        if status:
            os.remove(path)
        assert status == 0, f'meson setup for {TARGET}:\n{said[-3000:]}'
    status, said = output_of(ninja, '-C', BUILD)
    assert status == 0, f'building for {TARGET}:\n{said[max(said.find("FAILED: "), 0):][:6000]}'


# ---- the initial file system ----

class Cpio:
    """An archive that the kernel unpacks as its first file system; no file here has an owner but root, so root need not
    write it. The format: Documentation/driver-api/early-userspace/buffer-format.rst"""

    def __init__(self):
        self.parts, self.folders, self.inode = [], set(), 0

    def entry(self, name, mode, data=b'', device=(0, 0)):
        self.inode += 1
        path = name.encode() + b'\0'
        fields = (self.inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(path), 0)
        header = b'070701' + b''.join(b'%08X' % field for field in fields)
        for part in (header + path, data):
            self.parts.append(part + b'\0' * (-len(part) % 4))

    def folder(self, name):
        if name and name not in self.folders:
            self.folder(os.path.dirname(name))
            self.folders.add(name)
            self.entry(name, stat.S_IFDIR | 0o755)

    def file(self, name, data, mode=0o755):
        self.folder(os.path.dirname(name))
        self.entry(name, stat.S_IFREG | mode, data)

    def copy(self, name, source, mode=0o755):
        with open(source, 'rb') as file:
            self.file(name, file.read(), mode)

    def device(self, name, major, minor):
        self.folder(os.path.dirname(name))
        self.entry(name, stat.S_IFCHR | 0o600, device=(major, minor))

    def write(self, path):
        self.entry('TRAILER!!!', 0)
        with open(path, 'wb') as file:
            file.write(b''.join(self.parts))


def needed(path):
    """The interpreter and the libraries an ELF file names."""
    status, text = output_of(f'{TARGET}-readelf', '-ld', path)
    assert status == 0, text
    return re.findall(r'Shared library: \[(.*)\]', text) + [
        os.path.basename(name) for name in re.findall(r'program interpreter: (.*)\]', text)]


def with_libraries(programs, root):
    """Where the libraries are that these programs need, and those need: name -> path."""
    own = os.path.dirname(output_of(f'{TARGET}-gcc', '-print-file-name=libc.so.6')[1].strip())
    folders = [BUILD, f'{root}/usr/lib/{TARGET}', f'{root}/lib/{TARGET}', *glob.glob(f'{root}/usr/lib/{TARGET}/perl/*/CORE'), own, f'/usr/{TARGET}/lib']
    found, todo = {}, list(programs)
    while todo:
        for name in needed(todo.pop()):
            if name in found:
                continue
            paths = [f'{folder}/{name}' for folder in folders if os.path.exists(f'{folder}/{name}')]
            assert paths, f'no {name} for {TARGET} in {folders}'
            found[name] = paths[0]
            todo.append(paths[0])
    return found


def pack(root, jobs, path):
    """jobs: name of a folder -> {name of a command: what the shell is to do there}."""
    archive = Cpio()
    archive.device('dev/console', 5, 1)
    archive.copy('init', f'{HERE}/init')
    # Where / and /usr are one, a package may have either.
    archive.copy('bin/busybox', next(file for file in (f'{root}/bin/busybox', f'{root}/usr/bin/busybox') if os.path.exists(file)))
    archive.file('etc/passwd', b'root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n', 0o644)
    modules = glob.glob(f'{root}/lib/modules/*/kernel/drivers') + glob.glob(f'{root}/usr/lib/modules/*/kernel/drivers')
    for number, module in enumerate(MODULES):
        there = f'{modules[0]}/{module}'
        if os.path.exists(there):
            archive.copy(f'modules/{number}.ko', there)
        elif f'kernel/drivers/{module}\n' not in open(f'{os.path.dirname(os.path.dirname(modules[0]))}/modules.builtin'):
            with lzma.open(f'{there}.xz') as packed:
                archive.file(f'modules/{number}.ko', packed.read())
    programs = [f'{BUILD}/pace', f'{BUILD}/tests/unit', *(p for p in glob.glob(f'{BUILD}/tests/guest/*') if os.path.isfile(p) and os.access(p, os.X_OK))]
    for program in programs:
        archive.copy(f'bin/{os.path.basename(program)}', program)
    perf = f'{root}/usr/bin/perf'
    if os.path.exists(perf):
        archive.copy('bin/perf', perf)
        programs.append(perf)
    for name, library in with_libraries(programs, root).items():
        archive.copy(f'lib/{name}', library)
    for job, commands in jobs.items():
        archive.file(f'jobs/{job}/order', ''.join(f'{name}\n' for name in commands).encode())
        for name, command in commands.items():
            archive.file(f'jobs/{job}/{name}.sh', command.encode())
    archive.write(path)


# ---- boot ----

class Done:
    """What a command said, and how it ended (128 + n by signal n), or that it never ran."""

    def __init__(self, folder, name):
        def text(end):
            path = f'{folder}/{name}.{end}'
            return open(path, errors='replace').read() if os.path.exists(path) else ''
        self.status = int(text('status') or -1)
        self.out, self.err = text('out'), text('err')

    def __repr__(self):
        return f'status {self.status}\n--- stdout\n{self.out[-3000:]}\n--- stderr\n{self.err[-3000:]}'


def boot(root, jobs, folder, cpus=1, model=MODEL, limit_s=1200):
    """Runs the jobs; their folders are in folder/results afterwards. Time in the guest is the number of instructions, at a
    nanosecond each, however long they take here."""
    kernel = (glob.glob(f'{root}/boot/vmlinuz-*') or [None])[0]
    pack(root, jobs, f'{folder}/initrd')
    with open(f'{folder}/disk', 'wb') as disk:
        disk.truncate(256 << 20)
    topology = '1' if cpus == 1 else f'{cpus},sockets=2,cores={cpus // 2}'
    command = [EMULATOR, '-M', 'virt', '-cpu', model, '-smp', topology, '-icount', 'shift=0,sleep=off', '-m', '512',
               '-nographic', '-no-reboot', '-nic', 'none', '-kernel', kernel, '-initrd', f'{folder}/initrd', '-append',
               'console=ttyAMA0 quiet panic=-1 nokaslr mitigations=off cryptomgr.notests',
               '-drive', f'if=none,format=raw,file={folder}/disk,id=d0', '-device', 'virtio-blk-device,drive=d0']
    begin = time.time()
    with open(f'{folder}/console', 'wb') as console, subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT) as process:
        try:
            process.wait(limit_s)
            ended = f'ended with status {process.returncode}'
        except subprocess.TimeoutExpired:
            process.kill()
            ended = f'was stopped after {limit_s} s'
    console = open(f'{folder}/console', errors='replace').read()
    try:
        with tarfile.open(f'{folder}/disk', 'r:') as results:
            results.extractall(folder)
    except tarfile.TarError:
        raise AssertionError(f'the emulated machine {ended} and left no results. Its console:\n{console[-4000:]}')
    say(f'{len(jobs)} tests on {cpus} CPU{"s" * (cpus > 1)} of an emulated arm64 machine ({model.split(",")[0]}): {time.time() - begin:.0f} s')
    return f'{folder}/results'
