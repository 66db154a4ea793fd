/**
 * The listeners of mailboxes as a part of the daemon, in a thread of its own: under a load of TLS the main thread would be busy half
 * of its time, and the API would wait.
 */
import type { MessagePort, Transferable } from 'node:worker_threads';
import type { MailSession } from '../accounts/mail-session.ts';
import type { ScriptCalls } from '../mailboxes/script-calls.ts';
import { type CertificatePair, createCertificateStore } from '../system/certificates.ts';
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
  /** Returns the sessions of ManageSieve of a mailbox, the newest first. */
  listSessions(input: { id: string }): Promise<MailSession[]>;
  /** Ends one of these sessions, or all when none is named. Returns their number. */
  disconnect(input: { id: string; sessionId?: string | undefined }): Promise<number>;
  replaceCertificates(pairs: readonly CertificatePair[]): Promise<void>;
  renewTicketKey(): Promise<void>;
};

/** Maximum heap of the thread. It has the sockets of all connections; what they send and receive is outside. */
const HEAP_MEGABYTES = 512;

/**
 * Starts to listen.
 * @throws ListenError
 */
async function startAccess(
  app: SystemApp,
  main: LoginCalls & ScriptCalls,
  certificates: readonly CertificatePair[],
): Promise<Part<AccessCalls>> {
  const store = createCertificateStore(certificates);
  const links = new Map<string, StreamPort>();
  const ports = new Set<MessagePort>();
  const openLogins = createOpenLogins(app);
  const listeners = await openListeners(app, store, { main, links, openLogins });
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
      listSessions: ({ id }) => openLogins.listSessions(id),
      disconnect: ({ id, sessionId }) => openLogins.disconnect(id, sessionId),
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

/** A thread that dies loses nothing but its connections, and clients connect again. */
export const ACCESS_PART = {
  name: 'access',
  module: moduleBeside(import.meta.url, 'access-thread'),
  heapMegabytes: HEAP_MEGABYTES,
  start: startAccess,
};
