/** The name server as the rest of the daemon knows it: its thread, its text records, and what the operator sees of it. */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import { listKeyRecords, listOperatorRecords, type MoreRecords } from '../domains/operator-records.ts';
import { isSameOrBelow } from '../mail/domain-names.ts';
import type { PartThread } from '../system/thread.ts';
import { createSystemPart } from '../thread-app.ts';
import { type KeyStart, NAME_SERVER_PART, type NameServerCalls, type NameServerStatus } from './part.ts';
import { type TextPlace, zoneTextRecords } from './texts.ts';
import { delegationRecords, zoneName } from './zone/records.ts';

export type NameServer = PartThread<NameServerCalls> & TextPlace;

/** The state of the name server, as the operator sees it. */
export type NameServerReport = {
  zone: string;
  enabled: boolean;
  /** Undefined while it does not run. */
  status: NameServerStatus | undefined;
  /** Records that the parent zone needs. */
  delegation: ReturnType<typeof delegationRecords>;
};

/** Returns the name server. `more` are records of the zone besides those of domains. */
export function createNameServer(
  app: App,
  more: readonly MoreRecords[],
  { inThreads }: { inThreads: boolean },
): NameServer {
  const sources = [...more, () => zoneTextRecords(app)];
  const listRecords = async () => (await listOperatorRecords(app, sources, { withKeys: false })).records;
  const host = { listRecords, listKeyRecords: (after: KeyStart) => listKeyRecords(app, after) };
  const options = { inThreads, host, data: () => undefined };
  const part = createSystemPart(app, NAME_SERVER_PART, options);
  return {
    calls: part.calls,
    failed: part.failed,
    get isRunning() {
      return part.isRunning;
    },
    // Without the setting the thread does not exist.
    start: async () => (app.config.nameserver.enabled ? part.start() : undefined),
    stop: (graceMs) => part.stop(graceMs),
    hasName: (name) => app.config.nameserver.enabled && isSameOrBelow(name, zoneName(app.config)),
    async publishText() {
      await part.calls.reload();
      return undefined;
    },
  };
}

/** Registers `GET /nameserver` on the server of the control socket. */
export function registerNameServerAdmin(
  server: FastifyInstance,
  { config, nameServer }: Pick<App, 'config'> & { nameServer: Pick<NameServer, 'calls'> | undefined },
): void {
  server.get('/nameserver', async (): Promise<NameServerReport> => {
    const { enabled } = config.nameserver;
    const status = enabled ? await nameServer?.calls.status() : undefined;
    return { zone: zoneName(config), enabled, status, delegation: enabled ? delegationRecords(config) : [] };
  });
}
