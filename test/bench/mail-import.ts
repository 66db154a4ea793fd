/**
 * The mail of a user of Dovecot moves in: mbsync, which copies it into a maildir and flushes each message, and an import of Postrider
 * into a new mailbox. Both use TLS.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { installPackages } from '../support/debian.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { mbsyncSettings } from '../support/mbsync-settings.ts';
import { withLoopDelay } from './event-loop.ts';
import { DOVECOT_HOST, DOVECOT_PACKAGES, type DovecotPeer, startDovecot } from './imap/dovecot-peer.ts';
import { type PostriderImap, startPostriderImap } from './imap/postrider-server.ts';
import { FOLDER, fillSystem } from './imap/system.ts';
import type { Group, Measure } from './row.ts';
import type { Workspace } from './workspace.ts';

const TIMEOUT_MS = 600_000;
const POLL_MS = 20;
const run = promisify(execFile);

/** Returns the group for a mailbox of this size. */
export function mailImport(messages: number): Group {
  return {
    name: 'import',
    async prepare(workspace) {
      if (process.getuid?.() !== 0) return { unavailable: 'Dovecot runs only as root' };
      const reason = installPackages({ ...DOVECOT_PACKAGES, isync: '/usr/bin/mbsync' });
      if (reason !== undefined) return { unavailable: reason };
      const source = once(async () => fillSystem(await startDovecot(workspace, 'maildir', 1), messages));
      const target = once(async () => startImporter(workspace, await source()));
      const job = 'IMAP, import' as const;
      return {
        rows: [
          {
            ...{ name: 'mbsync: import from Dovecot', unit: 'msg/s', comparison: { job, role: 'peer' } },
            measure: async () => measureMbsync(workspace, await source(), messages),
          },
          {
            ...{ name: 'Postrider: import from Dovecot', unit: 'msg/s', aim: '>= 1 x, loop p99 < 20 ms' },
            comparison: { job, role: 'measured' },
            measure: async () => {
              const [postrider, dovecot] = [await target(), await source()];
              return withLoopDelay(postrider.daemon, () => measurePostrider(postrider, dovecot, messages));
            },
          },
        ],
      };
    },
  };
}

/** Starts a daemon that finds Dovecot by its name, and trusts its certificate. */
async function startImporter(workspace: Workspace, { certificate }: DovecotPeer): Promise<PostriderImap> {
  const dns = await startDnsServer(`${DOVECOT_HOST} A 127.0.0.1`);
  return startPostriderImap(workspace, 1, {
    POSTRIDER_DNS_SERVERS: dns.address,
    POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8',
    NODE_EXTRA_CA_CERTS: certificate,
  });
}

async function measureMbsync(
  workspace: Workspace,
  { port, users, certificate }: DovecotPeer,
  messages: number,
): Promise<Measure> {
  const folder = workspace.newFolder('mbsync');
  const { username, password } = users[0] ?? fail('Dovecot has no users');
  const settings = join(folder, 'mbsyncrc');
  const account = { host: 'localhost', port, user: username, password, certificate };
  const channel = ['Create Near', 'Sync Pull'];
  writeFileSync(settings, mbsyncSettings({ ...account, folder, pattern: FOLDER, channel }));
  const startedAt = performance.now();
  await run('mbsync', ['-c', settings, '-a'], { timeout: TIMEOUT_MS });
  return { figure: rate(messages, startedAt) };
}

let mailboxes = 0;

async function measurePostrider(
  { daemon, key }: PostriderImap,
  { port, users }: DovecotPeer,
  messages: number,
): Promise<Measure> {
  const address = `import${++mailboxes}@sandbox.postrider.test`;
  const mailbox = await created(daemon, key, '/v1/mailboxes', { address, password: 'secret-word' });
  const { username: user, password } = users[0] ?? fail('Dovecot has no users');
  const path = `/v1/mailboxes/${mailbox}/imports`;
  const startedAt = performance.now();
  const id = await created(daemon, key, path, { host: DOVECOT_HOST, port, user, password });
  for (;;) {
    const { body } = await daemon.request('GET', `${path}/${id}`, key);
    const { status, imported, error } = body as { status: string; imported: number; error: string | null };
    if (status === 'failed' || error !== null) throw new Error(`the import failed: ${error}`);
    if (status === 'completed' && imported === messages) return { figure: rate(messages, startedAt) };
    if (status === 'completed') throw new Error(`${imported} of ${messages} messages were imported`);
    if (performance.now() - startedAt > TIMEOUT_MS) throw new Error('the import does not end');
    await delay(POLL_MS);
  }
}

async function created(
  daemon: PostriderImap['daemon'],
  key: string,
  path: string,
  body: object,
): Promise<string> {
  const answer = await daemon.request('POST', path, key, body);
  if (answer.status !== 201) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`);
  return (answer.body as { id: string }).id;
}

function rate(messages: number, startedAt: number): number {
  return (messages * 1_000) / (performance.now() - startedAt);
}

function fail(message: string): never {
  throw new Error(message);
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
