/** Reads reports about TLS (RFC 8460 section 4.4). */

import { parseTimestamp } from '../../system/clock.ts';
import { UnreadableDocumentError } from '../xml.ts';
import {
  readCount,
  readDomain,
  readPeriod,
  readText,
  type TlsFailure,
  type TlsPolicy,
  type TlsReport,
} from './report.ts';

/** Maximum number of policies of a report, and of failures of each. Further ones are left out. */
const MAX_POLICIES = 100;
const MAX_FAILURES = 100;

const COUNTS = ['total-successful-session-count', 'total-failure-session-count'] as const;
const POLICY_TYPES = ['tlsa', 'sts', 'no-policy-found'] as const;

/**
 * Reads a report. Policies that are not complete are counted.
 * @throws UnreadableDocumentError
 */
export function readTlsReport(json: string): TlsReport {
  const report = parse(json);
  const range = field(report, 'date-range');
  const period = readPeriod(timeOf(field(range, 'start-datetime')), timeOf(field(range, 'end-datetime')));
  const reportId = readText(field(report, 'report-id'));
  if (!period || reportId === '') throw new UnreadableDocumentError('the report has no period or no id');
  const given = listOf(field(report, 'policies'), Number.POSITIVE_INFINITY);
  const read = given.map((policy, index) => (index < MAX_POLICIES ? readPolicy(policy) : undefined));
  const unread = given.filter((_, index) => read[index] === undefined);
  const policies = read.filter((policy) => policy !== undefined);
  return {
    type: 'tls',
    organization: readText(field(report, 'organization-name')),
    reportId,
    ...period,
    policies,
    leftOut: {
      records: unread.length,
      messages: unread.reduce<number>((sum, policy) => sum + sessionsOf(policy), 0),
    },
  };
}

function sessionsOf(policy: unknown): number {
  const summary = field(policy, 'summary');
  return COUNTS.reduce((sum, name) => sum + (readCount(field(summary, name)) ?? 0), 0);
}

function readPolicy(value: unknown): TlsPolicy | undefined {
  const policy = field(value, 'policy');
  const summary = field(value, 'summary');
  const domain = readDomain(field(policy, 'policy-domain'));
  const policyType = POLICY_TYPES.find(
    (type) => type === readText(field(policy, 'policy-type')).toLowerCase(),
  );
  const [succeeded, failed] = COUNTS.map((name) => readCount(field(summary, name)));
  if (domain === undefined || policyType === undefined || succeeded === undefined || failed === undefined)
    return undefined;
  const failures = listOf(field(value, 'failure-details'), MAX_FAILURES).flatMap(
    (failure) => readFailure(failure) ?? [],
  );
  return { domain, policyType, succeeded, failed, failures };
}

function readFailure(value: unknown): TlsFailure | undefined {
  const resultType = readText(field(value, 'result-type'));
  const sessions = readCount(field(value, 'failed-session-count'));
  if (resultType === '' || sessions === undefined) return undefined;
  return { resultType, sessions, receivingHost: readDomain(field(value, 'receiving-mx-hostname')) ?? null };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new UnreadableDocumentError('the report is not JSON', { cause: error });
  }
}

function field(object: unknown, name: string): unknown {
  if (typeof object !== 'object' || object === null || !Object.hasOwn(object, name)) return undefined;
  return (object as Record<string, unknown>)[name];
}

function listOf(value: unknown, max: number): unknown[] {
  return Array.isArray(value) ? value.slice(0, max) : [];
}

function timeOf(value: unknown): number {
  return (typeof value === 'string' ? parseTimestamp(value) : undefined) ?? Number.NaN;
}
