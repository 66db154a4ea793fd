import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { runProgram } from '../../src/cli/program.ts';
import { type FakeTerminal, fakeTerminal } from '../support/fake-terminal.ts';
import { FREE_PORTS } from '../support/free-ports.ts';
import { newDataDirectory } from '../support/new-data-directory.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { openTestApp } from '../support/test-app.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Starts the compiled program when there is one, which loads several times faster than the sources. */
const PROGRAM = fileURLToPath(new URL('../../bin/postrider', import.meta.url));

function environment(more: Record<string, string> = {}): Record<string, string> {
  return {
    POSTRIDER_DATA_DIR: newDataDirectory(),
    ...FREE_PORTS,
    POSTRIDER_LOG_LEVEL: 'silent',
    ...more,
  };
}

/** Runs `serve` until it has said where it listens, then `use`, then Ctrl-C; resolves with its exit code. */
async function whileServing(
  env: Record<string, string>,
  use: (terminal: FakeTerminal) => Promise<void>,
  args = ['serve'],
): Promise<number> {
  const terminal = fakeTerminal(env);
  const listening = new Promise<void>((resolve) => {
    const print = terminal.print;
    terminal.print = (text) => {
      print(text);
      resolve();
    };
  });
  const code = runProgram(args, terminal);
  await Promise.race([listening, code]);
  try {
    await use(terminal);
  } finally {
    terminal.interrupt();
  }
  return code;
}

/** Sends what the printed command line would: its URL, its headers, its body. */
async function paste(curl: string): Promise<{ status: number; body: { id: string; status: string } }> {
  const url = /curl (\S+)/.exec(curl)?.[1] ?? '';
  const headers = Object.fromEntries(
    [...curl.matchAll(/-H '([^:']+): ([^']+)'/g)].map((match) => [match[1], match[2]]),
  );
  const body = /-d '([^']+)'/.exec(curl)?.[1] ?? '';
  const response = await request(url, { method: 'POST', headers, body });
  return {
    status: response.statusCode,
    body: (await response.body.json()) as { id: string; status: string },
  };
}

test('the first start shows a test key and a command line that sends; the second does not, and dev reads no file', async () => {
  const env = environment({ POSTRIDER_DATA_DIR: temporaryDirectory('serve') });
  const first = await whileServing(env, async ({ output }) => {
    const [listens, dashboard, key] = output.split('\n');
    assert.match(listens ?? '', /^Postrider listens on http:\/\/127\.0\.0\.1:\d+$/);
    assert.match(dashboard ?? '', /^Set up the dashboard .*: http:\/\/localhost:\d+\/link\/[\w-]{43}$/);
    assert.match(key ?? '', /^Test key \(shown once\): svc_dev_\w{40}$/);
    const { status, body } = await paste(output.slice(output.indexOf('curl ')));
    assert.equal(status, 200);
    assert.equal(body.status, 'queued');
  });
  assert.equal(first, 0);
  const second = await whileServing(
    { ...env, POSTRIDER_CONFIG: '/nonexistent/config.yaml' },
    async ({ output }) =>
      assert.match(output, /^Postrider listens on http:\/\/127\.0\.0\.1:\d+\nSet up the dashboard [^\n]*\n$/),
    ['dev'],
  );
  assert.equal(second, 0);
});

test('with a configuration file no key is made that only a log would see', async () => {
  const env = environment();
  const file = join(env['POSTRIDER_DATA_DIR'] ?? '', 'config.yaml');
  writeFileSync(file, 'hostname: mail.example.com\n');
  await whileServing(
    env,
    async ({ output }) => {
      assert.doesNotMatch(output, /svc_/);
      assert.match(output, /No API key exists yet: postrider tenant create.*\n.*postrider person link/);
    },
    ['serve', '--config', file],
  );
});

test('SIGHUP reads the configuration again, and a wrong one changes nothing', async () => {
  const env = environment();
  const file = join(env['POSTRIDER_DATA_DIR'] ?? '', 'config.yaml');
  const log = join(env['POSTRIDER_DATA_DIR'] ?? '', 'log');
  delete env['POSTRIDER_LOG_LEVEL'];
  writeFileSync(file, 'hostname: mail.example.com\nlog: { level: info }\n');
  const program = spawn(PROGRAM, ['serve'], {
    env: { ...env, PATH: process.env['PATH'], POSTRIDER_CONFIG: file },
    stdio: ['ignore', openSync(log, 'w'), 'inherit'],
  });
  const messages = () =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line).msg);
  try {
    await waitUntil(() => /No API key exists yet/.test(readFileSync(log, 'utf8')), 'the start');
    writeFileSync(file, 'hostname: mail.example.com\nlog: { level: nonsense }\n');
    program.kill('SIGHUP');
    await waitUntil(
      () => messages().includes('the configuration is wrong, and nothing has changed'),
      'the refusal',
    );
    writeFileSync(file, 'hostname: mail2.example.com\nlog: { level: info }\nretention: { eventDays: 60 }\n');
    program.kill('SIGHUP');
    await waitUntil(() => messages().includes('changed settings need a restart'), 'the second reload');
  } finally {
    program.kill('SIGTERM');
  }
  assert.deepEqual(await once(program, 'exit'), [0, null]);
  const lines = readFileSync(log, 'utf8').split('\n');
  const applied = lines.find((line) => line.includes('"configuration and certificates read again"')) ?? '{}';
  assert.deepEqual(JSON.parse(applied).settings, ['retention.eventDays']);
});

test('a port in use is one line', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const address = other.address();
  assert.ok(typeof address === 'object' && address !== null);
  const terminal = fakeTerminal(environment({ POSTRIDER_HTTP_PORT: String(address.port) }));
  assert.equal(await runProgram(['serve'], terminal), 1);
  other.close();
  assert.equal(terminal.output, '');
  assert.match(terminal.errors, /^error: port \d+ of 127\.0\.0\.1 is in use by another program: .+\n$/);
});

test('a data directory that cannot be used is one line, for the daemon and for commands', async () => {
  const file = join(temporaryDirectory('serve'), 'file');
  writeFileSync(file, '');
  for (const args of [['serve'], ['tenant', 'list']]) {
    const terminal = fakeTerminal(environment({ POSTRIDER_DATA_DIR: file }));
    assert.equal(await runProgram(args, terminal), 1);
    assert.match(terminal.errors, /^error: cannot use the data directory \/.+ \(.+file.+\): .+\n$/);
  }
});

test('a data directory below /proc ends the start with one line', async () => {
  // Node's recursive mkdir would never return here, and no signal would end the process.
  const failure = await failureOf('/proc/postrider/data');
  assert.match(
    failure,
    /^error: cannot use the data directory \/proc\/postrider\/data \(ENOENT: .+ mkdir '\/proc\/postrider'\)/,
  );
});

test('a daemon whose data directory is below /proc ends by itself, and at SIGTERM', async () => {
  const start = () =>
    spawn(PROGRAM, ['serve'], {
      env: environment({ POSTRIDER_DATA_DIR: '/proc/x', PATH: process.env['PATH'] ?? '' }),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  const alone = start();
  let errors = '';
  alone.stderr.on('data', (text: Buffer) => {
    errors += text.toString();
  });
  assert.deepEqual(await once(alone, 'close'), [1, null]);
  assert.match(errors, /^error: cannot use the data directory \/proc\/x [^\n]+\n$/);
  const stopped = start();
  stopped.kill('SIGTERM');
  const [, signal] = (await once(stopped, 'close')) as [number | null, string | null];
  assert.equal(signal, 'SIGTERM');
});

/** Runs `args` on the directory and returns the one line of its failure. */
async function failureOf(dataDir: string, args = ['serve']): Promise<string> {
  const terminal = fakeTerminal(environment({ POSTRIDER_DATA_DIR: dataDir }));
  assert.equal(await runProgram(args, terminal), 1);
  assert.equal(terminal.output, '');
  assert.match(terminal.errors, /^error: [^\n]+\n$/);
  return terminal.errors;
}

test('a failed start prints one line with the file and with what to do', async () => {
  const dataDir = newDataDirectory();
  const inside = (name: string) => join(dataDir, name);
  assert.equal(
    await runProgram(['tenant', 'list'], fakeTerminal(environment({ POSTRIDER_DATA_DIR: dataDir }))),
    0,
  );

  writeFileSync(inside('control.sock'), 'precious');
  assert.match(await failureOf(dataDir), /control\.sock is in the way: it is a file, not a socket/);
  rmSync(inside('control.sock'));
  mkdirSync(inside('control.sock'));
  assert.match(await failureOf(dataDir), /control\.sock is in the way: it is a folder, not a socket/);
  rmSync(inside('control.sock'), { recursive: true });

  const stranger = createServer((socket) =>
    socket
      .on('error', () => {})
      .resume()
      .end('220 hello\r\n'),
  );
  await new Promise<void>((resolve) => stranger.listen(inside('control.sock'), resolve));
  assert.match(await failureOf(dataDir), /another process answers on \/.+control\.sock.+ss -lxp/);
  assert.match(
    await failureOf(dataDir, ['tenant', 'list']),
    /control\.sock does not answer as a daemon does/,
  );
  await new Promise((resolve) => stranger.close(resolve));

  writeFileSync(inside('blobs'), 'in the way');
  assert.match(await failureOf(dataDir), /cannot use the data directory .+ENOTDIR.+blobs/);
  rmSync(inside('blobs'));

  writeFileSync(inside('lock.db'), 'not a database, and longer than its header would be. '.repeat(20));
  assert.match(await failureOf(dataDir), /lock\.db is damaged .+ delete it and start again/);
  rmSync(inside('lock.db'));

  overwrite(inside('postrider.db'), { position: 100, bytes: Buffer.alloc(8, 0xff) });
  assert.match(
    await failureOf(dataDir),
    /postrider\.db is damaged \(SQLITE_CORRUPT.+ put a backup in its place/,
  );
  overwrite(inside('postrider.db'), { position: 0, bytes: Buffer.alloc(100, 0xff) });
  assert.match(await failureOf(dataDir), /postrider\.db is not a database: its header is damaged/);
});

function overwrite(path: string, { position, bytes }: { position: number; bytes: Buffer }): void {
  const descriptor = openSync(path, 'r+');
  writeSync(descriptor, bytes, 0, bytes.length, position);
  closeSync(descriptor);
}

test('a data directory in use is one line', async () => {
  const { dataDir, close } = await openTestApp();
  const terminal = fakeTerminal(environment({ POSTRIDER_DATA_DIR: dataDir }));
  assert.equal(await runProgram(['serve'], terminal), 1);
  await close();
  assert.equal(terminal.errors, `error: another Postrider process is using ${dataDir}\n`);
});

test('--json is one object, and a master key that is missing is one line', async () => {
  const env = environment();
  await whileServing(
    env,
    async ({ output }) => {
      const { address, testKey } = JSON.parse(output);
      const endpoint = { url: 'https://example.com/hooks', events: ['email.sent'] };
      const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' };
      const body = JSON.stringify(endpoint);
      const { statusCode } = await request(`${address}/v1/webhooks`, { method: 'POST', headers, body });
      assert.equal(statusCode, 201);
    },
    ['serve', '--json'],
  );
  rmSync(join(env['POSTRIDER_DATA_DIR'] ?? '', 'master.key'));
  const terminal = fakeTerminal(env);
  assert.equal(await runProgram(['serve'], terminal), 1);
  assert.match(terminal.errors, /^error: \/.+master\.key is missing: restore the key .+\n$/);
});

test('the daemon and the commands print one line for a wrong master key and for a missing database', async () => {
  const env = environment();
  await whileServing(env, async () => {});
  const dataDir = env['POSTRIDER_DATA_DIR'] ?? '';
  const refused = async (args: string[]) => {
    const terminal = fakeTerminal(env);
    assert.equal(await runProgram(args, terminal), 1);
    return terminal.errors;
  };
  const key = readFileSync(join(dataDir, 'master.key'));
  writeFileSync(join(dataDir, 'master.key'), 'ab'.repeat(32));
  for (const args of [['serve'], ['tenant', 'list']]) {
    assert.match(
      await refused(args),
      /^error: \/.+master\.key is not the key that .+: restore that key.+\n$/,
    );
  }
  writeFileSync(join(dataDir, 'master.key'), key);
  const away = join(temporaryDirectory('serve'), 'postrider.db');
  copyFileSync(join(dataDir, 'postrider.db'), away);
  rmSync(join(dataDir, 'postrider.db'));
  for (const args of [['serve'], ['tenant', 'list']]) {
    assert.match(await refused(args), /^error: \/.+postrider\.db is missing, but .+ --new-database.+\n$/);
  }
  await whileServing(
    env,
    async ({ output, errors }) => {
      assert.match(output, /^Test key/m);
      assert.match(errors, /^Warning: a new database was made in a data directory that was in use\.$/m);
    },
    ['serve', '--new-database'],
  );
  copyFileSync(away, join(dataDir, 'postrider.db'));
  await whileServing(env, async ({ output, errors }) => {
    assert.doesNotMatch(output, /Test key/);
    assert.match(errors, /^Warning: postrider\.db is an older copy: .+$/m);
    assert.match(errors, /^That database was last used .+ no file in blobs\/ is removed\.$/m);
  });
});
