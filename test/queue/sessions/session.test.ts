import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import type { Claim } from '../../../src/queue/claim.ts';
import { Addresses } from '../../../src/queue/sessions/addresses.ts';
import { startSession } from '../../../src/queue/sessions/session.ts';
import type { SessionContext } from '../../../src/queue/sessions/session-context.ts';
import type { Dial } from '../../../src/system/dial.ts';
import { closeAfterEach } from '../../support/close-after.ts';
import { acceptEverything, startCommandServer } from '../../support/command-server.ts';
import { dialLoopback } from '../../support/loopback.ts';
import { deliveryAppOf, openSpool, type Spool } from '../../support/spool.ts';
import { waitUntil } from '../../support/wait-until.ts';

const MINUTE_MS = 60_000;
const closing = closeAfterEach();

async function startServer(answer: (line: string) => string | undefined) {
  return closing(await startCommandServer(answer));
}

/** Opens a spool whose hosts are all this one. */
async function openWorld(host: number | Dial): Promise<Spool> {
  const dial: Dial =
    typeof host === 'number'
      ? (target) => dialLoopback({ ...target, address: '127.0.0.1', port: host })
      : host;
  return closing(await openSpool({ system: { dial } }));
}

/**
 * Opens a site with one host, which has claimed all mail that is due and claims no more. With `isPressed` other mail waits for its
 * connections.
 */
async function openSite(
  spool: Spool,
  { isAbandoned = false, isPressed = false, isResting = false, isServedByOthers = false } = {},
) {
  const claimed: Claim[] = await spool.claim();
  /** Ids of the claims that were taken, and of those that ended. */
  const taken: number[] = [];
  const ended: number[] = [];
  const reports: string[] = [];
  let isGivenUp = false;
  const context: SessionContext = {
    route: {
      kind: 'hosts',
      site: 'mx.example',
      hosts: [{ name: 'mx.example', addresses: ['192.0.2.1'] }],
      ttlMs: 1,
      relay: null,
      source: null,
      warmUp: null,
      fullWarmUp: null,
    },
    addresses: new Addresses(),
    messagesPerConnection: 100,
    async next({ isLost }) {
      isGivenUp ||= isPressed && isLost;
      const claim = claimed.shift();
      if (claim) taken.push(claim.id);
      return claim && { claim, isGivenUp };
    },
    startSending: () => !isAbandoned,
    putBack: (undecided) => claimed.unshift(undecided),
    settled: (id) => ended.push(id),
    report: ({ kind }) => reports.push(kind),
    isPressed: () => isPressed,
    isResting: () => isResting,
    isServedByOthers: () => isServedByOthers,
  };
  const sendAll = async () => {
    while (claimed.length > 0) await startSession(deliveryAppOf(spool.app), context).ended;
    assert.deepEqual(ended.toSorted(), taken.toSorted(), 'each claim has ended, and none twice');
  };
  return { reports, sendAll };
}

test('an error before anything is sent counts as internal, and the mail does not stay in flight', async () => {
  const spool = await openWorld(async () => ({}) as unknown as Socket);
  const id = await spool.accept('bob@rcpt.example');
  await (await openSite(spool)).sendAll();
  const recipient = await spool.recipient(id);
  assert.equal(recipient.status, 'deferred');
  assert.match(recipient.diagnostic, /^Local error: /);
});

test('mail that waited too long behind other mail is not begun, and says nothing of the site', async () => {
  const server = await startServer(acceptEverything);
  const spool = await openWorld(server.port);
  const id = await spool.accept('bob@rcpt.example');
  const { sendAll, reports } = await openSite(spool);
  await spool.clock.advance(45 * MINUTE_MS);
  await sendAll();
  const recipient = await spool.recipient(id);
  assert.equal(recipient.status, 'deferred');
  assert.match(recipient.diagnostic, /^Not tried: /);
  assert.deepEqual([server.connections(), reports], [0, []]);
});

test('a 421 in the middle of a message counts once, however many recipients the message has', async () => {
  const server = await startServer((line) => (line === '.' ? '421 4.3.2 closing' : acceptEverything(line)));
  const spool = await openWorld(server.port);
  await spool.accept(Array.from({ length: 10 }, (_, index) => `user${index}@rcpt.example`));
  const { sendAll, reports } = await openSite(spool);
  await sendAll();
  assert.deepEqual(reports, ['refused']);
});

test('a host that breaks off over one mail is tried with the next one, where there is no other', async () => {
  const server = await startServer((line) =>
    line.startsWith('RCPT TO:<bad@') ? undefined : acceptEverything(line),
  );
  const spool = await openWorld(server.port);
  const bad = await spool.accept('bad@rcpt.example');
  const good = await spool.accept('good@rcpt.example');
  await spool.accept('bad@rcpt.example');
  const { sendAll, reports } = await openSite(spool);
  await sendAll();
  assert.equal((await spool.recipient(bad)).status, 'deferred');
  assert.equal((await spool.recipient(good)).status, 'delivered');
  assert.ok(server.connections() <= 3, `${server.connections()} connections for three mails`);
  assert.deepEqual(
    new Set(reports),
    new Set(['broke-off', 'accepted']),
    'a host that was not asked has refused nothing',
  );
});

test('a session that opens after the time to stop was up sends nothing', async () => {
  const verbs: string[] = [];
  const server = await startServer((line) => {
    verbs.push(line.slice(0, 4));
    return acceptEverything(line);
  });
  const spool = await openWorld(server.port);
  await spool.accept('bob@rcpt.example');
  await (await openSite(spool, { isAbandoned: true })).sendAll();
  assert.ok(verbs.includes('EHLO') && !verbs.includes('MAIL'), verbs.join());
});

test('a host that hangs loses its connection while other mail needs it, and its mail is deferred with the reason', async () => {
  let asked = 0;
  const server = await startServer((line) => {
    if (!line.startsWith('RCPT')) return acceptEverything(line);
    asked++;
    return '';
  });
  const spool = await openWorld(server.port);
  const ids: string[] = [];
  for (const name of ['ann', 'bob', 'cyd']) ids.push(await spool.accept(`${name}@rcpt.example`));
  const { sendAll, reports } = await openSite(spool, { isPressed: true });
  const sent = sendAll();
  await waitUntil(() => asked > 0);
  await spool.clock.advance(30_000);
  await sent;
  const texts: string[] = [];
  for (const id of ids) {
    const recipient = await spool.recipient(id);
    assert.equal(recipient.status, 'deferred');
    texts.push(recipient.diagnostic);
  }
  const left =
    'Not tried: the host did not answer while it was sent another email, and other mail needed the connection';
  assert.deepEqual(texts, [
    'mx.example (RCPT TO): the answer took longer than 30000 ms while connections were scarce',
    left,
    left,
  ]);
  assert.deepEqual([asked, server.connections()], [1, 1]);
  assert.deepEqual(reports, ['broke-off']);
});

test('mail whose connection a site refuses with 421 goes through the others, and no attempt is stored', async () => {
  let greetings = 0;
  const server = await startServer((line) => {
    if (!line.startsWith('EHLO')) return acceptEverything(line);
    return ++greetings === 1 ? '421 4.7.0 too many connections' : acceptEverything(line);
  });
  const spool = await openWorld(server.port);
  const id = await spool.accept('bob@rcpt.example');
  const { sendAll, reports } = await openSite(spool, { isServedByOthers: true });
  await sendAll();
  assert.deepEqual([(await spool.recipient(id)).status, reports], ['delivered', ['refused', 'accepted']]);
  const attempts = await spool.app.db.read.selectFrom('attempts').select('outcome').execute();
  assert.deepEqual(attempts, [{ outcome: 'delivered' }]);
});

test('mail that a host breaks off is deferred with its outcome when the site rests from then on', async () => {
  const server = await startServer((line) => (line.startsWith('MAIL') ? undefined : acceptEverything(line)));
  const spool = await openWorld(server.port);
  const id = await spool.accept('bob@rcpt.example');
  const { sendAll, reports } = await openSite(spool, { isResting: true });
  await sendAll();
  const { status, diagnostic } = await spool.recipient(id);
  assert.deepEqual([status, reports], ['deferred', ['broke-off']]);
  assert.match(diagnostic, /closed/);
});
