/**
 * Whether the daemon could live in the sandbox of its unit: it is run under strace as an account without privileges,
 * and everything it asked of the kernel is compared with what the unit allows. (systemd itself need not be running.)
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../support/daemon.ts';
import { until } from './until.ts';

const HOSTNAME = 'post.sender.example';
const CHECKOUT = fileURLToPath(new URL('../../', import.meta.url));
/** nobody and nogroup on Debian. */
const UNPRIVILEGED = 65534;
/** Every system call takes its time under strace. */
const START_MAX_WAIT_MS = 120_000;

const run = promisify(execFile);

let unit: string;
let trace: string;

before(async () => {
  unit = await readFile(join(CHECKOUT, 'systemd', 'postrider.service'), 'utf8');
  trace = await traceDaemon();
});

test('every system call of the daemon is one the unit allows', async () => {
  const made = new Set([...trace.matchAll(/^\d+ +(\w+)\(/gm)].map((match) => match[1] ?? ''));
  assert.ok(made.has('fsync') && made.has('accept4'), [...made].join(' '));
  const allowed = await allowedSystemCalls(unit);
  assert.deepEqual(
    [...made].filter((call) => !allowed.has(call)),
    [],
  );
});

test('every socket of the daemon is of a family the unit allows', () => {
  const allowed = values(unit, 'RestrictAddressFamilies');
  const opened = new Set([...trace.matchAll(/^\d+ +socket\((AF_\w+)/gm)].map((match) => match[1] ?? ''));
  assert.ok(opened.has('AF_INET'), [...opened].join(' '));
  assert.deepEqual(
    [...opened].filter((family) => !allowed.includes(family)),
    [],
  );
});

test('the unit allows none of the calls it names with a tilde', async () => {
  const allowed = await allowedSystemCalls(unit);
  for (const call of ['setuid', 'fchown', 'chroot', 'bpf', 'setrlimit', 'reboot', 'mount', 'ptrace']) {
    assert.ok(!allowed.has(call), call);
  }
});

/** The calls of the daemon from its start over one sent mail to its drained end, as strace wrote them. It sees of /proc what the unit shows. */
async function traceDaemon(): Promise<string> {
  const home = temporaryDirectory('sandbox');
  await chown(home, UNPRIVILEGED, UNPRIVILEGED);
  const file = join(home, 'trace');
  const child = spawn(
    'unshare',
    [
      ...[
        '--mount',
        'sh',
        '-c',
        'mount -t proc -o subset=pid,hidepid=invisible proc /proc && exec "$@"',
        'sh',
      ],
      'strace',
      ...['-f', '-qq', '-o', file, '--signal=none', 'setpriv'],
      ...[`--reuid=${UNPRIVILEGED}`, `--regid=${UNPRIVILEGED}`, '--clear-groups'],
      // So that it can read a checkout that only root can.
      ...['--inh-caps=-all,+dac_read_search', '--ambient-caps=-all,+dac_read_search'],
      ...[join(CHECKOUT, 'bin', 'postrider'), 'serve'],
    ],
    {
      cwd: home,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: home,
        TMPDIR: home,
        POSTRIDER_HOSTNAME: HOSTNAME,
        POSTRIDER_DATA_DIR: join(home, 'data'),
        POSTRIDER_HTTP_PORT: '0',
        POSTRIDER_SMTP_PORT: '0',
        POSTRIDER_SUBMISSION_ENABLED: 'false',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part: Buffer) => {
      output += part.toString();
    });
  }
  const end = (signal: NodeJS.Signals) => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      process.kill(-child.pid, signal);
    }
  };
  process.once('exit', () => end('SIGKILL'));
  const exited = once(child, 'exit');
  const printed = (pattern: RegExp) =>
    until(
      `${pattern} in the output`,
      async () => {
        assert.equal(child.exitCode, null, output);
        return pattern.exec(output)?.[1];
      },
      START_MAX_WAIT_MS,
    );
  try {
    await sendInTestMode(
      await printed(/^Postrider listens on (\S+)$/m),
      await printed(/^Test key[^\n]*?(svc_dev_\S+)/m),
    );
    end('SIGTERM');
    await exited;
  } finally {
    end('SIGKILL');
  }
  const whole = await readFile(file, 'utf8');
  // Before that, strace and setpriv made ready.
  const start = whole.search(/^\d+ +execve\("[^"]*\/bin\/postrider"/m);
  assert.notEqual(start, -1, whole.slice(0, 1_000));
  return whole.slice(start);
}

async function sendInTestMode(address: string, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = {
    from: `hello@sandbox.${HOSTNAME}`,
    to: 'someone@receiver.example',
    subject: 'Hello',
    text: 'Hello\n',
    type: 'transactional',
  };
  const accepted = await fetch(`${address}/v1/emails`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  assert.equal(accepted.status, 200, await accepted.clone().text());
  const { id } = (await accepted.json()) as { id: string };
  await until('the mail is delivered', async () => {
    const seen = await fetch(`${address}/v1/emails/${id}`, { headers });
    return ((await seen.json()) as { status: string }).status === 'delivered';
  });
}

/** systemd.exec(5): the first filter makes an allow-list, `~` takes away from it; `@default` is always allowed. */
async function allowedSystemCalls(unitText: string): Promise<Set<string>> {
  const sets = await systemCallSets();
  const allowed = new Set(expand('@default', sets));
  for (const filter of unitText.matchAll(/^SystemCallFilter=(~?)(.+)$/gm)) {
    const [, deny, names = ''] = filter;
    for (const call of names.split(/\s+/).flatMap((name) => expand(name, sets))) {
      if (deny === '~') allowed.delete(call);
      else allowed.add(call);
    }
  }
  return allowed;
}

/** Each `@set`, with the calls and other sets it holds. */
async function systemCallSets(): Promise<Map<string, string[]>> {
  const { stdout } = await run('systemd-analyze', ['syscall-filter', '--no-pager']);
  const sets = new Map<string, string[]>();
  let members: string[] = [];
  for (const line of stdout.split('\n')) {
    const word = line.trim();
    if (/^@/.test(line)) {
      members = [];
      sets.set(word, members);
    } else if (/^[@a-z_]/.test(word)) {
      members.push(word);
    }
  }
  return sets;
}

function expand(name: string, sets: Map<string, string[]>): string[] {
  if (!name.startsWith('@')) return [name];
  const members = sets.get(name);
  assert.ok(members, `systemd knows no ${name}`);
  return members.flatMap((member) => expand(member, sets));
}

function values(unitText: string, setting: string): string[] {
  return (new RegExp(`^${setting}=(.+)$`, 'm').exec(unitText)?.[1] ?? '').split(/\s+/);
}
