/**
 * The environment of the demo, in this process and on 127.0.0.1: a DNS zone, a receiving mail server, a webhook
 * receiver, and the daemon with a temporary data directory.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, loadConfig } from '../../config/config.ts';
import { type Daemon, startDaemon } from '../../main.ts';
import { type Certificate, makeCertificate } from './certificate.ts';
import { startDnsServer } from './dns-server.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';
import { createZone, type Zone } from './zone.ts';

/** Host names of the demo. They cannot exist anywhere else (RFC 6761 section 6.2). */
export const NAMES = {
  hostname: 'mail.postrider.test',
  sender: 'shop.test',
  receiver: 'inbox.test',
  receiverHost: 'mx.inbox.test',
} as const;

export type Environment = {
  config: Config;
  daemon: Daemon;
  zone: Zone;
  receiver: Receiver;
  webhooks: WebhookReceiver;
  certificate: Certificate | undefined;
};

/** Opens everything, runs `use`, and closes everything again, even after an error. */
export async function withEnvironment<Result>(
  use: (environment: Environment) => Promise<Result>,
): Promise<Result> {
  await using cleanUp = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), 'postrider-demo-'));
  cleanUp.defer(() => rmSync(directory, { recursive: true, force: true }));
  const certificate = await makeCertificate(directory, NAMES.receiverHost);
  const receiver = await startReceiver(NAMES.receiverHost, certificate);
  cleanUp.defer(() => receiver.close());
  const zone = createZone();
  publishSurroundings(zone);
  const dns = await startDnsServer(zone);
  cleanUp.defer(() => dns.close());
  const config = demoConfig({ dataDir: join(directory, 'data'), smtpPort: receiver.port, dns: dns.address });
  const webhooks = await startWebhookReceiver(config.webhooks.signatureHeader);
  cleanUp.defer(() => webhooks.close());
  const daemon = await startDaemon(config, { dns: zone });
  cleanUp.defer(() => daemon.stop());
  return await use({ config, daemon, zone, receiver, webhooks, certificate });
}

/** Returns the configuration of the demo. It ignores the configuration of the caller. */
function demoConfig({ dataDir, smtpPort, dns }: { dataDir: string; smtpPort: number; dns: string }): Config {
  return loadConfig({
    env: {
      POSTRIDER_HOSTNAME: NAMES.hostname,
      POSTRIDER_DATA_DIR: dataDir,
      POSTRIDER_HTTP_PORT: '0',
      POSTRIDER_SMTP_PORT: '0',
      POSTRIDER_SUBMISSION_ENABLED: 'false',
      POSTRIDER_DNS_SERVERS: dns,
      POSTRIDER_OUTBOUND_SMTP_PORT: String(smtpPort),
      POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8',
      POSTRIDER_WEBHOOKS_ALLOW_HTTP: 'true',
      POSTRIDER_LOG_LEVEL: 'silent',
    },
  });
}

/** Publishes the DNS records of the operator and of the receiver. The sender's records come from the API. */
function publishSurroundings(zone: Zone): void {
  const thisMachine = 'v=spf1 ip4:127.0.0.1 -all';
  zone.publish([
    { type: 'A', name: NAMES.hostname, value: '127.0.0.1' },
    { type: 'TXT', name: `bounce.${NAMES.hostname}`, value: thisMachine },
    { type: 'TXT', name: `_spf.${NAMES.hostname}`, value: thisMachine },
    { type: 'MX', name: NAMES.receiver, exchange: NAMES.receiverHost, preference: 10 },
    { type: 'A', name: NAMES.receiverHost, value: '127.0.0.1' },
    { type: 'TXT', name: NAMES.receiver, value: thisMachine },
    { type: 'TXT', name: `_dmarc.${NAMES.receiver}`, value: 'v=DMARC1; p=reject' },
  ]);
}
