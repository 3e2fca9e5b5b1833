#!/usr/bin/env python3
"""A fleet's store: ClickHouse servers on loopback, hosts that push, and what reports make of it. Prints TAP."""
import csv
import gzip
import http.client
import http.server
import json
import os
import random
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import clickhouse
from browser import needs_module
from harness import BUILD, LIMIT, PACE, main, needs, needs_own_mounts, pace, run, skip, test

HOSTS = os.path.join(BUILD, 'tests', 'fleethosts')
CACHE = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
LONG = os.environ.get('PACE_FLEET_LONG')
# Whole minutes, an hour ago.
START = int(time.time()) // 60 * 60 - 3600


def needs_servers():
    why = clickhouse.missing()
    if why:
        skip(why)


def make_hosts(folder, first, n, minutes, samples, *more, begin=START):
    """{host: (samples, value)}"""
    os.makedirs(folder, exist_ok=True)
    made = run(HOSTS, folder, str(first), str(n), str(begin), str(minutes), str(samples), *more)
    assert made.status == 0, made
    return {line.split()[0]: tuple(map(int, line.split()[1:])) for line in made.out.splitlines()}


def make_tables(servers, cluster=None):
    ddl = pace('export', '--ddl', 'clickhouse-18', *(['--cluster', cluster] if cluster else []))
    assert ddl.status == 0, ddl
    for server in servers:
        for statement in clickhouse.statements(ddl.out):
            server.ask(statement)


def address(server, words='from=-2h'):
    return f'clickhouse://127.0.0.1:{server.http}/default?{words}'


def by_host(server, words='from=-2h'):
    """What a report says of each host, and the report."""
    said = pace('report', '-i', address(server, words), '-s', 'host', '-g', 'none', '--no-children', '--csv', timeout=120)
    assert said.status in (0, 1), said
    rows = [line.split(',') for line in said.out.splitlines()]
    at = {name: i for i, name in enumerate(rows[0])}
    return {row[at['host']]: (int(row[at['samples']]), int(row[at['period']])) for row in rows[1:]}, said


def samples_of(path, keys='symbol'):
    """All samples of a report, and those of each row."""
    said = pace('report', '-i', path, '-s', keys, '-g', 'none', '--no-children', '--csv', timeout=120)
    assert said.status == 0, said
    rows = list(csv.DictReader(said.out.splitlines()))
    each = {tuple(row[key] for key in keys.split(',')): int(row['samples']) for row in rows}
    return sum(each.values()), each


class Cut:
    """A proxy that cuts connections: before the server answers, or in the middle of what is sent or answered."""

    def __init__(self, port, share, seed=1):
        self.to, self.share, self.random, self.n_cut = port, share, random.Random(seed), 0
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                one, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(one,), daemon=True).start()

    def pump(self, source, sink, most):
        """Copies at most so many bytes; None: all."""
        try:
            while most is None or most > 0:
                data = source.recv(65536 if most is None else min(65536, most))
                if not data:
                    break
                sink.sendall(data)
                most = most if most is None else most - len(data)
        except OSError:
            pass
        for side in (source, sink):
            try:
                side.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def serve(self, one):
        try:
            other = socket.create_connection(('127.0.0.1', self.to))
        except OSError:
            one.close()
            return
        cuts = self.random.random() < self.share
        self.n_cut += cuts
        back = self.random.choice([0, 0, 20]) if cuts else None
        there = self.random.choice([None, None, 3000]) if cuts else None
        threads = [threading.Thread(target=self.pump, args=args, daemon=True)
                   for args in ((one, other, there), (other, one, back))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        one.close()
        other.close()

    def close(self):
        self.listener.close()


class Liar(http.server.ThreadingHTTPServer):
    """A server that answers what `answer(path, body)` says: (status, bytes), bytes alone for raw ones, None for silence. `tls`: a context."""
    daemon_threads = True

    def __init__(self, answer, tls=None):
        self.answer, self.asked = answer, []
        super().__init__(('127.0.0.1', 0), Lies)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def port(self):
        return self.server_address[1]

    def handle_error(self, *_):
        pass


class Lies(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get('Content-Length', 0)))
        if self.headers.get('Content-Encoding') == 'gzip':
            body = gzip.decompress(body)
        self.server.asked.append((self.path, dict(self.headers), body))
        answer = self.server.answer(self.path, body)
        if answer is None:
            time.sleep(30)
            return
        if isinstance(answer, bytes):
            self.wfile.write(answer)
            self.close_connection = True
            return
        status, data = answer
        self.send_response(status)
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


# ---- what is printed ----

@test
def statements_make_tables_that_have_comments_orders_and_times_to_live():
    new = pace('export', '--ddl', 'clickhouse', '--days', '7')
    assert new.status == 0 and new.out.count('TTL time + INTERVAL') == 4, new
    assert "INTERVAL 7 DAY" in new.out and "COMMENT 'pace_stacks.hash'" in new.out, new
    assert 'ORDER BY (service, type, time, host, batch, row)' in new.out, new
    old = pace('export', '--ddl', 'clickhouse-18', '--cluster', 'fleet')
    assert old.status == 0 and old.out.count("Distributed('fleet'") == 4 and 'TTL time' not in old.out, old
    for words in (['--ddl', 'oracle'], ['--ddl', 'duckdb', '--cluster', 'x'], ['--ddl', 'clickhouse', '--cluster', "x'; DROP"],
                  ['--cluster', 'x'], ['--days', '3', '--format', 'csv'], ['--ddl', 'duckdb', '--format', 'csv']):
        assert pace('export', *words).status == 2, words


@test
def addresses_that_are_wrong_are_errors():
    for url, says in (('ftp://x/', 'is no address'), ('http://u:secret@h/', 'password in it'), ('http:///', 'names no host'),
                      ('http://h/a/b', 'one word'), ('http://h/?x', 'KEY=VALUE'), ('http://h/%zz', 'two digits|one word'),
                      ('http://h/?service=x', 'for reading'), ('http://h/\x01', 'character that must')):
        said = pace('push', url, '-i', '/dev/null')
        assert said.status and re.search(says, said.err) and 'secret' not in said.err, (url, said)
    for words, says in (('fom=-1h', 'is none of service'), ('from=yesterdayish', 'from and to'), ('from=-1h&to=-2h', 'ends before|end'),
                        ('max=0', '1 to'), ('service', 'KEY=VALUE')):
        said = pace('report', '-i', 'clickhouse://127.0.0.1:1/db?' + words)
        assert said.status and re.search(says, said.err), (words, said)


@test
def duckdb_takes_the_tables_and_the_rows_and_has_the_hosts_sums():
    # Into the user's cache: tests have a home of their own.
    folder = os.path.join(CACHE, 'pace', 'duckdb')
    needs_module('@duckdb/node-api', '1.5.6-r.1', folder)
    want = make_hosts('hosts', 0, 3, 2, 300)
    said = pace('push', '-o', 'rows', '--label', 'zone=b', *[w for i in range(3) for w in ('-i', f'hosts/web{i}.batches')])
    assert said.status == 0, said
    ddl = pace('export', '--ddl', 'duckdb')
    assert ddl.status == 0, ddl
    with open('ddl.sql', 'w', encoding='utf-8') as f:
        f.write(ddl.out)
    with open('ask.mjs', 'w', encoding='utf-8') as f:
        f.write('''
import {createRequire} from 'module';
import fs from 'fs';
const {DuckDBInstance} = createRequire(process.argv[2] + '/')('@duckdb/node-api');
const db = await (await DuckDBInstance.create(':memory:')).connect();
await db.run(fs.readFileSync('ddl.sql', 'utf8'));
for (const table of ['pace_stacks', 'pace_samples', 'pace_batches'])
    await db.run(`INSERT INTO ${table} BY NAME SELECT * FROM read_json('rows/${table}.ndjson', format = 'newline_delimited',
        columns = {${(await (await db.runAndReadAll(`DESCRIBE ${table}`)).getRowObjectsJson()).map(c => `'${c.column_name}': '${c.column_type}'`)}})`);
const ask = async sql => (await db.runAndReadAll(sql)).getRowObjectsJson();
console.log(JSON.stringify({
    hosts: await ask('SELECT host, sum(samples)::VARCHAR AS samples, sum(value)::VARCHAR AS value FROM pace_samples GROUP BY host'),
    minutes: await ask('SELECT sum(samples)::VARCHAR AS samples FROM pace_minutes'),
    nameless: await ask('SELECT count(*)::VARCHAR AS n FROM pace_samples a ANTI JOIN pace_stacks b ON a.stack = b.hash'),
    comments: await ask("SELECT count(*)::VARCHAR AS n FROM duckdb_columns() WHERE table_name LIKE 'pace_%' AND comment IS NOT NULL"),
    announced: await ask('SELECT sum(list_sum(sample_sums))::VARCHAR AS n FROM pace_batches'),
}));
''')
    asked = run('node', 'ask.mjs', folder)
    assert asked.status == 0, asked
    got = json.loads(asked.out)
    assert {r['host']: (int(r['samples']), int(r['value'])) for r in got['hosts']} == want, got
    n = str(sum(samples for samples, _ in want.values()))
    assert got['minutes'] == [{'samples': n}] and got['announced'] == [{'n': n}] and got['nameless'] == [{'n': '0'}], got
    assert int(got['comments'][0]['n']) > 30, got


# ---- a store that misbehaves ----

def push_to(port, *more, **kwargs):
    return pace('push', f'http://127.0.0.1:{port}/', '-i', 'hosts/web0.batches', '--attempts', '2', '--timeout', '2', *more, **kwargs)


@test
def a_store_that_lies_hangs_or_answers_half_is_an_error_and_no_crash():
    make_hosts('hosts', 0, 1, 1, 200)
    before = open('hosts/web0.batches', 'rb').read()
    answers = {
        'no ClickHouse': ((200, b'<html>welcome</html>'), 'is no ClickHouse'),
        'error 500': ((500, b'Code: 241, e.displayText() = DB::Exception: Memory limit\x1b[2J, e.what() = x'), 'status 500'),
        'not found': ((404, b'no such thing'), 'status 404'),
        'moved': ((302, b''), 'status 302'),
        'refused': ((401, b'Wrong password'), 'does not accept'),
        'half': (b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n18.16', 'attempts failed|is no ClickHouse'),
        'garbage': (os.urandom(300), 'attempts failed'),
        'nothing': (b'', 'attempts failed'),
        'endless': ((200, b'18.16.1\n' + b'x' * 200000), 'more than'),
        'silence': (None, 'attempts failed'),
    }
    for name, (answer, says) in answers.items():
        liar = Liar(lambda path, body, answer=answer: answer)
        said = push_to(liar.port)
        assert said.status == 1 and re.search(says, said.err), (name, said)
        said = pace('report', '-i', f'clickhouse://127.0.0.1:{liar.port}/db?timeout=2')
        assert said.status in (1, 2) and said.err and not said.out, (name, said)
        liar.shutdown()
    closed = clickhouse.free_ports(1)[0]
    said = push_to(closed)
    assert said.status == 1 and 'attempts failed' in said.err, said
    assert open('hosts/web0.batches', 'rb').read() == before


@test
def answers_that_lie_about_rows_are_errors():
    """Each question is answered as a store would, but one of them wrongly."""
    def number(v, n=8):
        return v.to_bytes(n, 'little')

    def text(t):
        assert len(t) < 128
        return bytes([len(t)]) + t

    row = text(b'') + text(b'cpu-clock') + number(7) + number(3) + number(300)
    stack = number(7) + b''.join(bytes([1]) + text(t) for t in (b'main', b'a.out', b'')) + bytes([1, 18])
    good = {'version()': b'18.16.1\n', 'system.tables': b'MergeTree', 'count() - uniq': number(0), 'toStartOfMinute(at)': number(60, 4) + number(1) + number(3) + number(300),
            'AS minute, toUInt64(0)': number(60, 4) + number(0) + number(3) + number(300), 'HAVING': b'',
            'uniqExact(of_host)': number(1) + number(0), 'amounts_sum': b'', 'AS of_stack': row, 'frames': stack}

    def report(lies):
        def answer(_, body):
            for key, value in {**lies, **good}.items():
                if key in body.decode():
                    return 200, {**good, **lies}[key]
            return 500, b'what is ' + body
        liar = Liar(answer)
        said = pace('report', '-i', f'clickhouse://127.0.0.1:{liar.port}/db?timeout=5', '--no-children', '-g', 'none')
        liar.shutdown()
        return said

    honest = report({})
    assert honest.status == 0 and '100.00%' in honest.out and 'main' in honest.out, honest
    for key, lie in (('AS of_stack', row[:-1]), ('AS of_stack', b'\xff' * 40), ('AS of_stack', row + b'\x80' * 20),
                     ('AS of_stack', row[:-8] + b'\xff' * 8), ('frames', stack[:-1]), ('frames', number(8) + stack[8:]),
                     ('frames', stack[:8] + b'\x02' + stack[9:]), ('toStartOfMinute(at)', b'\0' * 27),
                     ('toStartOfMinute(at)', good['toStartOfMinute(at)'] * 2), ('HAVING', b'\x05web'), ('uniqExact(of_host)', b'\1'),
                     ('amounts_sum', text(b'cause'))):
        said = report({key: lie})
        assert said.status in (1, 2) and 'damaged or cut off' in said.err, (key, lie, said)
    # Rows that were announced and do not come, stacks that are not there: said, with what is there.
    lost = report({'frames': b''})
    assert lost.status == 0 and 'stack that is not in the store' in lost.out, lost
    hostile = report({'frames': stack.replace(b'\x04main', b'\x08ma\x1b[2J\xff\n')})
    assert hostile.status == 0 and '\x1b' not in hostile.out, hostile


@test
def newer_servers_get_zstd_and_a_token_that_is_the_same_for_the_same_rows():
    make_hosts('hosts', 0, 1, 1, 200)
    tokens = []
    for _ in range(2):
        liar = Liar(lambda path, body: (200, b'23.8.1.1\n' if b'version()' in body else b'0\n' if b'uniq' in body else b''))
        said = push_to(liar.port)
        assert said.status == 0, said
        inserts = [(path, headers, body) for path, headers, body in liar.asked if 'INSERT' in path]
        assert len(inserts) == 3 and all(h.get('Content-Encoding') == 'zstd' and b[:4] == b'\x28\xb5\x2f\xfd'
                                         for _, h, b in inserts), inserts[0][:2]
        tokens.append([re.search('insert_deduplication_token=([0-9a-f]{16})', path)[1] for path, _, _ in inserts])
        liar.shutdown()
    assert tokens[0] == tokens[1] and len(set(tokens[0])) == 3, tokens


@test
def secrets_come_from_files_and_the_environment_and_not_from_words():
    make_hosts('hosts', 0, 1, 1, 50)
    with open('secret', 'w', encoding='utf-8') as f:
        f.write('hush hush\n')
    for env, words, header in (({'PACE_FLEET_TOKEN_FILE': 'secret'}, [], 'Bearer hush hush'),
                               ({}, ['--token-file', 'secret'], 'Bearer hush hush'),
                               ({}, ['--user', 'me', '--password-file', 'secret'], 'Basic bWU6aHVzaCBodXNo'),
                               ({'PACE_FLEET_PASSWORD': 'hush hush', 'PACE_FLEET_USER': 'me'}, [], 'Basic bWU6aHVzaCBodXNo')):
        liar = Liar(lambda path, body: (200, b'18.16.1\n' if b'version()' in body else b'0\n' if b'uniq' in body else b''))
        said = push_to(liar.port, *words, env=dict(os.environ, **env))
        assert said.status == 0 and 'hush' not in said.err, said
        assert {headers.get('Authorization') for _, headers, _ in liar.asked} == {header}, liar.asked[0][:2]
        liar.shutdown()


@test
def without_libcurl_it_is_said_what_to_install():
    needs_own_mounts()
    make_hosts('hosts', 0, 1, 1, 50)
    for words in ('push http://127.0.0.1:1/ -i hosts/web0.batches', 'report -i clickhouse://127.0.0.1/'):
        said = run('unshare', '-m', 'sh', '-c', 'for f in /usr/lib/*/libcurl*.so.4*; do [ ! -e $f ] || mount --bind /dev/null $f; done; '
                   f'exec {PACE} {words}')
        assert said.status in (1, 2) and 'libcurl.so.4 cannot be loaded' in said.err and 'package libcurl4' in said.err, said


# ---- a store that works ----

@test
def what_hosts_push_is_what_reports_say_and_pushing_twice_changes_nothing():
    needs_servers()
    want = make_hosts('hosts', 0, 12, 3, 800)
    files = [word for i in range(12) for word in ('-i', f'hosts/web{i}.batches')]
    with clickhouse.Servers(os.getcwd()) as (server,):
        make_tables([server])
        for _ in range(2):
            said = pace('push', server.url, *files, timeout=120)
            assert said.status == 0, said
        assert 'there already' in said.err, said
        got, said = by_host(server)
        assert got == want, (got, want)
        n = sum(samples for samples, _ in want.values())
        assert server.ask('SELECT sum(samples) FROM pace_minutes').strip() == str(n)
        assert samples_of(address(server))[0] == n
        # One host is the same by way of the store and by its own file.
        assert samples_of('hosts/web0.batches') == samples_of(address(server, 'from=-2h&host=web0'))
        # Twice in the tables all the same, as after an answer that was lost: each row counts once.
        server.ask('INSERT INTO pace_samples SELECT * FROM pace_samples WHERE host IN (\'web1\', \'web2\')')
        got, said = by_host(server)
        assert got == want, (got, want)
        assert samples_of(address(server))[0] == n
        # Labels and services.
        regions = pace('report', '-i', address(server, 'from=-2h&label.region=us'), '-s', 'region,service', '--csv', timeout=120)
        assert {line.split(',')[-2] for line in regions.out.splitlines()[1:]} == {'us'}, regions
        diff = pace('diff', address(server, 'from=-2h&service=service0'), address(server, 'from=-2h&service=service1'), timeout=120)
        assert diff.status == 0 and 'web0' in diff.out and '2 recordings' in diff.out, diff
        empty = pace('report', '-i', address(server, 'from=-2h&service=none'))
        assert empty.status == 0 and '%' not in empty.out, empty


@test
def with_tls_the_certificate_is_checked_and_rows_arrive():
    needs_servers()
    needs('openssl')
    for name, host in (('good', 'IP:127.0.0.1'), ('other', 'DNS:elsewhere.example')):
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=store', '-addext',
                        f'subjectAltName={host}', '-keyout', f'{name}.key', '-out', f'{name}.pem'], check=True, stderr=subprocess.DEVNULL)
    want = make_hosts('hosts', 0, 1, 2, 300)
    with clickhouse.Servers(os.getcwd()) as (server,):
        make_tables([server])

        def forward(path, body):
            """What is before a store in earnest: it has the certificate, and knows who asks."""
            connection = http.client.HTTPConnection('127.0.0.1', server.http, timeout=60)
            connection.request('POST', path, body)
            answer = connection.getresponse()
            return answer.status, answer.read()

        fronts = {}
        for name in ('good', 'other'):
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(f'{name}.pem', f'{name}.key')
            fronts[name] = Liar(forward, tls)
        words = ('-i', 'hosts/web0.batches', '--attempts', '1')
        for name, more in (('good', []), ('good', ['--ca', 'other.pem']), ('other', ['--ca', 'other.pem'])):
            said = pace('push', f'https://127.0.0.1:{fronts[name].port}/', *words, *more)
            assert said.status == 1 and re.search('certificate|subject', said.err), (name, more, said)
        assert not fronts['good'].asked and not fronts['other'].asked
        said = pace('push', f'https://127.0.0.1:{fronts["good"].port}/', *words, '--ca', 'good.pem')
        assert said.status == 0 and fronts['good'].asked, said
        url = f'clickhouses://127.0.0.1:{fronts["good"].port}/default?from=-2h'
        said = pace('report', '-i', url, '-s', 'host', '--no-children', '-g', 'none', '--csv', env=dict(os.environ, PACE_FLEET_CA='good.pem'))
        samples = {row['host']: int(row['samples']) for row in csv.DictReader(said.out.splitlines())}
        assert samples == {host: n for host, (n, _) in want.items()}, (said, want)
        # Nobody answers in plain words there, and TLS is no plain server.
        said = pace('push', f'http://127.0.0.1:{fronts["good"].port}/', *words)
        assert said.status == 1, said
        said = pace('push', f'https://127.0.0.1:{server.http}/', *words)
        assert said.status == 1, said


@test
def hostile_names_arrive_as_they_are():
    needs_servers()
    make_hosts('hosts', 7, 1, 2, 500, 'hostile')
    with clickhouse.Servers(os.getcwd()) as (server,):
        make_tables([server])
        said = pace('push', server.url, '-i', 'hosts/web7.batches')
        assert said.status == 0, said
        # Tables are UTF-8: what is not becomes U+FFFD there.
        want = {tuple(word.replace('\\xff\\xfe\\x80', '\ufffd' * 3) for word in row): n
                for row, n in samples_of('hosts/web7.batches', 'service,comm,symbol')[1].items()}
        rows = samples_of(address(server), 'service,comm,symbol')[1]
        assert rows == want and any('DROP TABLE' in service for service, _, _ in rows), set(rows) ^ set(want)
        service = next(service for service, _, _ in rows if "'" in service)
        assert server.ask('EXISTS TABLE pace_samples').strip() == '1', service


@test
def top_follows_a_fleet_and_says_what_is_missing():
    needs_servers()
    minute = int(time.time()) // 60 * 60
    with clickhouse.Servers(os.getcwd()) as (server,):
        make_tables([server])

        def push(first, n, begin):
            want = make_hosts('hosts', first, n, 1, 300, begin=begin)
            said = pace('push', server.url, *(word for i in range(first, first + n) for word in ('-i', f'hosts/web{i}.batches')))
            assert said.status == 0, said
            return {host: samples for host, (samples, _) in want.items()}

        want = push(0, 2, minute - 60)
        push(5, 1, minute - 600)  # sent something, and nothing of late
        top = subprocess.Popen([PACE, 'top', '--json', '-d', '0.3', '-s', 'host', '--fleet', address(server, '')], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)

        def next_that(holds):
            for line in top.stdout:
                shown = json.loads(line)
                if holds(shown):
                    return shown
            raise AssertionError(top.stderr.read())

        def hosts_of(shown):
            return {row['host']: row['samples'] for row in shown['events'][0]['rows']}

        first = next_that(lambda shown: True)
        assert first['hosts'] == 2 and first['samples'] == sum(want.values()) and first['to_ns'] - first['from_ns'] in (300 * 10**9, 360 * 10**9), first
        assert [hosts_of(first)[host] for host in want] == list(want.values()), (first, want)
        assert any('web5' in sentence for sentence in first['missing']), first['missing']
        want.update(push(2, 1, minute))
        assert hosts_of(next_that(lambda shown: shown['hosts'] == 3)) == want
        # The store goes and comes back: that is said, and the next refresh has it again.
        server.stop()
        time.sleep(1)
        server.start()
        server.wait()
        last = next_that(lambda shown: shown['time_ns'] / 1e9 > time.time() - 1)
        assert hosts_of(last) == want, (last, want)
        top.send_signal(signal.SIGINT)
        assert top.wait(timeout=20) == 0 and 'it is asked again' in top.stderr.read()
        text = pace('top', '--stdio', '--refreshes', '1', '-g', '--fleet', address(server, 'service=service0'))
        assert text.status == 0 and re.search(r'^# Samples: .* kernel; \d hosts?, ', text.out, re.M) and 'web5' in text.out and '[.]' in text.out, text
    for words in (['-p', '1'], ['-a'], ['-e', 'cycles'], ['-F', '99'], ['--wall'], ['true']):
        said = pace('top', '--fleet', 'clickhouse://127.0.0.1:1/', *words)
        assert said.status == 2 and 'cannot be combined with --fleet' in said.err, said
    said = pace('top', '--fleet', 'clickhouse://127.0.0.1:1/')
    assert said.status == 1 and "'http://127.0.0.1:1/'" in said.err, said


@test
def a_top_that_waits_for_an_answer_ends_at_once():
    """The store has taken the question and says nothing."""
    with socket.create_server(('127.0.0.1', 0)) as silent:
        top = subprocess.Popen([PACE, 'top', '--stdio', '--fleet', f'clickhouse://127.0.0.1:{silent.getsockname()[1]}/'], stderr=subprocess.PIPE, text=True)
        connection, _ = silent.accept()
        time.sleep(0.5)
        top.send_signal(signal.SIGINT)
        begin = time.monotonic()
        assert top.wait(timeout=20) == 1 and time.monotonic() - begin < 5 and 'given up' in top.stderr.read()
        connection.close()


@test
def a_watch_sends_what_it_keeps_and_what_it_could_not_send_before():
    """The first watch has no server; the second one sends the minutes of both."""
    needs_servers()
    watch = ['timeout', '-s', 'INT', '6', PACE, 'watch', '--every', '1s', '--store', 'store', '--service', 'w', '-e', 'cpu-clock']
    away = clickhouse.free_ports(1)[0]
    said = run(*watch, '--push', f'http://127.0.0.1:{away}/')
    assert 'waits in' in said.err, said
    with clickhouse.Servers(os.getcwd()) as (server,):
        make_tables([server])
        said = run(*watch, '--push', server.url)
        assert 'waits in' not in said.err, said
        kept = pace('report', '--at', '-10m..', '-i', 'store', '-g', 'none')
        n = int(re.search(r'Samples: ([0-9K]+)', kept.out).group(1))
        assert n > 0 and server.ask('SELECT sum(samples) FROM pace_samples').strip() == str(n), (n, kept)
        assert pace('push', server.url, '-i', 'store').err.count(' 0 batches, ') == 1
    assert pace('watch', '--push', 'http://h/?service=x', '--store', 'other').status == 2


@test
def a_store_of_minutes_is_sent_once_and_kept_while_the_server_is_away():
    needs_servers()
    os.mkdir('store', 0o700)
    make_hosts('hosts', 0, 1, 30, 200)
    hour = time.strftime('%Y-%m-%dT%H', time.gmtime(START))
    os.rename('hosts/web0.batches', f'store/{hour}.batches')
    away = clickhouse.free_ports(1)[0]
    said = pace('push', f'http://127.0.0.1:{away}/', '-i', 'store', '--attempts', '2')
    assert said.status == 1 and os.listdir('store') == [f'{hour}.batches'], said
    with clickhouse.Servers(os.getcwd()) as (server,):
        make_tables([server])
        for n in ('30 batches', '0 batches'):
            said = pace('push', server.url, '-i', 'store')
            assert said.status == 0 and n in said.err, said
        # A minute more, as 'pace watch' appends it; and a cursor that is damaged: everything is asked for, nothing sent twice.
        make_hosts('more', 0, 1, 31, 200)
        os.replace('more/web0.batches', f'store/{hour}.batches')
        said = pace('push', server.url, '-i', 'store')
        assert said.status == 0 and ' 1 batch, ' in said.err, said
        cursor, = (name for name in os.listdir('store') if name.startswith('pushed-'))
        with open(f'store/{cursor}', 'w', encoding='utf-8') as f:
            f.write('99999999999999999999 nonsense')
        said = pace('push', server.url, '-i', 'store')
        assert said.status == 0 and 'there already' in said.err, said
        want = make_hosts('more', 0, 1, 31, 200)
        assert by_host(server)[0] == want
        assert server.ask('SELECT count() - uniqExact(batch, row) FROM pace_samples').strip() == '0'


@test
def shards_that_die_networks_that_are_cut_and_hosts_that_are_killed_lose_nothing_and_count_nothing_twice():
    """Fifty hosts push for a while (ten minutes with PACE_FLEET_LONG=600)."""
    needs_servers()
    n, seconds = 50, int(LONG or 25)
    minutes = 3 if not LONG else 20
    want = make_hosts('hosts', 0, n, minutes, 150)
    with clickhouse.Servers(os.getcwd(), 3) as servers:
        make_tables(servers, 'fleet')
        proxy = Cut(servers[0].http, 0.15)
        dice, lock = random.Random(5), threading.Lock()
        end, killed, stop = time.monotonic() + seconds, [0], threading.Event()
        waiting = list(range(n))

        def host():
            """Pushes one host's file after the other until it is acknowledged; now and then it is killed."""
            while True:
                with lock:
                    if LONG and not waiting and time.monotonic() < end:
                        waiting.extend(range(n))
                    if not waiting:
                        return
                    mine = waiting.pop(0)
                while not stop.is_set():
                    process = subprocess.Popen([PACE, 'push', f'http://127.0.0.1:{proxy.port}/', '-i', f'hosts/web{mine}.batches', '-q',
                                                '--attempts', '4', '--timeout', '20'], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
                    if dice.random() < 0.15 and time.monotonic() < end:
                        time.sleep(dice.random() * 1.5)
                        process.send_signal(signal.SIGKILL)
                        killed[0] += 1
                    err = process.communicate()[1].decode('utf-8', 'replace')
                    assert 'Sanitizer' not in err, err
                    if not process.returncode:
                        break
        threads = [threading.Thread(target=host, daemon=True) for _ in range(6)]
        for thread in threads:
            thread.start()
        time.sleep(seconds / 4)
        servers[2].stop()
        time.sleep(seconds / 4)
        _, partial = by_host(servers[0])
        strict = pace('report', '-i', address(servers[0]), '--strict', '-s', 'host', timeout=120)
        servers[2].start()
        servers[2].wait()
        for thread in threads:
            thread.join(int(LONG) * 2 if LONG else 150)
        stop.set()
        assert not any(thread.is_alive() for thread in threads), 'hosts still push'
        proxy.close()
        got, whole = by_host(servers[0])
        assert got == want, {host: (got.get(host), want[host]) for host in want if got.get(host) != want[host]}
        twice = int(servers[0].ask('SELECT count() - uniqExact(batch, row) FROM pace_samples'))
        print(f'# {proxy.n_cut} connections cut, {killed[0]} hosts killed, {twice} rows twice before they were merged', flush=True)
        assert proxy.n_cut and killed[0], 'nothing happened'
        text = pace('report', '-i', address(servers[0]), '-s', 'host', '--no-children', '-g', 'none', timeout=120)
        assert 'did not answer' not in text.out, text
        assert strict.status == 3 and 'did not answer' in strict.err, strict
        assert partial.status == 0, partial


if __name__ == '__main__':
    main(limit=int(LONG) * 3 + 180 if LONG else LIMIT)
