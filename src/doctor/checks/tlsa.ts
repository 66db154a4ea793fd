/**
 * Checks the TLSA records of the hostname. Senders that check DANE deliver only to a server whose key a record names (RFC 7672
 * section 2.2), so records that name none of the keys in use keep their mail away.
 */
import { type Check, findingsOf } from '../check.ts';

const { ok, warn, fail } = findingsOf('tlsa');

/** DANE-EE(3), SPKI(1), SHA2-256(1): the only kind that the keys are compared with (RFC 7672 section 3.1). */
const KEY_RECORD = /^3 1 1 /;

export const tlsa: Check = {
  name: 'tlsa',
  isForProduction: true,
  async run({ dns, config, certificates }) {
    const name = `_25._tcp.${config.hostname.toLowerCase()}`;
    const [answer, listed] = await Promise.all([dns.fresh.tlsa(name), certificates.list()]);
    if (answer.kind === 'failed')
      return [warn(name, `nothing is known (${answer.reason})`, 'try again later')];
    if (answer.kind !== 'found') return [ok(name, 'no TLSA records are published, and none are needed')];
    const inUse = listed.flatMap(({ tlsa: value }) => value ?? []);
    const compared = answer.records.filter((record) => KEY_RECORD.test(record));
    if (compared.length === 0)
      return [warn(name, 'the TLSA records are of another kind than 3 1 1, which is not checked', PUBLISH)];
    if (!compared.some((record) => inUse.includes(record)))
      return [
        fail(name, 'the TLSA records name no key in use: senders that check DANE do not deliver', PUBLISH),
      ];
    return [ok(name, 'the TLSA records name a key in use')];
  },
};

const PUBLISH = 'publish the TLSA records that "postrider domain records" prints';
