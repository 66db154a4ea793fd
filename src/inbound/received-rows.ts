/** The rows of a received message, before the write that accepts it. */
import type { ReceivedMessageRow, ReceivedRecipientRow } from '../db/inbound-tables.ts';
import type { NewTask } from './tasks/store.ts';

/** A result that is missing is never a pass. */
export type Authentication = {
  /** Result of SPF for the envelope sender. */
  spf: string;
  /** `pass` when a signature is valid; otherwise the result of the first one, or `none`. */
  dkim: string;
  dmarc: string;
  /** Domains with a valid signature. */
  dkimDomains: string[];
};

/** The part of the results that is shown (mail/auth/result.ts). Earlier versions may have stored less of it. */
type Results = {
  spf?: { result?: string };
  dkim?: readonly { result?: string; domain?: string }[];
  dmarc?: { result?: string };
};

/** A message for one tenant, or for the installation. */
export type ReceivedRows = {
  message: ReceivedMessageRow;
  recipients: ReceivedRecipientRow[];
  tasks: NewTask[];
  /** Positions of the recipients about whose delivery the sender gets a report at once. */
  reported: readonly number[];
  results: Authentication;
};

/** Returns the addresses of recipients, each once: an address with a mailbox and a route is stored once for each of them. */
export function addressesOf(recipients: readonly { address: string }[]): string[] {
  return [...new Set(recipients.map(({ address }) => address))];
}

/** Returns the results in short; null stands for a message that was not authenticated. */
export function shortResults(results: Results | null): Authentication {
  const { spf, dkim = [], dmarc } = results ?? {};
  const passed = dkim.filter(({ result }) => result === 'pass');
  return {
    spf: spf?.result ?? 'none',
    dkim: (passed[0] ?? dkim[0])?.result ?? 'none',
    dmarc: dmarc?.result ?? 'none',
    dkimDomains: [...new Set(passed.flatMap(({ domain }) => domain ?? []))],
  };
}

/** Returns the results of a message as `shortResults` does; `auth` is their stored JSON. */
export function readShortResults(auth: string | null): Authentication {
  return shortResults(auth === null ? null : (JSON.parse(auth) as Results));
}
