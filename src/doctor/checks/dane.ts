/**
 * Checks whether DANE of recipients' domains can be obeyed: what the resolvers say of DNSSEC is believed only of those that are on this
 * machine or trusted, once they have proven that they validate (tls-policies/dnssec-test.ts).
 */
import { findDisbelieved } from '../../system/dns/servers.ts';
import { testDnssec } from '../../tls-policies/dnssec-test.ts';
import { type Check, type CheckContext, findingsOf } from '../check.ts';

const { ok, warn } = findingsOf('dane');

const SUBJECT = 'resolvers';

export const dane = {
  name: 'dane',
  isForProduction: true,
  async run({ config, dns, resolvers }: Pick<CheckContext, 'config' | 'dns' | 'resolvers'>) {
    const { trusted, signedName } = config.dns;
    if (!config.outbound.dane) return [ok(SUBJECT, 'DANE is turned off (outbound.dane)')];
    const [other] = findDisbelieved(resolvers(), trusted);
    if (other !== undefined)
      return [ok(SUBJECT, `DANE is not used: ${other} is neither on this machine nor trusted (dns.trusted)`)];
    const state = await testDnssec(dns, signedName);
    switch (state.kind) {
      case 'validates':
        return [ok(SUBJECT, 'they validate DNSSEC, so DANE is obeyed')];
      case 'does-not-validate':
        return [
          warn(
            SUBJECT,
            `they do not validate DNSSEC: ${signedName} is signed, and no proof of it has come. DANE is not used`,
            'let the resolver validate, for example Unbound with its root key, or set outbound.dane to false',
          ),
        ];
      case 'unknown':
        return [
          warn(
            SUBJECT,
            `it is not known whether they validate DNSSEC (${state.reason}), and mail to signed domains waits`,
            'see to DNS, or name another signed name in dns.signedName',
          ),
        ];
    }
  },
} satisfies Check;
