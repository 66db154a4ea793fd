/** Runs of imports from servers that answer late. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { NO_COUNTS } from '../../src/mailbox-imports/counts.ts';
import { startImportReader } from '../../src/mailbox-imports/part.ts';
import type { RunEnd } from '../../src/mailbox-imports/run.ts';
import { watchRun } from '../../src/mailbox-imports/run-import.ts';
import { sleep, TimeoutError } from '../../src/system/clock.ts';
import type { DialTarget } from '../../src/system/dial.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';
import { createImporter, HOST, sourceSystem, startScripted } from './fixture.ts';

const clock = createFakeClock(Date.UTC(2026, 0, 1));
const world = await openTestApp({ system: { clock } });
after(() => world.close());

const PIECE_BYTES = 1024 * 1024;

/** Time after which the server answers a FETCH of a piece, below the limit of one exchange. */
const ANSWER_MS = 29_000;

/** Starts a server with messages of these sizes, the large ones of which it sends slowly. `pieces` counts what it has sent of those. */
async function startSlow(t: TestContext, sizes: readonly number[]) {
  const sent = { pieces: 0 };
  const uids = sizes.map((_, index) => index + 1);
  const port = await startScripted(t, async (command) => {
    if (command.startsWith('EXAMINE'))
      return `* ${sizes.length} EXISTS\r\n* OK [UIDVALIDITY 7] ok\r\nTAG OK [READ-ONLY] done\r\n`;
    if (command.startsWith('UID SEARCH')) return `* SEARCH ${uids.join(' ')}\r\nTAG OK done\r\n`;
    const [, uid = ''] = /^UID FETCH (\d+)/.exec(command) ?? [];
    if (uid === '') return undefined;
    if (!command.includes('BODY')) {
      const described = uids.map(
        (one) => `* ${one} FETCH (UID ${one} FLAGS () RFC822.SIZE ${sizes[one - 1]})\r\n`,
      );
      return `${described.join('')}TAG OK done\r\n`;
    }
    const size = Math.min(sizes[Number(uid) - 1] ?? 0, PIECE_BYTES);
    if (size === PIECE_BYTES) {
      await clock.advance(ANSWER_MS);
      sent.pieces += 1;
    }
    return `* ${uid} FETCH (UID ${uid} BODY[] {${size}}\r\n${'x'.repeat(size)})\r\nTAG OK done\r\n`;
  });
  return { port, sent };
}

const TOO_SLOW = 60 * PIECE_BYTES;

test('a large message that takes more than ten minutes is an error', async (t) => {
  const { port, sent } = await startSlow(t, [TOO_SLOW]);
  const { run } = await createImporter(world);
  const { end, errors } = await run(port);
  assert.equal(end.kind, 'paused');
  assert.deepEqual(errors, [{ folder: 'INBOX', uid: 1, message: 'The server is too slow' }]);
  assert.equal(sent.pieces, Math.ceil(600_000 / ANSWER_MS));
});

test('messages that take whole runs do not keep those behind them from being imported', async (t) => {
  const { port } = await startSlow(t, [TOO_SLOW, TOO_SLOW, 5]);
  const { run } = await createImporter(world);
  const failed: { folder: string; uid: number }[] = [];
  for (const uid of [1, 2]) {
    const { end, errors, counts } = await run(port, { failed });
    assert.deepEqual([end.kind, errors.map((error) => error.uid), counts.failed], ['paused', [uid], uid]);
    failed.push(...errors);
  }
  const { end, errors, counts } = await run(port, { failed });
  const { messages, imported } = counts;
  assert.deepEqual([end.kind, errors, messages, imported, counts.failed], ['completed', [], 3, 1, 2]);
});

test('what a run waits for is ended after its maximum time, unless it was stopped', async () => {
  const ended: string[] = [];
  const watch = (name: string) => {
    const onEnd = () => ended.push(name);
    return watchRun(clock, { progress: { report: async () => {} }, maxMs: 60_000, onEnd });
  };
  const first = watch('first');
  watch('second').stop();
  await clock.advance(59_999);
  assert.deepEqual([first.failure, ended], [undefined, []]);
  await clock.advance(1);
  assert.match(first.failure?.message ?? '', /too slow/);
  assert.deepEqual(ended, ['first']);
  first.stop();
});

test('an import that is deleted while its server is silent ends its run', async (t) => {
  const asked = Promise.withResolvers<void>();
  const port = await startScripted(t, (command) => {
    if (!command.startsWith('EXAMINE')) return undefined;
    asked.resolve();
    return '';
  });
  const { run, target } = await createImporter(world);
  let isDeleted = false;
  target.advance = async () => !isDeleted;
  const running = run(port);
  await asked.promise;
  isDeleted = true;
  await clock.advance(10_000);
  assert.deepEqual((await running).end, { kind: 'stale' });
});

/** The behaviour of a port: it refuses or drops connections, or a server there sends this text. */
type Unknown = { dial?(target: DialTarget, failed: () => void): Promise<Socket>; plain?: string };

/** Makes a run that meets no IMAP server, and checks that it ends 30 s after it began, and how. `failed` resolves when that is clear. */
async function assertUnknown(t: TestContext, { dial, plain }: Unknown): Promise<void> {
  const failed = Promise.withResolvers<void>();
  const port = plain === undefined ? 4190 : await startPlain(t, plain, failed.resolve);
  const system = dial && { dial: (target: DialTarget) => dial(target, failed.resolve) };
  const { run } = await createImporter(world, system);
  let end: RunEnd | undefined;
  const running = run(port, { security: 'starttls' }).then((run) => {
    end = run.end;
  });
  await failed.promise;
  await setImmediate();
  await clock.advance(29_999);
  await setImmediate();
  assert.equal(end, undefined);
  await clock.advance(1);
  await running;
  const error = `${HOST}:${port} does not answer as an IMAP server does`;
  assert.deepEqual(end, { kind: 'interrupted', error, hasImported: false });
}

/** Starts a server that sends this, and calls `failed` when the client leaves it, or at once when the server is silent. */
async function startPlain(t: TestContext, text: string, failed: () => void): Promise<number> {
  const server = createServer((socket) => {
    t.after(() => socket.destroy());
    socket.on('error', () => {});
    socket.on('close', failed);
    if (text === '') failed();
    else socket.write(text);
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const refusing = async (_: DialTarget, failed: () => void): Promise<Socket> => {
  failed();
  throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
};
const dropping = async ({ timeoutMs }: DialTarget, failed: () => void): Promise<Socket> => {
  failed();
  await sleep(clock, timeoutMs);
  throw new TimeoutError('connect took too long');
};

for (const [what, unknown] of Object.entries<Unknown>({
  'refuses connections': { dial: refusing },
  'drops connections': { dial: dropping },
  'is silent': { plain: '' },
  'is that of another protocol': { plain: 'SSH-2.0-OpenSSH_9.2\r\n' },
}))
  test(`an import does not tell that a port ${what}`, (t) => assertUnknown(t, unknown));

test('an import that is deleted, or whose thread stops, does not wait any longer', async () => {
  const failed = Promise.withResolvers<void>();
  const dial = (target: DialTarget) => refusing(target, failed.resolve);
  const { run, target, mailbox, spoolFolder } = await createImporter(world, { dial });
  let isDeleted = false;
  target.advance = async () => !isDeleted;
  const running = run(993);
  await failed.promise;
  isDeleted = true;
  await clock.advance(10_000);
  assert.deepEqual((await running).end, { kind: 'stale' });

  isDeleted = false;
  const stopped = Promise.withResolvers<void>();
  const system = { ...world.app, ...sourceSystem(clock) };
  const part = await startImportReader(
    { ...system, dial: (to: DialTarget) => refusing(to, stopped.resolve) },
    target,
  );
  const server = { host: HOST, port: 993, security: 'tls', user: 'ann' } as const;
  const settings = { ...server, password: 'secret', hasLoggedIn: false };
  const parts = { settings, counts: NO_COUNTS, failed: [], spoolFolder };
  const request = { id: 'mim_1', mailboxId: mailbox.id, ...parts } as const;
  const stoppedRun = part.calls.runImport(request);
  await stopped.promise;
  await part.stop(10_000);
  assert.deepEqual(await stoppedRun, { kind: 'paused' });
});
