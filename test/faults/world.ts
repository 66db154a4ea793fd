/**
 * What stands around a daemon that a fault is done to: its DNS, the sink its mail goes to, the receiver of its webhooks,
 * and the clients. All of it outlives every life of the daemon; only the data directory is handed from life to life.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DaemonProcess, startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { createLiveSender } from '../support/live-sender.ts';
import { startSmtpSink } from '../support/smtp-sink.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { noteStart } from './doubt.ts';
import type { Receipt } from './judge.ts';
import { Ledger } from './ledger.ts';
import { Load } from './load.ts';
import { withRetries } from './retries.ts';
import type { SeededRandom } from './seeded-random.ts';
import { attachmentsIn, MIXED, type Mix } from './submission.ts';

export type WorldOptions = {
  random: SeededRandom;
  /** Tells the parts of one run apart. */
  name: string;
  /** Default: a temporary directory. */
  dataDir?: string;
  /** Added to the daemon's environment. */
  env?: Record<string, string>;
  mix?: Mix;
  /** An address that the daemon receives for, when the mix has mail to it. */
  localAddress?: string;
  /** Zone text of others, such as of those who send mail to the daemon. */
  zone?: string;
  /** Whether a webhook endpoint is told of deliveries, by default true. */
  isSubscribed?: boolean;
  /** Returns true for a recipient of mail that is none of the load's. */
  isApart?: (recipient: string) => boolean;
  /** Returns true for the envelope sender of mail that the sink refuses. */
  refuses?: (mailFrom: string) => boolean;
};

export type World = AsyncDisposable & {
  dataDir: string;
  /** Live, of a verified domain. */
  key: string;
  domainId: string;
  load: Load;
  ledger: Ledger;
  /** Ids of emails the API has shown as delivered, or as canceled where that was asked for. */
  settled: Set<string>;
  /** How many emails were accepted that are none of the load's. */
  others: number;
  webhooks: WebhookReceiver;
  /** What each life sent, and when each ended, by its number from 0. Both grow with `endLife`. */
  receipts: Receipt[];
  /** The same, of mail to the recipients that stand apart. */
  receiptsApart: Receipt[];
  endOfLifeMs: number[];
  /** Messages the sink has taken. */
  arrived(): number;
  /** Starts the daemon, by default on its own data directory. */
  start(crashAt?: string, directory?: string): Promise<DaemonProcess>;
  /** Call when a daemon is gone, with the time of its end: waits until the sink has read all it left in its sockets. */
  endLife(endedAtMs: number): Promise<void>;
};

export const HOSTNAME = 'mail.test';
export const SENDER_DOMAIN = 'sender.test';
export const RECIPIENT_DOMAIN = 'dest.test';
/** Its host refuses every connection: the sink listens on another address. */
export const DOWN_DOMAIN = 'down.test';
const RECIPIENT_ZONE = `${RECIPIENT_DOMAIN} MX 10 mx.${RECIPIENT_DOMAIN}
mx.${RECIPIENT_DOMAIN} A 127.0.0.1
${DOWN_DOMAIN} A 127.0.0.9`;
export const SENDER = `news@${SENDER_DOMAIN}`;
/** Keeps mail for a while in the state that matters most: dot sent, reply not read. */
const REPLY_DELAY_MS = 10;
const QUIET_PAUSE_MS = 50;
const QUIET_TRIES = 100;

/** Creates the world. Its first life, number 0, makes the sender and the webhook and ends in peace. */
export async function createWorld(options: WorldOptions): Promise<World> {
  const { world, daemon } = await beginWorld(options);
  await daemon.stop();
  await world.endLife(Date.now());
  return world;
}

/** Creates the world. Its first life, number 0, has made the sender and the webhook, and goes on. */
export async function beginWorld(options: WorldOptions): Promise<{ world: World; daemon: DaemonProcess }> {
  const { random, name } = options;
  const dataDir = options.dataDir ?? temporaryDirectory(name);
  const otherZone = `${RECIPIENT_ZONE}\n${options.zone ?? ''}`;
  const dns = await startDnsServer(otherZone);
  const sink = await startSmtpSink({
    replyDelayMs: REPLY_DELAY_MS,
    keepRaw: true,
    ...(options.refuses && { refuses: options.refuses }),
  });
  const webhooks = await startWebhookReceiver();
  const env = {
    POSTRIDER_HOSTNAME: HOSTNAME,
    POSTRIDER_DNS_SERVERS: dns.address,
    POSTRIDER_OUTBOUND_SMTP_PORT: String(sink.port),
    POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8',
    POSTRIDER_WEBHOOKS_ALLOW_HTTP: 'true',
    POSTRIDER_LOG_LEVEL: 'warn',
    ...options.env,
  };
  const receipts: Receipt[] = [];
  const receiptsApart: Receipt[] = [];
  const endOfLifeMs: number[] = [];
  let last: DaemonProcess | undefined;

  const world = {
    dataDir,
    load: new Load({
      random,
      name,
      from: SENDER,
      recipientDomain: RECIPIENT_DOMAIN,
      localAddress: options.localAddress,
      mix: options.mix ?? MIXED,
    }),
    ledger: new Ledger(random, name),
    settled: new Set<string>(),
    others: 0,
    webhooks,
    receipts,
    receiptsApart,
    endOfLifeMs,
    arrived: () => receipts.length + sink.messages.length,
    async start(crashAt?: string, directory = dataDir) {
      const began = performance.now();
      last = await startDaemonProcess({
        dataDir: directory,
        env,
        ...(crashAt === undefined ? {} : { crashAt }),
      });
      noteStart(performance.now() - began);
      return last;
    },
    async endLife(endedAtMs: number) {
      for (let tries = 0; tries < QUIET_TRIES; tries++) {
        await sleep(QUIET_PAUSE_MS);
        if (sink.openConnections() === 0) break;
      }
      const life = endOfLifeMs.length;
      for (const { recipients, mailFrom, messageId, raw, receivedAtMs } of sink.messages.splice(0)) {
        const bytes = raw ?? Buffer.alloc(0);
        const sha256 = createHash('sha256').update(bytes).digest('hex');
        const attachments = attachmentsIn(bytes);
        const [header = ''] = bytes.toString('latin1').split('\r\n\r\n', 1);
        const same = { mailFrom, header, messageId, sha256, attachments, life, atMs: receivedAtMs };
        for (const recipient of recipients) {
          const kept = options.isApart?.(recipient) === true ? receiptsApart : receipts;
          kept.push({ recipient, ...same });
        }
      }
      endOfLifeMs.push(endedAtMs);
    },
    async [Symbol.asyncDispose]() {
      await last?.kill('SIGKILL');
      await Promise.all([dns.close(), sink.close(), webhooks.close()]);
    },
  };

  const daemon = await world.start();
  const sender = await createLiveSender(daemon, dns, { domain: SENDER_DOMAIN, otherZone });
  if (options.isSubscribed !== false) await subscribe(daemon, sender.key, webhooks.url);
  return { world: { ...world, key: sender.key, domainId: sender.domainId }, daemon };
}

async function subscribe(daemon: DaemonProcess, key: string, url: string): Promise<void> {
  const made = await withRetries(() =>
    daemon.request('POST', '/v1/webhooks', key, { url, events: ['email.delivered'] }),
  );
  if (made.status !== 201) throw new Error(`POST /v1/webhooks: ${JSON.stringify(made.body)}`);
}
