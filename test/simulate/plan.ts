/** The plan of a simulation: everything that a seed decides before it begins. It is plain data. Times are milliseconds since the beginning. */

export type Plan = {
  seed: number;
  size: Size;
  /** Limits that the operator has set, which the checks compare with. */
  limits: { connections: number; connectionsPerSite: number };
  /** Number of threads that deliver. */
  threads: number;
  tenants: readonly string[];
  sites: readonly SitePlan[];
  domains: readonly DomainPlan[];
  mail: readonly MailPlan[];
  faults: FaultPlan;
  policies: PolicyPlan;
};

export type Size = 'small' | 'crowd' | 'medium' | 'large' | 'huge';

/** A group of hosts that no other group shares a host with. Those of a provider have names in its domain. */
export type SitePlan = { name: string; isOfProvider: boolean; hosts: readonly HostPlan[] };

/** Settings of the operator, and the TLS policies of domains. */
export type PolicyPlan = {
  /** Rates of single sites. */
  rates: readonly {
    site: string;
    recipientsPerMinute: number | null;
    connectionsPerMinute: number | null;
    messagesPerConnection: number;
  }[];
  /** Maximum number of connections to all sites of the provider together; null when no site is of it. */
  providerConnections: number | null;
  /** The addresses that mail leaves from; empty when the system chooses. */
  sources: readonly SourcePlan[];
  /** A tenant whose mail one site refuses as spam. */
  spam: { tenant: string; site: string } | null;
};

export type SourcePlan = {
  name: string;
  address: string;
  ehlo: string;
  /** True when it is warmed up from the beginning. */
  isCold: boolean;
  /** Times in which the machine does not have the address. */
  unplugged: readonly { fromMs: number; untilMs: number }[];
};

export type HostPlan = {
  /** Name of its site. */
  site: string;
  name: string;
  address: string;
  preference: number;
  /** Time that bytes take to the host, and again the time that they take back. */
  latencyMs: number;
  /** Time after which the host answers a command. */
  answerMs: number;
  isPipelining: boolean;
  tls: HostTls;
  /** Number of connections beyond which it answers with 421. Null when it takes any number. */
  maxConnections: number | null;
  /** Number of messages of a connection after which it answers MAIL with 421. Null when it takes any number. */
  messagesPerConnection: number | null;
  /** Time for which it puts off a recipient that it does not know; 0 when it knows everybody. */
  greylistMs: number;
  troubles: readonly Trouble[];
};

/**
 * `valid` has a certificate that is valid for the host, `invalid` another one, `broken` closes the connection in the handshake, and
 * `stripped` is a valid host whose offer of STARTTLS somebody on the way removes every other time.
 */
export type HostTls = 'none' | 'valid' | 'invalid' | 'broken' | 'stripped';

export type Phase =
  | 'connect'
  | 'banner'
  | 'ehlo'
  | 'starttls'
  | 'mail'
  | 'rcpt'
  | 'data'
  | 'body'
  | 'dot'
  | 'idle';

/** `lost-reply` takes the message and ends the connection before its answer to the dot. */
export type TroubleKind =
  | 'hang'
  | 'drop'
  | 'defer'
  | 'refuse'
  | 'goodbye'
  | 'garbage'
  | 'slow'
  | 'lost-reply';

/** A fault of a host in one phase of a session, which happens with the probability `share` from `fromMs` to `untilMs`. */
export type Trouble = {
  phase: Phase;
  kind: TroubleKind;
  share: number;
  fromMs: number;
  untilMs: number;
};

export type DomainPlan = {
  name: string;
  /** The records at each time, the first from the beginning on. */
  records: readonly { fromMs: number; answer: DomainRecords }[];
  /** Time that an answer about the domain takes. */
  answerMs: number;
  ttlMs: number;
  /** The TLS policy of the domain, or `relay` where the operator sends its mail through a relay. Absent where neither applies. */
  demand?: 'mta-sts' | 'dane' | 'relay';
};

export type DomainRecords =
  | { kind: 'site'; site: string }
  /** The domain has no MX records, and is the only host of the site itself. */
  | { kind: 'own-host'; site: string }
  | { kind: 'no-name' | 'failed' | 'timeout' | 'null-mx' | 'ip-literal' | 'no-address' };

export type MailPlan = {
  /** Names the message in its envelope sender. */
  name: string;
  at: number;
  tenant: string;
  kind: 'transactional' | 'broadcast';
  /** Every address occurs once in the whole simulation. */
  recipients: readonly { address: string; domain: string; fate: 'exists' | 'unknown' | 'deferred-once' }[];
  maxAgeMs: number;
  requireTls: boolean;
  /** Time after which the mail is first due, for a planted fault. */
  waitsMs?: number;
};

export type FaultPlan = {
  /** Times at which the daemon is killed or stopped, and the time until it starts again. */
  ends: readonly { at: number; downMs: number; how: 'killed' | 'stopped' }[];
  /** Times in which a share of the commits fails. */
  failingCommits: readonly { fromMs: number; untilMs: number; share: number }[];
  clockSteps: readonly { at: number; byMs: number }[];
  /** Maximum time of a commit. */
  commitMs: number;
};
