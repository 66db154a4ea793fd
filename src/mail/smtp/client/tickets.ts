/**
 * Sessions of TLS that later connections resume (RFC 8446 section 2.2), by address. A handshake that resumes one costs a fraction of a
 * full one. A resumed session has no certificate to verify, so what the full handshake found out is kept with it, and sessions
 * of different requirements never share one.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../system/clock.ts';
import type { SmtpTls } from './events.ts';

/** The facts about the certificate that the full handshake of the session has shown. */
export type CertificateVerdict = Pick<SmtpTls, 'authorized' | 'fault' | 'problem' | 'provenName'>;
type Ticket = { session: Buffer; verdict: CertificateVerdict; keptUntil: number };

/** Identifies the sessions that may resume each other. `requirement` names the kind of TLS, and what the certificate must be. */
export type TicketKey = { requirement: string; address: string; port: number; serverName: string };

/** Maximum memory of all tickets. One of a common server takes 2 to 4 KB. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Maximum size of a ticket. Larger ones are not kept. */
const MAX_TICKET_BYTES = 16 * 1024;
/** Maximum age of a ticket. It bounds the time for which a certificate is not looked at again. Our own limit. */
const MAX_AGE_MS = 3_600_000;

export class SmtpTickets {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #tickets = new LRUCache<string, Ticket>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ session }) => session.length,
  });

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
  }

  find(key: TicketKey): Pick<Ticket, 'session' | 'verdict'> | undefined {
    const ticket = this.#tickets.get(nameOf(key));
    return ticket && this.#clock.elapsed() < ticket.keptUntil ? ticket : undefined;
  }

  keep(key: TicketKey, session: Buffer, verdict: CertificateVerdict): void {
    if (session.length === 0 || session.length > MAX_TICKET_BYTES) return;
    const keptUntil = this.#clock.elapsed() + MAX_AGE_MS;
    this.#tickets.set(nameOf(key), { session, verdict, keptUntil });
  }

  /** Forgets a ticket with which a handshake has failed. */
  drop(key: TicketKey): void {
    this.#tickets.delete(nameOf(key));
  }
}

function nameOf({ requirement, address, port, serverName }: TicketKey): string {
  return createHash('sha256').update(`${requirement} ${address} ${port} ${serverName}`).digest('base64');
}
