/** Reports that other servers send about the mail that they got from a domain, or about their TLS connections to it. */

/** The treatment of messages. */
export type Disposition = 'none' | 'quarantine' | 'reject';

/** Messages from one address that had the same results. */
export type DmarcRecord = {
  sourceIp: string;
  messages: number;
  disposition: Disposition;
  /** True when DKIM, or SPF, passed for an aligned domain. */
  dkim: boolean;
  spf: boolean;
  /** Domain of the author, in lower case. */
  headerFrom: string;
};

/** The part of a report that could not be read, or exceeds a limit. */
export type LeftOut = {
  /** Number of records, or of policies in a report about TLS. */
  records: number;
  /** Number of messages, or of connections, in those of them that say it. */
  messages: number;
};

/** The fields of every report. Texts are cleaned and short. */
type ReportHead = {
  leftOut: LeftOut;
  organization: string;
  reportId: string;
  /** Period of the report in Unix milliseconds. */
  beginAt: number;
  endAt: number;
};

/** An aggregate report (RFC 9990 section 3.1.1). */
export type DmarcReport = ReportHead & {
  type: 'dmarc';
  /** Domain whose policy was applied, in lower case. */
  domain: string;
  policy: Disposition;
  /** The records with the most messages come first. */
  records: DmarcRecord[];
};

/** Connections that failed for the same reason. */
export type TlsFailure = {
  /** Type of the failure, such as `certificate-expired` (RFC 8460 section 4.3). */
  resultType: string;
  sessions: number;
  receivingHost: string | null;
};

export type TlsPolicy = {
  /** Domain whose mail was sent, in lower case. */
  domain: string;
  policyType: 'tlsa' | 'sts' | 'no-policy-found';
  succeeded: number;
  failed: number;
  failures: TlsFailure[];
};

/** A report about TLS (RFC 8460 section 4.4). */
export type TlsReport = ReportHead & { type: 'tls'; policies: TlsPolicy[] };

export type Report = DmarcReport | TlsReport;
