/** The daemon of a row: `bin/postrider serve` with default settings, a DNS of ours, and all its mail going to 127.0.0.1. */
import { join } from 'node:path';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { createLiveSender, type LiveSender } from '../support/live-sender.ts';
import { freePort } from '../support/loopback.ts';
import { withLoopDelay } from './event-loop.ts';
import type { HttpLoad } from './http-load.ts';
import { RECIPIENT_DIGITS, RECIPIENT_DOMAIN, SENDER_DOMAIN, sampleEmail } from './message.ts';
import { until } from './program.ts';
import type { Measure } from './row.ts';
import type { Workspace } from './workspace.ts';

export type Postrider = AsyncDisposable & {
  daemon: DaemonProcess;
  sender: LiveSender;
  load(size: Pick<HttpLoad, 'connections' | 'requests'>): HttpLoad;
};

export type Settings = {
  dataDir: string;
  smtpPort: number;
  /** Default: the daemon's own. */
  connectionsPerSite?: number;
  mailLog?: boolean;
  /** Lets webhooks be posted over http. */
  webhooks?: boolean;
  /** Port for mail that arrives. This machine is a trusted relay, because the limits for one client would bound the load. */
  inboundPort?: number;
  /** Port at which people send, with TLS from the first byte. Their limits are out of the way. */
  submissionPort?: number;
  /** Port for HTTPS on 127.0.0.1. The configuration file names its certificate. */
  https?: { port: number };
  configFile?: string;
  /** Further variables of its environment. */
  more?: Record<string, string>;
  /** Zone text of other domains. */
  zone?: string;
};

export const HOSTNAME = 'postrider.test';

export const RECIPIENT_ZONE = `
${RECIPIENT_DOMAIN} 300 MX 10 mx.${RECIPIENT_DOMAIN}
mx.${RECIPIENT_DOMAIN} 300 A 127.0.0.1`;

export function startDns(): Promise<DnsServer> {
  return startDnsServer(RECIPIENT_ZONE);
}

export function environment(
  dns: DnsServer,
  {
    smtpPort,
    connectionsPerSite,
    mailLog = true,
    webhooks = false,
    inboundPort,
    submissionPort,
    https,
    configFile,
    more,
  }: Settings,
): Record<string, string> {
  return {
    POSTRIDER_HOSTNAME: HOSTNAME,
    POSTRIDER_HTTP_METRICS: 'true',
    POSTRIDER_DNS_SERVERS: dns.address,
    POSTRIDER_OUTBOUND_SMTP_PORT: String(smtpPort),
    POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8',
    POSTRIDER_LOG_MAIL: String(mailLog),
    POSTRIDER_WEBHOOKS_ALLOW_HTTP: String(webhooks),
    ...(connectionsPerSite === undefined
      ? {}
      : { POSTRIDER_DELIVERY_CONNECTIONS_PER_SITE: String(connectionsPerSite) }),
    ...(inboundPort === undefined ? {} : inboundEnvironment(inboundPort)),
    ...(submissionPort === undefined ? {} : submissionEnvironment(submissionPort)),
    ...(https === undefined ? {} : httpsEnvironment(https)),
    ...(configFile === undefined ? {} : { POSTRIDER_CONFIG: configFile }),
    ...more,
  };
}

function submissionEnvironment(port: number): Record<string, string> {
  return {
    POSTRIDER_SUBMISSION_ENABLED: 'true',
    POSTRIDER_SUBMISSION_ADDRESS: '127.0.0.1',
    POSTRIDER_SUBMISSION_PORT: '0',
    POSTRIDER_SUBMISSION_TLS_PORT: String(port),
    POSTRIDER_SUBMISSION_RECIPIENTS_PER_DAY: '1000000',
    POSTRIDER_SUBMISSION_NEW_RECIPIENTS_PER_DAY: '1000000',
    POSTRIDER_SUBMISSION_RECIPIENTS_PER_DAY_OF_TENANT: '1000000',
  };
}

function httpsEnvironment({ port }: NonNullable<Settings['https']>): Record<string, string> {
  return {
    POSTRIDER_HTTPS_ENABLED: 'true',
    POSTRIDER_HTTPS_ADDRESS: '127.0.0.1',
    POSTRIDER_HTTPS_PORT: String(port),
    POSTRIDER_HTTPS_REDIRECT_PORT: '0',
  };
}

function inboundEnvironment(port: number): Record<string, string> {
  return {
    POSTRIDER_SMTP_ADDRESS: '127.0.0.1',
    POSTRIDER_SMTP_PORT: String(port),
    POSTRIDER_SUBMISSION_ENABLED: 'false',
    POSTRIDER_INBOUND_TRUSTED_RELAYS: '127.0.0.0/8',
  };
}

/** A tenant that may send, its domain verified. */
export function createSender(daemon: DaemonProcess, dns: DnsServer, zone = ''): Promise<LiveSender> {
  return createLiveSender(daemon, dns, { domain: SENDER_DOMAIN, otherZone: `${RECIPIENT_ZONE}\n${zone}` });
}

/** From nothing to a daemon that a tenant may send with. */
export async function startPostrider(settings: Settings): Promise<Postrider> {
  const dns = await startDns();
  const daemon = await startDaemonProcess({
    dataDir: settings.dataDir,
    env: environment(dns, settings),
    // The daemon's logs are on, as by default, and go to a file, so reading them costs the load generator nothing.
    outputFile: join(settings.dataDir, 'log'),
  });
  // Not by SIGTERM: it would wait for mail that is still on its way.
  const stop = async () => {
    await daemon.kill('SIGKILL');
    await dns.close();
  };
  try {
    const sender = await createSender(daemon, dns, settings.zone);
    return { daemon, sender, load: (size) => load(daemon, sender, size), [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A data directory, which programs fill while no daemon works on it. */
export type Directory = { dataDir: string; dns: DnsServer; tenantId: `ten_${string}`; key: string };

/** Makes a data directory with a tenant that may send. */
export async function makeDirectory(workspace: Workspace, name: string): Promise<Directory> {
  const dataDir = workspace.newFolder(name);
  const dns = await startDns();
  const daemon = await startDaemonProcess({
    dataDir,
    env: environment(dns, { dataDir, smtpPort: await freePort() }),
  });
  const { tenantId, key } = await createSender(daemon, dns);
  await daemon.stop();
  return { dataDir, dns, tenantId: tenantId as Directory['tenantId'], key };
}

/** Measures with a daemon on a directory that is used again. What it sends goes to the port; without one, nothing is on its way. */
export async function measureOn(
  { dataDir, dns }: Pick<Directory, 'dataDir' | 'dns'>,
  measure: (daemon: DaemonProcess) => Promise<Measure>,
  smtpPort?: number,
): Promise<Measure> {
  const env = environment(dns, { dataDir, smtpPort: smtpPort ?? (await freePort()) });
  const daemon = await startDaemonProcess({ dataDir, env });
  try {
    return await withLoopDelay(daemon, () => measure(daemon));
  } finally {
    await daemon.stop().catch(() => daemon.kill('SIGKILL'));
  }
}

const START_TIMEOUT_MS = 60_000;

/** Starts a daemon, and measures the time from the start of the program to its first answer. */
export async function startTimed({ dataDir, dns }: Directory, smtpPort: number) {
  const port = await freePort();
  const env = {
    ...environment(dns, { dataDir, smtpPort }),
    POSTRIDER_HTTP_PORT: String(port),
    POSTRIDER_SMTP_PORT: '0',
    POSTRIDER_SUBMISSION_ENABLED: 'false',
  };
  const startedAt = performance.now();
  const starting = startDaemonProcess({ dataDir, env });
  const serving = until('the daemon serves', START_TIMEOUT_MS, () => answers(port));
  const startMs = serving.then(() => performance.now() - startedAt);
  const [daemon] = await Promise.all([starting, startMs]);
  return { daemon, startMs: await startMs };
}

async function answers(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/healthz`)).ok;
  } catch {
    return false;
  }
}

/** Returns the body of an answer with success. */
export async function ask<Answer>(
  daemon: DaemonProcess,
  [method, path, key]: readonly ['GET' | 'POST' | 'PATCH', string, string | undefined],
  body?: unknown,
): Promise<Answer> {
  const { status, body: answer } = await daemon.request(method, path, key, body);
  if (status >= 300) throw new Error(`${method} ${path} was answered ${status} ${JSON.stringify(answer)}`);
  return answer as Answer;
}

function load(
  daemon: DaemonProcess,
  { key }: LiveSender,
  size: Pick<HttpLoad, 'connections' | 'requests'>,
): HttpLoad {
  return {
    ...size,
    port: Number(new URL(daemon.address).port),
    path: '/v1/emails',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(sampleEmail()),
    counter: RECIPIENT_DIGITS,
  };
}
