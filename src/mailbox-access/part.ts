/**
 * The listeners of mailboxes as a part of the daemon, in a thread of its own: under a load of TLS the main thread would be busy half
 * of its time, and the API would wait.
 */
import type { MessagePort, Transferable } from 'node:worker_threads';
import { SCRIPT_CALLS, type ScriptCalls } from '../mailboxes/script-calls.ts';
import { type CertificatePair, createCertificateStore } from '../system/certificates.ts';
import { createPortCalls } from '../system/thread/calls.ts';
import type { Part } from '../system/thread/part.ts';
import { StreamPort } from '../system/thread/streams.ts';
import { moduleBeside } from '../system/thread.ts';
import type { SystemApp } from '../thread-app.ts';
import { type AccessAddresses, openListeners } from './listeners.ts';
import { createOpenLogins } from './open-logins.ts';
import type { LoginCalls } from './session.ts';

export type AccessCalls = {
  /** Returns the addresses that are listened on. */
  addresses(): Promise<AccessAddresses>;
  /** Reaches a thread of accounts over this port from now on. */
  connect(input: { link: string; port: MessagePort }, transfer?: readonly Transferable[]): Promise<void>;
  replaceCertificates(pairs: readonly CertificatePair[]): Promise<void>;
  renewTicketKey(): Promise<void>;
};

export const ACCESS_CALLS = [
  'addresses',
  'connect',
  'replaceCertificates',
  'renewTicketKey',
] as const satisfies readonly (keyof AccessCalls)[];

/** Values that the thread starts with. */
export type AccessStart = { main: MessagePort; certificates: readonly CertificatePair[] };

/** Maximum heap of the thread. It has the sockets of all connections; what they send and receive is outside. */
const HEAP_MEGABYTES = 512;

export const ACCESS_THREAD = {
  name: 'access',
  module: moduleBeside(import.meta.url, 'access-thread'),
  // Nothing but the connections is lost, and clients connect again.
  onDeath: 'restart',
  heapMegabytes: HEAP_MEGABYTES,
} as const;

/**
 * Starts to listen.
 * @throws ListenError
 */
export async function startAccess(
  app: SystemApp,
  { main, certificates }: AccessStart,
): Promise<Part<AccessCalls>> {
  const store = createCertificateStore(certificates);
  const links = new Map<string, StreamPort>();
  const ports = new Set<MessagePort>();
  const openLogins = createOpenLogins(app);
  const sessions = {
    main: createPortCalls<LoginCalls & ScriptCalls>(main, ['login', 'scramKey', ...SCRIPT_CALLS]),
    links,
    openLogins,
  };
  const listeners = await openListeners(app, store, sessions);
  return {
    calls: {
      addresses: async () => listeners.addresses,
      async connect({ link, port }) {
        links.set(link, new StreamPort(port));
        ports.add(port);
        port.on('close', () => {
          links.delete(link);
          ports.delete(port);
        });
      },
      replaceCertificates: async (pairs) => store.replace(pairs),
      renewTicketKey: async () => store.renewTicketKey(),
    },
    async stop(graceMs) {
      await listeners.close(graceMs);
      openLogins.close();
      for (const port of ports) port.close();
    },
  };
}
