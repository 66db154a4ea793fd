import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { App } from '../../src/app.ts';
import type { SpfResult } from '../../src/mail/auth/result.ts';
import { bounceLocalPart } from '../../src/queue/return-path.ts';
import { createBlocklists, type Listing } from '../../src/receiving/sender/dnsbl.ts';
import { createGreylist } from '../../src/receiving/sender/greylist.ts';
import { deferAttempt, MAX_ATTEMPTS_PER_NETWORK } from '../../src/receiving/sender/store.ts';
import { createGreylistSweep } from '../../src/receiving/sender/worker.ts';
import { createSenderChecks } from '../../src/receiving/session.ts';
import { insertRow } from '../broadcasts/fixtures.ts';
import { openMailWorld, PASS, sendMail } from '../inbound/mail-world.ts';
import { createTestAuthenticator } from '../support/authenticator.ts';
import { zoneDns } from '../support/zone-dns.ts';

const TRUSTED = '127.9.0.1';
const LISTED = '127.66.0.1';
const DNSBL: App['config']['inbound']['dnsbl'] = [
  { zone: 'bl.example', action: 'refuse', answers: ['127.0.0.0/8'] },
];
const ZONE = `
2.0.0.127.bl.example A 127.0.0.2
1.0.66.127.bl.example A 127.0.0.2
1.0.66.127.bl.example TXT "sends spam"
1.0.9.127.bl.example A 127.0.0.2
`;
const greylisting = { enabled: true, delaySeconds: 60, retryHours: 24, keepDays: 36 };
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const world = await openMailWorld({
  env: { POSTRIDER_INBOUND_TRUSTED_RELAYS: `${TRUSTED}/32` },
  replace: (app) => ({
    config: { ...app.config, inbound: { ...app.config.inbound, dnsbl: DNSBL, greylisting } },
    blocklists: createBlocklists({ ...app, dns: zoneDns(ZONE) }, DNSBL),
    greylist: createGreylist(app, greylisting),
  }),
});
const { app, clock } = world;
await world.addDomain('shop.example');
await world.addRoute('*@shop.example');
insertRow(world.test, 'emailAddresses', {
  ...{ tenantId: world.test.tenantId, mode: 'live', address: 'friend@sender.example' },
  emailId: `em_${'0'.repeat(26)}`,
});
const bounceTo = () => {
  const emailId = `em_${'0'.repeat(25)}1` as const;
  return `${bounceLocalPart(app.returnAddressKey, { emailId, attemptedAt: app.clock.now() })}@bounce.mx.postrider.example`;
};

type Sent = { from?: string; to?: string | string[] };

async function send(address: string, { from, to = 'info@shop.example' }: Sent = {}): Promise<string> {
  const client = await world.open(address);
  const reply = await sendMail(client, { ...(from !== undefined && { from }), to });
  client.socket.destroy();
  return reply;
}

const entries = () => app.db.read.selectFrom('greylistEntries').selectAll().execute();

test('a client on a blocklist is refused with the reason of the list', async () => {
  const reply = '550 5.7.1 [127.66.0.1] is listed at bl.example: sends spam\r\n';
  assert.equal(await send(LISTED), reply);
  assert.equal(await send(LISTED, { from: '' }), reply);
  assert.match(await send(LISTED, { to: 'nobody@elsewhere.example' }), /^550 5\.1\.1 /);
  assert.match((await app.metrics.show()).text, /inbound_sender_refusals_total\{check="dnsbl"\} 2/);
});

test('neither check applies to return paths, the postmaster and relays', async () => {
  for (const address of [LISTED, '127.5.0.1']) {
    assert.match(await send(address, { from: '', to: bounceTo() }), /^250/);
    assert.match(await send(address, { to: 'abuse@mx.postrider.example' }), /^250/);
  }
  assert.match(await send(TRUSTED), /^250/);
  assert.deepEqual(await entries(), []);
});

/** Runs with this result of SPF for the sender. */
async function withSpf<T>(result: SpfResult, run: () => Promise<T>): Promise<T> {
  world.knobs.result = { ...PASS, spf: { ...PASS.spf, result } };
  try {
    return await run();
  } finally {
    world.knobs.result = PASS;
  }
}

test('a sender that the tenant has written to is exempt when SPF proves it', async () => {
  for (const address of [LISTED, '127.12.0.1']) {
    world.knobs.inputs.length = 0;
    assert.match(await send(address, { from: 'Friend@sender.example' }), /^250/);
    const [input] = world.knobs.inputs;
    const sender = 'Friend@sender.example';
    const helo = 'mail.sender.example';
    assert.deepEqual(input, { owner: address, address, helo, sender, hostname: 'mx.postrider.example' });
  }
});

test('whoever cannot prove a sender is answered as if the tenant had never written to it', async () => {
  let network = 20;
  for (const result of ['none', 'neutral', 'fail', 'softfail', 'temperror', 'permerror'] as const) {
    network += 1;
    await withSpf(result, async () => {
      for (const address of [LISTED, `127.${network}.0.1`]) {
        const answers: unknown[] = [];
        for (const from of ['friend@sender.example', 'enemy@sender.example']) {
          world.knobs.inputs.length = 0;
          // Both ask for SPF, so the time that it takes tells nothing either.
          answers.push([await send(address, { from }), world.knobs.inputs.length]);
        }
        assert.match(String(answers[0]), /^(?:451 4|550 5)\.7\.1 /, `${result} ${address}`);
        assert.deepEqual(answers[0], answers[1], `${result} ${address}`);
      }
    });
  }
});

test('SPF is known before the message has come', async () => {
  const dns = zoneDns('sender.example TXT "v=spf1 ip4:127.66.0.0/16 -all"');
  const authenticator = createTestAuthenticator({ dns, clock, log: app.log });
  const listing: Listing = { zone: 'bl.example', action: 'refuse', text: '' };
  const blocklists = { find: async () => [listing] };
  const { tenantId } = world.test;
  const targets = [{ kind: 'post', targetId: 'rt_1' }] as const;
  const recipient = { targets, tenantId, address: 'info@shop.example' };
  for (const [address, code] of [
    [LISTED, undefined],
    ['127.67.0.1', 550],
  ] as const) {
    const checks = createSenderChecks({ ...app, authenticator, blocklists });
    const client = { address, helo: 'mail.sender.example' };
    const refusal = await checks.refusalOf({ client, sender: 'friend@sender.example', recipient });
    assert.equal(refusal?.code, code, address);
  }
});

test('a sender is proven once for a message, and not at all when nothing would be refused', async () => {
  const known = '127.13.0.1';
  await send(known);
  await clock.advance(60_000);
  assert.match(await send(known), /^250/);
  world.knobs.inputs.length = 0;
  assert.match(await send(known), /^250/);
  assert.equal(world.knobs.inputs.length, 1, 'the message itself is authenticated');
  const client = await world.open('127.14.0.1');
  world.knobs.inputs.length = 0;
  const commands = ['MAIL FROM:<ann@sender.example>', 'RCPT TO:<a@shop.example>', 'RCPT TO:<b@shop.example>'];
  for (const command of commands) await client.ask(`${command}\r\n`);
  assert.equal(world.knobs.inputs.length, 1);
  await client.ask('RSET\r\n');
  for (const command of commands) await client.ask(`${command}\r\n`);
  assert.equal(world.knobs.inputs.length, 2);
});

test('the first mail from a network is deferred, and a retry in time opens it for all its mail', async () => {
  assert.equal(await send('127.1.0.1'), '451 4.7.1 Your server is not known here yet; try again in 60 s\r\n');
  await clock.advance(20_000);
  assert.match(await send('127.1.0.2'), /^451 4\.7\.1 .* in 40 s\r\n$/);
  await clock.advance(40_000);
  // Another sender is another attempt; other addresses of the network are the same client.
  assert.match(await send('127.1.0.1', { from: 'bob@sender.example' }), /^451 4\.7\.1 /);
  assert.match(await send('127.1.0.2'), /^250/);
  assert.match(await send('127.1.0.3', { from: 'eve@other.example', to: 'new@shop.example' }), /^250/);
  assert.match(await send('127.1.1.1'), /^451 4\.7\.1 /);
  const known = (await entries()).filter(({ network }) => network === '127.1.0');
  const attempts = known.map(({ attempt }) => attempt);
  assert.deepEqual(attempts, ['']);
});

test('all recipients of a deferred message are deferred, and only the first is remembered', async () => {
  const client = await world.open('127.2.0.1');
  await client.ask('MAIL FROM:<ann@sender.example>\r\n');
  assert.match(await client.ask('RCPT TO:<one@shop.example>\r\n'), /^451 4\.7\.1 /);
  assert.match(await client.ask('RCPT TO:<two@shop.example>\r\n'), /^451 4\.7\.1 /);
  assert.match(await client.ask('RCPT TO:<postmaster@shop.example>\r\n'), /^451 4\.7\.1 /);
  assert.equal((await entries()).filter(({ network }) => network === '127.2.0').length, 1);
  await client.ask('RSET\r\n');
  await clock.advance(60_000);
  const to = ['one@shop.example', 'two@shop.example'];
  assert.match(await sendMail(client, { to }), /^250/);
});

test('a retry after its time, and mail after a long silence, begin anew', async () => {
  await send('127.3.0.1');
  await clock.advance(24 * HOUR_MS);
  assert.match(await send('127.3.0.1'), /^451 4\.7\.1 .* in 60 s/);
  await clock.advance(60_000);
  assert.match(await send('127.3.0.1'), /^250/);
  // Mail keeps the network known.
  for (const days of [20, 20]) {
    await clock.advance(days * DAY_MS);
    assert.match(await send('127.3.0.1'), /^250/);
  }
  await clock.advance(36 * DAY_MS);
  assert.match(await send('127.3.0.1'), /^451 4\.7\.1 /);
});

test('a clock that is set back defers nobody for longer', async () => {
  await send('127.4.0.1');
  const setBack = { ...app, clock: { ...clock, now: () => clock.now() - DAY_MS } };
  const attempt = { address: '127.4.0.1', sender: 'ann@sender.example', recipient: 'info@shop.example' };
  assert.equal(await createGreylist(setBack, greylisting).check(attempt), 0);
});

test('a network has few entries that wait, and a flood from many networks is not remembered', async () => {
  const now = clock.now();
  for (let index = 0; index <= MAX_ATTEMPTS_PER_NETWORK; index++)
    await app.db.commit(deferAttempt, {
      network: '127.7.0',
      attempt: `attempt ${index}`,
      firstSeenAt: now,
      expiresAt: now + DAY_MS,
    });
  assert.equal(
    (await entries()).filter(({ network }) => network === '127.7.0').length,
    MAX_ATTEMPTS_PER_NETWORK,
  );
  const greylist = createGreylist(app, greylisting);
  const attempt = { sender: 'ann@sender.example', recipient: 'info@shop.example' };
  // A retry could not be recognised, so the mail is not deferred.
  assert.equal(await greylist.check({ ...attempt, address: '127.7.0.1' }), 0);
  const waits: number[] = [];
  for (let index = 0; index < 1_010; index++)
    waits.push(await greylist.check({ ...attempt, address: `10.${index >> 8}.${index & 255}.1` }));
  assert.equal(waits.filter((seconds) => seconds === 60).length, 999);
  assert.equal(waits.at(-1), 0);
});

test('the sweep removes what has expired, and the oldest entries when there are too many', async () => {
  const sweep = createGreylistSweep(app, { maxEntries: 400 });
  await sweep.run('run');
  const left = await entries();
  assert.equal(left.length, 400);
  await clock.advance(40 * DAY_MS);
  await sweep.run('run');
  assert.deepEqual(await entries(), []);
});

test('greylisting remembers after a restart', async () => {
  await send('127.8.0.1');
  await clock.advance(60_000);
  const restarted = createGreylist(app, greylisting);
  const attempt = { address: '127.8.0.1', sender: 'ann@sender.example', recipient: 'info@shop.example' };
  assert.equal(await restarted.check(attempt), 0);
});
