/**
 * Decides over which sessions mail may leave: what the policies of the domain ask of TLS with a host (mail/tls-policy/host-tls.ts), and
 * what the message itself asks. For REQUIRETLS (RFC 8689 section 4.2.1) the name of the host must be proven, its certificate must be
 * valid, and the server must offer REQUIRETLS; mail with `TLS-Required: No` (section 4.2.2) is not held up by policies. Mail with
 * addresses or header fields in UTF-8 needs a server that offers SMTPUTF8 (RFC 6531 section 3.2). The name of a relay is proven,
 * because the operator gave it.
 */
import type { SmtpSession } from '../../mail/smtp/client/open.ts';
import { type HostTls, OPPORTUNISTIC } from '../../mail/tls-policy/host-tls.ts';
import type { Claim } from '../claim.ts';
import type { Hosts } from '../sources/source.ts';

type Requiring = {
  message: Pick<Claim['message'], 'requireTls' | 'utf8'>;
  recipients: readonly Pick<Claim['recipients'][number], 'domain'>[];
};

/** A host that mail may go to. */
export type Taker = Pick<Hosts[number], 'name' | 'tls' | 'isNameProven'>;

/** Values of `requireTls`: the message has neither wish, has REQUIRETLS, or has the header field `TLS-Required: No`. */
const REQUIRED = 1;
const NOT_REQUIRED = 2;

/** Returns true for mail with REQUIRETLS. */
export function requiresTls({ message }: Pick<Requiring, 'message'>): boolean {
  return message.requireTls === REQUIRED;
}

/** Returns true for mail that the policies of its recipients' domains do not hold up. */
export function ignoresPolicies({ message }: Pick<Requiring, 'message'>): boolean {
  return message.requireTls === NOT_REQUIRED;
}

/** Returns what a session with a host must prove before it carries the mail. */
export function requirementOf({ tls = OPPORTUNISTIC }: Pick<Taker, 'tls'>, mail: Requiring): HostTls {
  if (ignoresPolicies(mail)) return tls.kind === 'none' ? tls : OPPORTUNISTIC;
  if (!requiresTls(mail) || tls.kind === 'dane' || tls.kind === 'refused') return tls;
  return { kind: 'verified' };
}

/**
 * Returns true when the name of the host is authentic, because a policy proves it or because it is the domain of the recipients itself.
 * Whoever forges DNS can name any other host in an MX record.
 */
export function isAuthenticName(
  { name, isNameProven }: Taker,
  { recipients }: Pick<Requiring, 'recipients'>,
): boolean {
  return isNameProven === true || recipients.every(({ domain }) => domain.toLowerCase() === name);
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
  if (relay === null && !isProven(session, requirementOf(taker, mail).kind)) return false;
  if (!requiresTls(mail)) return true;
  if (smtp.tls?.authorized !== true || !smtp.extensions.has('REQUIRETLS')) return false;
  return relay !== null || isAuthenticName(taker, mail);
}

/** Returns true when the session has proven what the mail needs, whatever it was opened for. */
function isProven({ smtp, proven }: OpenTo, required: HostTls['kind']): boolean {
  switch (required) {
    case 'none':
    case 'opportunistic':
      return true;
    case 'required':
      return smtp.tls !== undefined;
    case 'verified':
      // A certificate that TLSA records name need not be valid otherwise.
      return smtp.tls?.authorized === true && proven !== 'dane';
    case 'dane':
      return proven === 'dane';
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
