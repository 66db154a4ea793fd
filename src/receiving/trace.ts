/** Formats the header fields that are added to a message when it is received. They are stored beside its bytes. */
import { isIPv6 } from 'node:net';
import { formatDate } from '../mail/message/headers.ts';
import type { SmtpClient } from '../mail/smtp/server/session.ts';
import { isHostName } from '../system/dns.ts';

type Trace = {
  /** The client that sent the message; undefined for mail of this installation itself. */
  client: Pick<SmtpClient, 'address' | 'helo' | 'protocol' | 'tls'> | undefined;
  hostname: string;
  id: string;
  sender: string;
  /** The only recipient. Undefined when there are several, because some of them may be blind copies. */
  recipient: string | undefined;
  /** Name that DNS confirms for the address of the client; undefined when it confirms none. */
  confirmedName: string | undefined;
  /** Authentication-Results field with its CRLF. */
  results: string;
  now: number;
};

/** Returns Return-Path, Authentication-Results and Received, each with its CRLF, in the order in which they stand. */
export function formatTrace(trace: Trace): string {
  return `Return-Path: <${trace.sender}>\r\n${trace.results}${formatReceived(trace)}`;
}

/** Formats the Received field (RFC 5321 section 4.4). The server accepts only names that need no quotes here. */
function formatReceived({ id, recipient, now, ...hop }: Trace): string {
  const purpose = recipient === undefined ? '' : ` for <${recipient}>`;
  const lines = [...hopLines(hop), `id ${id}${purpose}`];
  return `Received: ${lines.join('\r\n\t')};\r\n\t${formatDate(now)}\r\n`;
}

function hopLines({
  client,
  hostname,
  confirmedName,
}: Pick<Trace, 'client' | 'hostname' | 'confirmedName'>): string[] {
  if (!client) return [`by ${hostname}`];
  const { helo, address, protocol, tls } = client;
  const literal = isIPv6(address) ? `[IPv6:${address}]` : `[${address}]`;
  const security = tls ? ` (${tls.version} ${tls.cipher})` : '';
  const name = confirmedName !== undefined && isHostName(confirmedName) ? `${confirmedName} ` : '';
  return [`from ${helo ?? literal} (${name}${literal})`, `by ${hostname} with ${protocol}${security}`];
}
