"""ClickHouse servers on loopback, of Debian's package clickhouse-server: started, killed and brought back by tests.

The package is not installed, because that would start a server on this machine and at each of its starts: what is missing of it is
downloaded from the package sources that this system is configured with, and unpacked below ~/.cache/pace (13 MB, 100 MB unpacked).
"""
import fcntl
import functools
import glob
import http.client
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.parse

CONFIG = '''<?xml version="1.0"?>
<yandex>
  <logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
  <http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><interserver_http_port>{between}</interserver_http_port>
  <listen_host>127.0.0.1</listen_host>
  <path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path>
  <users_config>{folder}/users.xml</users_config>
  <default_profile>default</default_profile><default_database>default</default_database>
  <mark_cache_size>67108864</mark_cache_size>
  <remote_servers><fleet>{shards}</fleet></remote_servers>
</yandex>
'''
SHARD = '<shard><replica><host>127.0.0.1</host><port>{}</port>{}</replica></shard>'
USERS = '''<?xml version="1.0"?>
<yandex>
  <profiles><default>
    <max_memory_usage>4000000000</max_memory_usage><insert_distributed_sync>1</insert_distributed_sync>
    <connect_timeout_with_failover_ms>500</connect_timeout_with_failover_ms>
  </default></profiles>
  <users><default><password>{}</password><networks><ip>127.0.0.1</ip></networks>
    <profile>default</profile><quota>default</quota></default></users>
  <quotas><default></default></quotas>
</yandex>
'''


# Asked for now: tests have a home of their own.
CACHE = os.path.join(os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'pace', 'clickhouse')
PROGRAM = 'usr/sbin/clickhouse-server'


class Missing(Exception):
    pass


def output_of(*words, cwd='.'):
    done = subprocess.run(words, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace', check=False, env={**os.environ, 'LC_ALL': 'C'})
    if done.returncode:
        raise Missing(f'{" ".join(words)}: {done.stdout.strip()[-300:]}')
    return done.stdout


def fetch(version):
    """The package and what it needs and this system has not, unpacked into a folder; its path."""
    root = os.path.join(CACHE, re.sub(r'[^\w.+-]', '_', version))
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, 'lock'), 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(os.path.join(root, PROGRAM)):
            return root
        planned = output_of('apt-get', '-qq', '-s', '--no-install-recommends', 'install', f'clickhouse-server={version}')
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            output_of('apt-get', '-qq', 'download', *re.findall(r'^Inst (\S+) ', planned, re.M), cwd=folder)
            for path in glob.glob(f'{folder}/*.deb'):
                output_of('dpkg', '-x', path, f'{folder}/root')
            for old in glob.glob(f'{CACHE}/*/usr'):
                shutil.rmtree(os.path.dirname(old), ignore_errors=True)
            os.rename(f'{folder}/root', root)
    return root


@functools.cache
def server():
    """The program, and the folder of its libraries (None: the system's)."""
    installed = shutil.which('clickhouse-server', path=os.environ.get('PATH', '') + ':/usr/sbin')
    if installed:
        return installed, None
    if not shutil.which('apt-get') or not shutil.which('dpkg'):
        raise Missing('clickhouse-server is not installed')
    version = re.search(r'Candidate: (?!\(none\))(\S+)', output_of('apt-cache', 'policy', 'clickhouse-server'))
    if not version:
        raise Missing("clickhouse-server is not installed, and this system's package sources have none (Debian 12's do)")
    root = fetch(version[1])
    return os.path.join(root, PROGRAM), os.path.dirname(glob.glob(f'{root}/usr/lib/*/libclickhouse.so*')[0])


def missing():
    """Why there are no servers here; None if there are."""
    try:
        server()
    except Missing as why:
        return str(why)
    return None


def free_ports(n):
    held = [socket.socket() for _ in range(n)]
    for s in held:
        s.bind(('127.0.0.1', 0))
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


class Server:
    def __init__(self, folder, ports, password=''):
        self.folder, (self.http, self.tcp, self.between), self.password = folder, ports, password
        self.process = None

    def configure(self, peers):
        os.makedirs(self.folder, exist_ok=True)
        password = f'<password>{self.password}</password>' if self.password else ''
        shards = ''.join(SHARD.format(p.tcp, password) for p in peers)
        with open(f'{self.folder}/config.xml', 'w', encoding='utf-8') as f:
            f.write(CONFIG.format(folder=self.folder, http=self.http, tcp=self.tcp, between=self.between, shards=shards))
        with open(f'{self.folder}/users.xml', 'w', encoding='utf-8') as f:
            f.write(USERS.format(self.password))

    def start(self):
        with open(f'{self.folder}/out', 'ab') as out:
            program, libraries = server()
            self.process = subprocess.Popen([program, f'--config-file={self.folder}/config.xml'], stdout=out, stderr=out,
                                            stdin=subprocess.DEVNULL, env={**os.environ, **({'LD_LIBRARY_PATH': libraries} if libraries else {})})

    def wait(self, seconds=40):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                return self.ask('SELECT 1')
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.1)
        raise RuntimeError(f'no server at port {self.http}: see {self.folder}/errors')

    def stop(self, sign=signal.SIGKILL):
        if self.process:
            self.process.send_signal(sign)
            self.process.wait()
            self.process = None

    def ask(self, query, timeout=60, **settings):
        if self.password:
            settings['password'] = self.password
        connection = http.client.HTTPConnection('127.0.0.1', self.http, timeout=timeout)
        try:
            connection.request('POST', '/?' + urllib.parse.urlencode(settings), query.encode())
            answer = connection.getresponse()
            text = answer.read().decode('utf-8', 'replace')
        finally:
            connection.close()
        if answer.status != 200:
            raise RuntimeError(f'{query}: {text}')
        return text

    def rows(self, query, **settings):
        return [line.split('\t') for line in self.ask(query, **settings).splitlines()]

    @property
    def url(self):
        return f'http://127.0.0.1:{self.http}/'


class Servers:
    """`with Servers(folder, 3) as servers`: a cluster named fleet."""

    def __init__(self, folder, n=1, password=''):
        ports = free_ports(3 * n)
        self.at = [Server(f'{folder}/server{i}', ports[3 * i:3 * i + 3], password) for i in range(n)]

    def __enter__(self):
        for server in self.at:
            server.configure(self.at)
            server.start()
        try:
            for server in self.at:
                server.wait()
        except BaseException:
            self.__exit__()
            raise
        return self.at

    def __exit__(self, *_):
        for server in self.at:
            server.stop()


def statements(ddl):
    """The statements of `pace export --ddl`, without their comments."""
    lines = [line.split(' -- ')[0] for line in ddl.splitlines() if not line.startswith('--')]
    return [s.strip() for s in '\n'.join(lines).split(';\n') if s.strip()]
