/** Says for a report about TLS what a session with a host came to (RFC 8460 section 4.3), and by which policy it was opened. */
import type { OpenedSmtp } from '../mail/smtp/client/open.ts';
import type { HostTls } from '../mail/tls-policy/host-tls.ts';
import type { ReportedFailure, ReportedPolicy } from '../mail/tls-policy/reported-session.ts';
import type { FetchedPolicy } from '../mail/tls-policy/sts-fetch.ts';
import { allowsHost, type StsPolicy, stsPolicyLines } from '../mail/tls-policy/sts-policy.ts';
import { createTargetGuard } from '../system/blocklist.ts';

/** Behind an address translation, a machine knows only an address of its own network, which tells a receiver nothing. */
const PUBLIC = createTargetGuard({ allow: [], own: [] });

/** A host of the domain with which a session was to be opened. */
export type ReportedSession = {
  /** Domain of the recipients, in A-labels. */
  domain: string;
  host: string;
  address: string;
  /** Address that the session left from; undefined when it is not known. */
  from?: string | undefined;
  /** The proof that the session had to give. */
  tls: HostTls;
  opened: Pick<OpenedSmtp & { ok: true }, 'ok' | 'session'> | Extract<OpenedSmtp, { ok: false }>;
};

/** Returns the policy by which the session was opened. `sts` is the policy of MTA-STS of the domain, if it has one. */
export function reportedPolicy(tls: HostTls, sts: StsPolicy | undefined): ReportedPolicy {
  const isDane =
    tls.kind === 'dane' || tls.kind === 'required' || (tls.kind === 'refused' && tls.by === 'dnssec');
  if (isDane) return { type: 'tlsa', lines: tls.kind === 'dane' ? tls.records.map(recordText) : [], mx: [] };
  if (sts && sts.mode !== 'none') return reportedSts(sts);
  return { type: 'no-policy-found', lines: [], mx: [] };
}

/** Returns the failure to fetch a policy, with which no host has to do. */
export function fetchFailure(
  type: Exclude<FetchedPolicy['kind'], 'policy'>,
  reason: string,
): ReportedFailure {
  return { type, host: null, address: null, from: null, reason };
}

/** Returns a policy of MTA-STS as a report has it. */
export function reportedSts(sts: StsPolicy): ReportedPolicy {
  return { type: 'sts', lines: stsPolicyLines(sts), mx: sts.mx };
}

function recordText({
  usage,
  selector,
  matchingType,
  data,
}: Extract<HostTls, { kind: 'dane' }>['records'][number]) {
  return `${usage} ${selector} ${matchingType} ${data}`;
}

/**
 * Returns what failed; null when the session met the policy. Undefined when it says nothing about TLS, because the host could not be
 * reached or refused the session for another reason (RFC 8460 section 4.3.4).
 */
export function reportedFailure(
  { host, address, from: given, tls, opened }: ReportedSession,
  sts: StsPolicy | undefined,
): ReportedFailure | null | undefined {
  const from = given !== undefined && PUBLIC.allows(given) ? given : null;
  const failed = (type: string, reason = ''): ReportedFailure => ({ type, host, address, from, reason });
  if (tls.kind === 'refused')
    return {
      ...failed(tls.by === 'dnssec' ? 'dnssec-invalid' : 'validation-failure', tls.reason),
      address: null,
      from: null,
    };
  if (!opened.ok) {
    const { failure } = opened;
    if (failure.kind !== 'tls') return undefined;
    return failed(
      failure.problem ?? 'validation-failure',
      failure.problem === 'starttls-not-supported' ? '' : failure.message,
    );
  }
  const { tls: session, extensions } = opened.session;
  if (!session)
    return extensions.has('STARTTLS')
      ? failed('validation-failure', 'TLS has failed, so the mail was sent in plain text')
      : failed('starttls-not-supported');
  if (tls.kind === 'required') return failed('tlsa-invalid', 'none of the TLSA records is usable');
  // A policy that is being tested holds nothing up, and the report says what it would have (RFC 8461 section 5).
  if (sts?.mode !== 'testing' || tls.kind === 'dane') return null;
  if (!allowsHost(sts, host)) return failed('validation-failure', 'the policy does not name the host');
  return session.problem === undefined ? null : failed(session.problem, session.fault ?? '');
}
