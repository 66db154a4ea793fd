/**
 * Mailboxes of two daemons that send all mail on to each other, over loopback and DNS. A message comes to rest, after a bounded number of
 * copies, and is kept.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { createTransport } from 'nodemailer';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { createLiveSender } from '../support/live-sender.ts';
import { freePort } from '../support/loopback.ts';
import { until } from './until.ts';

const INSTALLATIONS = [
  { hostname: 'one.example', address: '127.0.0.1' },
  { hostname: 'two.example', address: '127.0.0.2' },
] as const;
const NAMES = ['ann', 'bob', 'cat'];
/** Three mailboxes that send on to three others would make 3^25 copies within the limit of 50 hops. */
const MAX_COPIES = 40;

/** Mailboxes of the sandbox send nothing on to the world, so these are at a domain of a tenant. */
const domainOf = (hostname: string) => `mail.${hostname}`;
const addressesAt = (hostname: string) => NAMES.map((name) => `${name}@${domainOf(hostname)}`);

let dns: DnsServer;
let port: number;
const daemons: DaemonProcess[] = [];

before(async () => {
  dns = await startDnsServer();
  port = await freePort();
  let zone = INSTALLATIONS.map(
    ({ hostname, address }) => `${domainOf(hostname)} MX 10 ${hostname}\n${hostname} A ${address}`,
  ).join('\n');
  for (const { hostname, address } of INSTALLATIONS) {
    const daemon = await startDaemonProcess({
      env: {
        POSTRIDER_HOSTNAME: hostname,
        POSTRIDER_SMTP_ADDRESS: address,
        POSTRIDER_SMTP_PORT: String(port),
        POSTRIDER_DNS_SERVERS: dns.address,
        POSTRIDER_OUTBOUND_SMTP_PORT: String(port),
        POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8',
        POSTRIDER_SUBMISSION_ENABLED: 'false',
        POSTRIDER_IMAP_PORT: '0',
        POSTRIDER_POP3_PORT: '0',
        POSTRIDER_MANAGESIEVE_PORT: '0',
      },
    });
    daemons.push(daemon);
    const live = await createLiveSender(daemon, dns, { domain: domainOf(hostname), otherZone: zone });
    zone = `${zone}\n${live.zone}`;
    await daemon.request('PATCH', `/v1/domains/${live.domainId}`, live.key, { productType: 'both' });
    for (const mailbox of addressesAt(hostname)) await daemon.cli(['mailbox', 'create', mailbox]);
  }
});

after(async () => {
  for (const daemon of daemons) await daemon.stop();
  await dns?.close();
});

/** Lets each mailbox of both installations send on to all of the other one, and keep no copy. */
async function forwardAll(names: readonly string[]): Promise<void> {
  for (const [index, daemon] of daemons.entries()) {
    const [own, other] = index === 0 ? INSTALLATIONS : INSTALLATIONS.toReversed();
    const targets = addressesAt(other?.hostname ?? '').slice(0, names.length);
    for (const mailbox of addressesAt(own?.hostname ?? '').slice(0, names.length))
      await daemon.cli(['mailbox', 'forward', mailbox, ...targets, '--no-copy']);
  }
}

/** Returns a number that a query of the database of a daemon finds. */
function count({ dataDir }: DaemonProcess, query: string): number {
  const database = new Sqlite(join(dataDir, 'postrider.db'), { readonly: true });
  try {
    return Number(database.prepare(query).pluck().get());
  } finally {
    database.close();
  }
}

const total = (query: string) => daemons.reduce((sum, daemon) => sum + count(daemon, query), 0);
const received = () => total('SELECT count(*) FROM receivedMessages');

/** Sends a message to a mailbox of the first installation, waits until nothing moves, and returns how many copies have arrived. */
async function countCopies(subject: string): Promise<number> {
  const before = received();
  const transport = createTransport({ host: '127.0.0.1', port, tls: { rejectUnauthorized: false } });
  const [to] = addressesAt('one.example');
  await transport.sendMail({ from: 'eve@sender.example', to, subject, text: 'Hello' });
  transport.close();
  await until(`everything about ${subject} has come to rest`, async () => {
    const open = () =>
      total("SELECT count(*) FROM recipients WHERE state IN ('ready', 'in_flight', 'deferred')") +
      total("SELECT count(*) FROM receivedTasks WHERE state = 'pending'");
    // A copy can pass from one daemon to the other while they are asked.
    return open() + open() === 0 && received() > before;
  });
  return received() - before;
}

test('two mailboxes that send on to each other stop after one round, and the message is kept', async () => {
  await forwardAll(NAMES.slice(0, 1));
  assert.equal(await countCopies('a round'), 3);
  const kept = 'SELECT sum(messageCount) FROM mailboxes';
  await until('the count of messages is reported', async () => total(kept) === 1);
});

test('mailboxes that each send on to several others make a bounded number of copies', async () => {
  await forwardAll(NAMES);
  const copies = await countCopies('many rounds');
  assert.ok(copies > 3 && copies <= MAX_COPIES, `${copies} copies`);
});
