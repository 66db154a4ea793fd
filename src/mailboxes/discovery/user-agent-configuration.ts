/** Writes the settings of a domain as JSON for programs that know draft-ietf-mailmaint-pacc. */
import { type ClientConfig, type ClientService, clientServices } from '../../domains/client-services.ts';

/** Names of the services in the document, with the only ports that it can mean, all of them with TLS from the first byte. */
const NAMES: Readonly<Partial<Record<ClientService['protocol'], { name: string; port: number }>>> = {
  imap: { name: 'imap', port: 993 },
  pop3: { name: 'pop3', port: 995 },
  smtp: { name: 'submit', port: 465 },
};

/** Returns the document. It has no ports, so that only services at the standard ones are in it. */
export function userAgentConfiguration(config: ClientConfig, domain: string) {
  const protocols = clientServices(config).flatMap(({ protocol, security, port }) => {
    const known = NAMES[protocol];
    const isStandard = security === 'tls' && port === known?.port;
    return known && isStandard ? [[known.name, { host: config.hostname }] as const] : [];
  });
  return {
    protocols: Object.fromEntries(protocols),
    authentication: { password: true },
    info: { provider: { name: domain, shortName: domain } },
  };
}
