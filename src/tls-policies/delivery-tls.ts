/** The knowledge of delivery about TLS with other mail servers: their policies, sessions that can be resumed, and counts for reports. */
import { domainToASCII } from 'node:url';
import { LRUCache } from 'lru-cache';
import type { MxProof } from '../mail/mx.ts';
import { SmtpTickets } from '../mail/smtp/client/tickets.ts';
import type { NamedHost } from '../mail/tls-policy/dane-lookup.ts';
import {
  type DomainTls,
  postureOf,
  type QualifiedHost,
  qualifyHost,
  type TlsWord,
} from '../mail/tls-policy/host-tls.ts';
import type { StsPolicy } from '../mail/tls-policy/sts-policy.ts';
import { withTimeout } from '../system/clock.ts';
import type { PartApp } from '../thread-app.ts';
import { type DnssecState, DnssecTest } from './dnssec-test.ts';
import { TlsSessionCounts } from './session-counts.ts';
import { fetchFailure, type ReportedSession, reportedFailure, reportedPolicy } from './session-result.ts';
import { type FoundSts, StsPolicies } from './sts-policies.ts';

type TlsApp = Pick<PartApp, 'clock' | 'dns' | 'fetch' | 'db' | 'log' | 'random' | 'config'>;

/**
 * Maximum number of characters of the policies that are remembered for reports, and those that a domain counts as besides: about 8 MB, for
 * ten thousand domains with usual policies. A policy of MTA-STS may have 64,768.
 */
const MAX_APPLIED_CHARACTERS = 4 * 1024 ** 2;
const CHARACTERS_PER_DOMAIN = 256;
const NOT_USED: DnssecState = { kind: 'does-not-validate' };
/** Maximum time of the last write of counts, in milliseconds. It may need DNS, which may be why the daemon stops. */
const MAX_STOP_MS = 1_000;
const NO_STS: FoundSts = { policy: undefined, retryMs: Number.POSITIVE_INFINITY };

/** The TLS of one domain, while its hosts are looked up. */
type DomainPolicies = {
  /** Returns what a session with a host of the domain must prove. */
  qualify(host: NamedHost & { mxProof: MxProof | undefined }): Promise<QualifiedHost>;
  /** Returns the part of the site's key that keeps domains with different policies apart. */
  posture(mxProof: MxProof | undefined): Promise<string>;
  /** Returns the time for which the policies hold, in milliseconds. */
  ttlMs(): Promise<number>;
  /** Why it is not known whether DNSSEC can be believed; undefined when it is known, or does not matter. */
  findDoubt(mxProof: MxProof | undefined): Promise<string | undefined>;
};

export class DeliveryTls {
  readonly tickets: SmtpTickets;
  readonly #app: TlsApp;
  readonly #sts: StsPolicies;
  readonly #dnssec: DnssecTest;
  readonly #counts: TlsSessionCounts;
  /** The MTA-STS policy that was applied last, by domain; null for domains without one. */
  readonly #applied = new LRUCache<string, { sts: StsPolicy | undefined }>({
    maxSize: MAX_APPLIED_CHARACTERS,
    sizeCalculation: ({ sts }) =>
      (sts?.mx ?? []).reduce((sum, { length }) => sum + length, CHARACTERS_PER_DOMAIN),
  });

  constructor(app: TlsApp) {
    this.#app = app;
    this.tickets = new SmtpTickets(app.clock);
    this.#dnssec = new DnssecTest(app, app.config.dns.signedName);
    this.#counts = new TlsSessionCounts(app);
    this.#sts = new StsPolicies(app, (domain, { kind, reason }) =>
      this.#counts.count({
        domain,
        policy: { type: 'sts', lines: [], mx: [] },
        failure: fetchFailure(kind, reason),
      }),
    );
  }

  /** Returns the policies of a domain. Nothing is looked up before a host of it is known. `word` is the operator's. */
  policiesOf(given: string, word: TlsWord | undefined): DomainPolicies {
    const domain = domainToASCII(given) || given;
    const usesSts = word === undefined && this.#app.config.outbound.mtaSts;
    let found: Promise<FoundSts> | undefined;
    const findSts = (): Promise<FoundSts> => {
      found ??= usesSts ? this.#sts.find(domain) : Promise.resolve(NO_STS);
      return found;
    };
    // The state is one for the whole lookup: were it known only at its end, hosts would count as checked that were not.
    let tested: Promise<DnssecState> | undefined;
    const findState = (): Promise<DnssecState> => {
      tested ??= this.#app.config.outbound.dane ? this.#dnssec.state() : Promise.resolve(NOT_USED);
      return tested;
    };
    const tlsOf = async (mxProof: MxProof | undefined): Promise<DomainTls> => {
      const { policy: sts } = await findSts();
      if (word === undefined) this.#applied.set(domain, { sts });
      else this.#applied.delete(domain);
      const isSecure = mxProof !== undefined && (await findState()).kind === 'validates';
      return { domain, word, sts, isSecure, aliasTarget: mxProof?.aliasTarget };
    };
    return {
      qualify: async ({ mxProof, ...host }) => qualifyHost(this.#app.dns, await tlsOf(mxProof), host),
      posture: async (mxProof) => postureOf(await tlsOf(mxProof)),
      ttlMs: async () => (await findSts()).retryMs,
      findDoubt: async (mxProof) => {
        if (!mxProof || word !== undefined) return undefined;
        const state = await findState();
        return state.kind === 'unknown' ? state.reason : undefined;
      },
    };
  }

  /** Counts a session with a host for the report of its domain. Mail to which the operator's word applies is not reported. */
  observe(session: ReportedSession): void {
    const applied = this.#applied.get(session.domain);
    if (!applied) return;
    const failure = reportedFailure(session, applied.sts);
    if (failure === undefined) return;
    this.#counts.count({ domain: session.domain, policy: reportedPolicy(session.tls, applied.sts), failure });
  }

  /** Writes the counts for reports. */
  flush(): Promise<void> {
    return this.#counts.flush();
  }

  /** Writes the counts for reports, as far as that takes no longer than a moment. It never rejects. */
  async stop(): Promise<void> {
    const limit = { timeoutMs: MAX_STOP_MS, what: 'counting sessions for reports about TLS' };
    await withTimeout(this.#app.clock, this.flush(), limit).catch(() => {});
  }
}
