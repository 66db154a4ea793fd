/**
 * Decides over which sessions mail may leave: what the policies of the domain ask of TLS with a host (mail/tls-policy/host-tls.ts), and
 * what the message itself asks. For REQUIRETLS (RFC 8689 section 4.2.1) the name of the host must be proven, its certificate must be
 * valid, and the server must offer REQUIRETLS; mail with `TLS-Required: No` (section 4.2.2) is not held up by policies. Mail with
 * addresses or header fields in UTF-8 needs a server that offers SMTPUTF8 (RFC 6531 section 3.2). The name of a relay is proven,
 * because the operator gave it.
 */
import type { SmtpFailure } from '../../mail/smtp/client/failure.ts';
import type { SmtpSession } from '../../mail/smtp/client/open.ts';
import { type HostTls, OPPORTUNISTIC } from '../../mail/tls-policy/host-tls.ts';
import { TLS_WISH } from '../../mail/tls-policy/tls-wish.ts';
import type { Claim } from '../claim.ts';
import { parseQueueKey } from '../queue-key.ts';
import type { Hosts } from '../sources/source.ts';

type Requiring = {
  message: Pick<Claim['message'], 'requireTls' | 'returnPath' | 'utf8'>;
  recipients: readonly Pick<Claim['recipients'][number], 'domain' | 'queue'>[];
};

/** A host that mail may go to. */
export type Taker = Pick<Hosts[number], 'name' | 'tls' | 'isNameProven'>;

/** Failures of hosts that cannot take the mail, although others may. */
export const NO_SMTPUTF8: SmtpFailure = {
  phase: 'ehlo',
  kind: 'requirement',
  status: '5.6.7',
  message: 'the server does not take addresses or header fields in UTF-8 (SMTPUTF8)',
};
export const NO_REQUIRETLS: SmtpFailure = {
  phase: 'ehlo',
  kind: 'requirement',
  status: '5.7.30',
  message: 'the server does not offer REQUIRETLS, which the message requires',
};
export const NAME_UNPROVEN: SmtpFailure = {
  phase: 'connect',
  kind: 'requirement',
  status: '5.7.30',
  message: 'neither DNSSEC nor MTA-STS proves the name of the host, as the message requires',
};

/**
 * Returns true for mail that goes nowhere without REQUIRETLS. Notifications, whose sender is null, ask for it where it is offered, and are
 * not lost elsewhere (RFC 8689 section 5).
 */
export function requiresTls({ message }: Pick<Requiring, 'message'>): boolean {
  return message.requireTls === TLS_WISH.required && message.returnPath !== '';
}

/** Returns true for mail that the policies of its recipients' domains do not hold up. */
export function ignoresPolicies({ message }: Pick<Requiring, 'message'>): boolean {
  return message.requireTls === TLS_WISH.optional;
}

/** Returns what a session with a host must prove before it carries the mail. */
export function requirementOf({ tls = OPPORTUNISTIC }: Pick<Taker, 'tls'>, mail: Requiring): HostTls {
  if (ignoresPolicies(mail)) return tls.kind === 'none' ? tls : OPPORTUNISTIC;
  if (!requiresTls(mail) || tls.kind === 'dane' || tls.kind === 'refused') return tls;
  return { kind: 'verified' };
}

/** Returns true when a host must prove who it is, or use TLS at least, before it is believed about the mail. */
export function demandsProof(taker: Pick<Taker, 'tls'>, mail: Requiring): boolean {
  const { kind } = requirementOf(taker, mail);
  return kind !== 'none' && kind !== 'opportunistic';
}

/**
 * Returns true when the name of the host is authentic, because a policy proves it or because it is the domain of the recipients itself.
 * Whoever forges DNS can name any other host in an MX record.
 */
export function isAuthenticName(
  { name, isNameProven }: Taker,
  { recipients }: Pick<Requiring, 'recipients'>,
): boolean {
  return isNameProven === true || areAllFor(recipients, name);
}

/** Returns true when the recipients are those of one domain alone, or are rerouted to it. */
function areAllFor(recipients: Requiring['recipients'], domain: string): boolean {
  return recipients.every((recipient) => nextHopOf(recipient) === domain);
}

/** Returns the domain, or the host, that the mail of a recipient goes to. */
export function nextHopOf({ domain, queue }: Requiring['recipients'][number]): string {
  return (parseQueueKey(queue).target ?? domain).toLowerCase();
}

/**
 * Returns the identity that a host with TLSA records must prove for the mail. The name of the recipients' own domain is one more name that
 * its certificate may have (RFC 7672 section 3.2.2).
 */
export function daneIdentityFor(
  tls: Extract<HostTls, { kind: 'dane' }>,
  { recipients }: Pick<Requiring, 'recipients'>,
): Extract<HostTls, { kind: 'dane' }> {
  const [domain, ...others] = new Set(recipients.map(nextHopOf));
  return domain === undefined || others.length > 0 || tls.names.includes(domain)
    ? tls
    : { ...tls, names: [...tls.names, domain] };
}

/** A session with a host, which is one of a relay unless `relay` is null. */
type OpenTo = {
  smtp: Pick<SmtpSession, 'tls' | 'extensions'>;
  taker: Taker;
  /** The proof that the session had to give when it was opened. */
  proven: HostTls['kind'];
  relay: object | null;
};

/** Returns true when the session may carry the mail. */
export function mayCarry(session: OpenTo, mail: Requiring): boolean {
  const { smtp, taker, relay } = session;
  if (!understands(smtp, mail)) return false;
  if (relay === null && !isProven(session, requirementOf(taker, mail), mail)) return false;
  return !requiresTls(mail) || mayRequireTls(session, mail);
}

/** Returns true when mail may be sent with REQUIRETLS in the session (RFC 8689 section 2). */
function mayRequireTls({ smtp, taker, relay }: OpenTo, mail: Requiring): boolean {
  if (smtp.tls?.authorized !== true || !smtp.extensions.has('REQUIRETLS')) return false;
  return relay !== null || isAuthenticName(taker, mail);
}

/** Returns true when the mail is sent with REQUIRETLS in a session that may carry it. */
export function passesRequireTls(session: OpenTo, mail: Requiring): boolean {
  return mail.message.requireTls === TLS_WISH.required && mayRequireTls(session, mail);
}

/** Returns true when the session has proven what the mail needs, whatever it was opened for. */
function isProven({ smtp, proven }: OpenTo, required: HostTls, { recipients }: Requiring): boolean {
  switch (required.kind) {
    case 'none':
    case 'opportunistic':
      return true;
    case 'required':
      return smtp.tls !== undefined;
    case 'verified':
      // A certificate that TLSA records name need not be valid otherwise.
      return smtp.tls?.authorized === true && proven !== 'dane';
    case 'dane': {
      // A certificate for the domain of other mail says nothing about this mail: whoever has that domain may have it.
      const name = smtp.tls?.provenName;
      const isNamed = name === undefined || required.names.includes(name) || areAllFor(recipients, name);
      return proven === 'dane' && isNamed;
    }
    case 'refused':
      return false;
  }
}

/** Returns true when the server can take the characters of the mail. */
export function understands(
  { extensions }: Pick<SmtpSession, 'extensions'>,
  { message }: Pick<Requiring, 'message'>,
): boolean {
  return message.utf8 === 0 || extensions.has('SMTPUTF8');
}
