/** Writes the settings of a domain as JSON for programs that know draft-ietf-mailmaint-pacc. */
import { type ClientConfig, clientServices } from '../../domains/client-services.ts';

/** Names of the services in the document, with the only ports that it can mean. */
const NAMES = { imap: { name: 'imap', port: 993 } } as const;

/** Returns the document. It has no ports, so that only services at the standard ones are in it. */
export function userAgentConfiguration(config: ClientConfig, domain: string) {
  const standard = clientServices(config).filter(
    ({ protocol, security, port }) => security === 'tls' && port === NAMES[protocol]?.port,
  );
  const protocols = standard.map(({ protocol }) => [NAMES[protocol].name, { host: config.hostname }]);
  return {
    protocols: Object.fromEntries(protocols) as Record<string, { host: string }>,
    authentication: { password: true },
    info: { provider: { name: domain, shortName: domain } },
  };
}
