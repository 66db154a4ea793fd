/** The postmaster of a mail server, who writes what the server has to say (RFC 5321 section 4.5.1). */
import type { Mailbox } from './address.ts';

/** Returns the mailbox of the postmaster of the server with this host name. */
export function postmasterOf(hostname: string): Mailbox {
  const domain = hostname.toLowerCase();
  return { name: 'Mail server', address: `postmaster@${domain}`, localPart: 'postmaster', domain };
}
