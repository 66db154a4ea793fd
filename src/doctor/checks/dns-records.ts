/** Checks the records that the operator publishes once for the installation. The keys of domains belong to the check of domains. */
import { listOperatorRecords } from '../../domains/operator-records.ts';
import { comparePublished } from '../../domains/published.ts';
import { type Check, type Finding, findingsOf } from '../check.ts';

const { ok, warn, fail } = findingsOf('dns-records');

/** Maximum time of all lookups, in milliseconds. */
const TIMEOUT_MS = 3_200;
const PUBLISH = 'publish it as "postrider domain records --check" shows it';

export const dnsRecords: Check = {
  name: 'dns-records',
  isForProduction: true,
  async run(context) {
    const { records: all } = await listOperatorRecords(context, context.moreRecords, { withKeys: false });
    // Addresses and TLSA records have checks of their own. Nothing needs the other optional records.
    const records = all.filter(({ type, isOptional }) => !isOptional && !['A', 'AAAA'].includes(type));
    const limit = { clock: context.clock, timeoutMs: TIMEOUT_MS };
    const published = await comparePublished(context.dns.fresh, records, limit);
    const reason = published.find((one) => one.reason !== undefined)?.reason;
    const unknown = published.filter(({ state }) => state === 'unknown').length;
    const findings = records.flatMap(({ type, name }, index): Finding[] => {
      const { state = 'unknown', found = [] } = published[index] ?? {};
      const subject = `${type} ${name}`;
      if (state === 'missing') return [fail(subject, 'the record is missing', PUBLISH)];
      if (state === 'different') return [fail(subject, `DNS has ${found.join(', ')} instead`, PUBLISH)];
      return [];
    });
    const { hostname } = context.config;
    if (unknown > 0)
      findings.push(warn(hostname, `nothing is known of ${unknown} records (${reason})`, 'try again later'));
    if (findings.length > 0) return findings;
    return [ok(hostname, `its zone has all ${records.length} records`)];
  },
};
