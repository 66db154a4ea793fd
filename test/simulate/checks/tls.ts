/** Mail that requires TLS never leaves over a connection without a valid certificate. */
import { VERIFIED_HOST } from '../verified-host.ts';
import type { MakeCheck } from './check.ts';

export const checkTls: MakeCheck = ({ mail }, fail) => {
  const demanding = new Set(mail.filter(({ requireTls }) => requireTls).map(({ name }) => name));
  return {
    observe(observation) {
      if (observation.kind !== 'mail' || !demanding.has(observation.mail)) return;
      const { tls, host } = observation.connection;
      if (tls !== 'valid' || host.name !== VERIFIED_HOST)
        fail(`${observation.mail} requires TLS and was sent to ${host.name} (TLS: ${tls})`);
    },
  };
};
