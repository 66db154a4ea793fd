/** Imports tell nobody which ports of other hosts are open. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { NO_COUNTS } from '../../src/mailbox-imports/counts.ts';
import { startImportReader } from '../../src/mailbox-imports/part.ts';
import type { TurnEnd } from '../../src/mailbox-imports/turn.ts';
import { sleep, TimeoutError } from '../../src/system/clock.ts';
import type { DialTarget } from '../../src/system/dial.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';
import { createImporter, HOST, sourceSystem } from './fixture.ts';

const clock = createFakeClock(Date.UTC(2026, 0, 1));
const world = await openTestApp({ system: { clock } });
after(() => world.close());

/** The behaviour of a port: it refuses or drops connections, or a server there sends this text. */
type Unknown = { dial?(target: DialTarget, failed: () => void): Promise<Socket>; plain?: string };

/** Takes a turn that meets no IMAP server, and checks that it ends 30 s after it began, and how. `failed` resolves when that is clear. */
async function assertUnknown(t: TestContext, { dial, plain }: Unknown): Promise<void> {
  const failed = Promise.withResolvers<void>();
  const port = plain === undefined ? 4190 : await startPlain(t, plain, failed.resolve);
  const system = dial && { dial: (target: DialTarget) => dial(target, failed.resolve) };
  const { run } = await createImporter(world, system);
  let end: TurnEnd | undefined;
  const running = run(port, { security: 'starttls' }).then((turn) => {
    end = turn.end;
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

/** Starts a server that sends this, and calls `failed` when the client leaves it, or at once when it is silent. */
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
  'ends connections': { plain: 'SSH-2.0-OpenSSH_9.2\r\n' },
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
  const ofTurn = { settings, counts: NO_COUNTS, failed: [], spoolFolder };
  const request = { id: 'mim_1', mailboxId: mailbox.id, ...ofTurn } as const;
  const turn = part.calls.takeTurn(request);
  await stopped.promise;
  await part.stop(10_000);
  assert.deepEqual(await turn, { kind: 'paused' });
});
