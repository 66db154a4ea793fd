/** Writes the settings of a domain for Thunderbird and other programs that know Autoconfig (draft-ietf-mailmaint-autoconfig). */
import { type ClientConfig, type ClientService, clientServices } from '../../domains/client-services.ts';
import { element, textElement, xmlDocument } from '../../mail/xml.ts';

const KINDS: Readonly<Partial<Record<ClientService['protocol'], { element: string; type: string }>>> = {
  imap: { element: 'incomingServer', type: 'imap' },
  pop3: { element: 'incomingServer', type: 'pop3' },
  smtp: { element: 'outgoingServer', type: 'smtp' },
};

/** Returns the document. The program puts the whole address in place of `%EMAILADDRESS%`. */
export function formatAutoconfig(config: ClientConfig, domain: string): string {
  const servers = clientServices(config).map((service) => serverOf(config, service));
  const provider =
    textElement('domain', domain) +
    textElement('displayName', domain) +
    textElement('displayShortName', domain) +
    servers.join('');
  return xmlDocument(
    element('clientConfig', element('emailProvider', provider, { id: domain }), { version: '1.1' }),
  );
}

function serverOf({ hostname }: ClientConfig, { protocol, security, port }: ClientService): string {
  const kind = KINDS[protocol];
  if (!kind) return '';
  const settings =
    textElement('hostname', hostname) +
    textElement('port', port) +
    textElement('socketType', security === 'tls' ? 'SSL' : 'STARTTLS') +
    textElement('authentication', 'password-cleartext') +
    textElement('username', '%EMAILADDRESS%');
  return element(kind.element, settings, { type: kind.type });
}
