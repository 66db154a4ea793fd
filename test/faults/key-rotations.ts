/**
 * kill -9 in every step of a rotation of DKIM keys: before and after the commit that makes the next key, and before and after the one that makes
 * it sign. A later life goes on, so that exactly one key follows, and nothing signs with a key that DNS does not have.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { CrashPointName } from '../../src/crash-points.ts';
import type { OperatorDomain } from '../../src/domains/admin-api.ts';
import { type DaemonProcess, startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import type { Result } from './part.ts';
import { requireKill, untilDeath } from './planned-end.ts';

const NAME = 'rotate.example';
const STARTS: readonly CrashPointName[] = ['key-rotation-before-commit', 'key-rotation-after-commit'];
const LOOKS: readonly CrashPointName[] = ['key-look-before-commit', 'key-look-after-commit'];
const LIMIT_MS = 60_000;

type Start = (crashAt?: CrashPointName) => Promise<DaemonProcess>;
type Keys = OperatorDomain['dkimKeys'];

export async function killRotations(): Promise<Result> {
  await using dns = await startDnsServer('');
  const dataDir = temporaryDirectory('rotations');
  const env = { POSTRIDER_HOSTNAME: 'mx.postrider.example', POSTRIDER_DNS_SERVERS: dns.address };
  const start: Start = (crashAt) =>
    startDaemonProcess({ dataDir, env, ...(crashAt !== undefined && { crashAt }) });
  const faults: string[] = [];
  const first = await start();
  await first.cli(['domain', 'add', NAME]);
  const [before] = await keysOf(first);
  await first.stop();
  for (const crashAt of STARTS) {
    const daemon = await start(crashAt);
    const asked = daemon.cli(['domain', 'rotate-dkim', NAME]).catch(() => undefined);
    faults.push(...(await endAt(daemon, crashAt)));
    await asked;
  }
  faults.push(...(await publish(dns, await start())));
  for (const crashAt of LOOKS) {
    const daemon = await start(crashAt);
    // A check that the operator asks for makes the look due at once.
    const asked = daemon.cli(['domain', 'verify', NAME]).catch(() => undefined);
    faults.push(...(await endAt(daemon, crashAt)));
    await asked;
  }
  const last = await start();
  faults.push(...(await judge(last, before?.selector)));
  await last.stop();
  return { lines: [`${STARTS.length + LOOKS.length} kills; one key followed another`], faults };
}

async function keysOf(daemon: DaemonProcess): Promise<Keys> {
  return ((await daemon.cli(['domain', 'show', NAME])) as OperatorDomain).dkimKeys;
}

async function endAt(daemon: DaemonProcess, crashAt: CrashPointName): Promise<string[]> {
  const { atPoint } = await untilDeath(daemon, LIMIT_MS);
  await requireKill(daemon);
  return atPoint ? [] : [`not reached in time: ${crashAt}`];
}

/** Publishes the key that waits, as the owner of the domain does. The commit before the kill has made exactly one. */
async function publish(dns: DnsServer, daemon: DaemonProcess): Promise<string[]> {
  const { dkimKeys, optionalRecords } = (await daemon.cli(['domain', 'show', NAME])) as OperatorDomain;
  await daemon.stop();
  const next = optionalRecords.find(({ record }) => record === 'DKIM_NEXT');
  const key = next && 'alternative' in next ? next.alternative : undefined;
  if (!key) return [`no key waits: ${JSON.stringify(dkimKeys)}`];
  dns.setZone(`${key.name} TXT "${key.value}"`);
  const states = dkimKeys.map(({ state }) => state).join();
  return states === 'signing,waiting' ? [] : [`the keys are ${states} after the rotation has begun`];
}

/** Waits until the next key signs, and returns what is wrong. */
async function judge(daemon: DaemonProcess, before: string | undefined): Promise<string[]> {
  const until = Date.now() + LIMIT_MS;
  for (;;) {
    const keys = await keysOf(daemon);
    const [signing, retired, ...others] = keys;
    const isDone =
      signing?.selector !== before && retired?.selector === before && retired?.state === 'retired';
    if (isDone && others.length === 0) return [];
    if (Date.now() > until) return [`the keys are ${JSON.stringify(keys)}`];
    await delay(100);
  }
}
