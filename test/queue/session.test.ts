import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, test } from 'node:test';
import { createSigningKeys } from '../../src/domains/signing-key.ts';
import { Addresses } from '../../src/queue/connect.ts';
import type { Claimed } from '../../src/queue/deliver.ts';
import { Pace } from '../../src/queue/pace.ts';
import { runSession } from '../../src/queue/session.ts';
import type { Site } from '../../src/queue/site.ts';
import { Slots } from '../../src/queue/slots.ts';
import { createTargetGuard } from '../../src/system/blocklist.ts';
import { createDial, type Dial } from '../../src/system/dial.ts';
import { startCommandServer } from '../support/command-server.ts';
import { pause } from '../support/pause.ts';
import { openSpool, type Spool } from '../support/spool.ts';

const MINUTE_MS = 60_000;
/** Real sockets take real time, and none of it is long. */
const CLOCKLESS = { now: Date.now, elapsed: () => performance.now(), after: () => ({ cancel() {} }) };
const toLoopback = createDial(createTargetGuard({ allow: ['127.0.0.0/8'], own: [] }), CLOCKLESS);
const opened: { close(): unknown }[] = [];
after(async () => {
  for (const one of opened) await one.close();
});

async function startServer(answer: (line: string) => string | undefined) {
  const server = await startCommandServer(answer);
  opened.push(server);
  return server;
}

function obliging(line: string): string {
  if (line === 'DATA') return '354 go on';
  return /^(EHLO|MAIL|RCPT|RSET|QUIT)/.test(line) ? '250 ok' : line === '.' ? '250 taken' : '';
}

function toPort(port: number): Dial {
  return (target) => toLoopback({ ...target, address: '127.0.0.1', port });
}

async function openWorld(dial: Dial): Promise<Spool> {
  const spool = await openSpool({ system: { dial } });
  opened.push(spool);
  return spool;
}

/**
 * Opens a site with one host and two connections, which has claimed all mail that is due and claims no more. With
 * `isPressed` other mail waits for its connections.
 */
async function openPlace(spool: Spool, { isAbandoned = false, isPressed = false } = {}) {
  const claimed: Claimed[] = await spool.claim();
  const pace = new Pace(2);
  const site = {
    route: {
      kind: 'hosts',
      site: 'mx.example',
      hosts: [{ name: 'mx.example', addresses: ['192.0.2.1'] }],
      ttlMs: 1,
    },
    addresses: new Addresses(),
    pace,
    sending: new Set(),
    isAbandoned,
    take: async () => claimed.shift(),
    takeLast: async () => claimed.shift(),
    putBack: (one: Claimed) => claimed.unshift(one),
  } as unknown as Site;
  const app = { ...spool.app, signingKeys: createSigningKeys(spool.app) };
  const slot = new Slots(2).open(spool.tenantId, false);
  const permit = { slot, isPressed: () => isPressed, shouldContinue: () => !isPressed };
  const carryAll = async () => {
    while (claimed.length > 0) await runSession(app, site, permit);
  };
  return { pace, carryAll };
}

test('what goes wrong before anything is sent is put down to us, and the mail does not stay in flight', async () => {
  const spool = await openWorld(async () => ({}) as unknown as Socket);
  const id = await spool.accept('bob@rcpt.example');
  await (await openPlace(spool)).carryAll();
  const [recipient] = (await spool.email(id)).recipients;
  assert.equal(recipient.status, 'deferred');
  assert.match(recipient.diagnostic, /^Local error: /);
});

test('mail that waited too long behind other mail is not begun, and says nothing of the place', async () => {
  const server = await startServer(obliging);
  const spool = await openWorld(toPort(server.port));
  const id = await spool.accept('bob@rcpt.example');
  const { carryAll, pace } = await openPlace(spool);
  await spool.clock.advance(45 * MINUTE_MS);
  await carryAll();
  const [recipient] = (await spool.email(id)).recipients;
  assert.equal(recipient.status, 'deferred');
  assert.match(recipient.diagnostic, /^Not tried: /);
  assert.deepEqual([server.connections(), pace.connections], [0, 2]);
});

test('a goodbye in the middle of a message counts once, however many recipients it had', async () => {
  const server = await startServer((line) => (line === '.' ? '421 4.3.2 closing' : obliging(line)));
  const spool = await openWorld(toPort(server.port));
  await spool.accept(Array.from({ length: 10 }, (_, index) => `user${index}@rcpt.example`));
  const { carryAll, pace } = await openPlace(spool);
  await carryAll();
  assert.equal(pace.suspendedOutcome(Math.random, 0, 1), undefined);
  assert.equal(pace.connections, 1);
});

test('a host that breaks off over one mail is tried with the next one, where there is no other', async () => {
  const server = await startServer((line) => (line.startsWith('RCPT TO:<bad@') ? undefined : obliging(line)));
  const spool = await openWorld(toPort(server.port));
  const bad = await spool.accept('bad@rcpt.example');
  const good = await spool.accept('good@rcpt.example');
  await spool.accept('bad@rcpt.example');
  const { carryAll, pace } = await openPlace(spool);
  await carryAll();
  assert.equal((await spool.email(bad)).recipients[0].status, 'deferred');
  assert.equal((await spool.email(good)).recipients[0].status, 'delivered');
  assert.ok(server.connections() <= 3, `${server.connections()} connections for three mails`);
  assert.equal(pace.connections, 2, 'a host that was not asked has refused nothing');
});

test('a session that opens after the time to stop was up carries nothing', async () => {
  const verbs: string[] = [];
  const server = await startServer((line) => {
    verbs.push(line.slice(0, 4));
    return obliging(line);
  });
  const spool = await openWorld(toPort(server.port));
  await spool.accept('bob@rcpt.example');
  await (await openPlace(spool, { isAbandoned: true })).carryAll();
  assert.ok(verbs.includes('EHLO') && !verbs.includes('MAIL'), verbs.join());
});

test('a host that hangs loses its connection while other mail needs it, and its mail is deferred with the reason', async () => {
  let asked = 0;
  const server = await startServer((line) => {
    if (!line.startsWith('RCPT')) return obliging(line);
    asked++;
    return '';
  });
  const spool = await openWorld(toPort(server.port));
  const ids: string[] = [];
  for (const name of ['ann', 'bob', 'cyd']) ids.push(await spool.accept(`${name}@rcpt.example`));
  const { carryAll, pace } = await openPlace(spool, { isPressed: true });
  pace.delivered(0);
  const carried = carryAll();
  while (asked === 0) await pause();
  await spool.clock.advance(30_000);
  await carried;
  const texts: string[] = [];
  for (const id of ids) {
    const [recipient] = (await spool.email(id)).recipients;
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
  assert.equal(pace.isProven(0), false);
});
