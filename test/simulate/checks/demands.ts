/**
 * Mail for a domain with a policy of MTA-STS goes only over TLS with a certificate that the authorities vouch for, mail for a domain with
 * DANE only over TLS with that of its TLSA record, and mail with a relay only to the relay, over TLS with a valid certificate.
 */
import type { ConnectionFacts } from '../observation.ts';
import { VERIFIED_HOST } from '../verified-host.ts';
import type { MakeCheck } from './check.ts';

export const checkDemands: MakeCheck = ({ domains, mail }, fail) => {
  const demands = new Map(domains.map(({ name, demand }) => [name, demand]));
  const demandOf = new Map(
    mail.map(({ name, recipients }) => [name, demands.get(recipients[0]?.domain ?? '')]),
  );

  function isMet(demand: 'mta-sts' | 'dane' | 'relay', { host, tls }: ConnectionFacts): boolean {
    return host.name === VERIFIED_HOST && tls === (demand === 'dane' ? 'invalid' : 'valid');
  }

  return {
    observe(observation) {
      if (observation.kind !== 'mail') return;
      const demand = demandOf.get(observation.mail);
      const { connection } = observation;
      if (demand && !isMet(demand, connection))
        fail(
          `${observation.mail} demands ${demand} and was sent to ${connection.host.name} (TLS: ${connection.tls})`,
        );
    },
  };
};
