/** A receiving host of tests, on loopback. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pathOfObject } from '../../../src/objects/folder-layout.ts';
import { HostStore } from '../../../src/objects/host-store.ts';
import { type ObjectHost, type ServeOptions, serveObjects } from '../../../src/standby/server/serve.ts';
import { realClock } from '../../../src/system/clock.ts';
import { type StatDisk, statDisk } from '../../../src/system/disk-space.ts';
import { createLog } from '../../../src/system/log.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { zoneDns } from '../../support/zone-dns.ts';

type Change = Partial<ServeOptions> & { disk?: StatDisk };

export type TestObjectHost = ObjectHost & { folder: string; url: string; token: string };

/** Starts a host with a certificate and a token of its own. It ends with the test. */
export async function startObjectHost(
  context: TestContext,
  { disk = statDisk, ...change }: Change = {},
): Promise<TestObjectHost> {
  const folder = change.folder ?? temporaryDirectory('object-host');
  const log = createLog('silent');
  const host = await serveObjects(
    { clock: realClock, log, statDisk: disk },
    {
      folder,
      at: { address: '127.0.0.1', port: 0 },
      hostname: 'standby.example',
      reserveBytes: 0,
      ...change,
    },
  );
  context.after(() => host.close());
  const token = readFileSync(host.tokenFile, 'utf8').trim().split('\n')[0] ?? '';
  return { ...host, folder, url: `https://${host.address}`, token };
}

type Client = { token?: string; pin?: string | undefined; url?: string; idleMs?: number };

/** Returns a client of the host, which ends with the test. */
export function clientOf(context: TestContext, host: TestObjectHost, change: Client = {}): HostStore {
  const { url, token, pin } = host;
  const store = new HostStore({ clock: realClock, dns: zoneDns('') }, { url, token, pin, ...change });
  context.after(() => store.close());
  return store;
}

/** Returns where an object lies. */
export function fileOf({ objects }: ObjectHost, name: string): string {
  return join(objects, pathOfObject(name));
}
