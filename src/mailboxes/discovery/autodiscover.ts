/**
 * Reads and writes Autodiscover, by which Outlook finds settings: the XML of MS-OXDSCLI, and the JSON that leads to it. Requests are
 * strangers' XML, and their addresses stand in the answers.
 */
import { type ClientConfig, type ClientService, clientServices } from '../../domains/client-services.ts';
import { element, readElements, textElement, UnreadableDocumentError, xmlDocument } from '../../mail/xml.ts';

/** Schema of the answer around the settings (MS-OXDSCLI section 2.2.4.1). */
const RESPONSES = 'http://schemas.microsoft.com/exchange/autodiscover/responseschema/2006';
/** Schema of the settings (MS-OXDSCLI section 2.2.4.1.1). */
const SETTINGS = 'http://schemas.microsoft.com/exchange/autodiscover/outlook/responseschema/2006a';
const ADDRESS_PATH = 'Autodiscover/Request/EMailAddress';
const SCHEMA_PATH = 'Autodiscover/Request/AcceptableResponseSchema';

/** `unreadable`: the body is no request; `schema`: it asks for other settings than those of IMAP and SMTP. */
type AutodiscoverRequest = { address: string } | { refused: 'unreadable' | 'schema' };

/** Reads the body of a request. */
export function readAutodiscover(body: string): AutodiscoverRequest {
  const values = new Map<string, string>();
  try {
    readElements(body, { onLeaf: (path, text) => void values.set(path, text), onEnd: () => {} });
  } catch (error) {
    if (error instanceof UnreadableDocumentError) return { refused: 'unreadable' };
    throw error;
  }
  const address = values.get(ADDRESS_PATH);
  if (!address) return { refused: 'unreadable' };
  return values.get(SCHEMA_PATH) === SETTINGS ? { address } : { refused: 'schema' };
}

const TYPES: Readonly<Partial<Record<ClientService['protocol'], string>>> = {
  imap: 'IMAP',
  pop3: 'POP3',
  smtp: 'SMTP',
};

/** Returns the settings for an address, which is not looked up. */
export function formatAutodiscover(config: ClientConfig, address: string): string {
  const protocols = clientServices(config).map((service) => protocolOf(config, service, address));
  const account =
    textElement('AccountType', 'email') + textElement('Action', 'settings') + protocols.join('');
  const response = element('User', textElement('DisplayName', address)) + element('Account', account);
  return wrap(element('Response', response, { xmlns: SETTINGS }));
}

function protocolOf(
  { hostname }: ClientConfig,
  { protocol, security, port }: ClientService,
  address: string,
): string {
  const type = TYPES[protocol];
  if (type === undefined) return '';
  const settings =
    textElement('Type', type) +
    textElement('Server', hostname) +
    textElement('Port', port) +
    textElement('LoginName', address) +
    textElement('DomainRequired', 'off') +
    textElement('SPA', 'off') +
    textElement('SSL', 'on') +
    // SSL is TLS from the first byte, and TLS is STARTTLS (MS-OXDSCLI section 2.2.4.1.1.2.6).
    textElement('Encryption', security === 'tls' ? 'SSL' : 'TLS') +
    textElement('AuthRequired', 'on');
  return element('Protocol', settings);
}

/** Errors of MS-OXDSCLI section 3.1.5.1. */
const ERRORS = {
  unreadable: { code: 600, message: 'Invalid Request' },
  schema: { code: 601, message: 'Provider is not available' },
  unknown: { code: 500, message: 'The email address cannot be found' },
} as const;

/** Returns the answer to a request that gets no settings. `unknown`: the domain of the address is not received here. */
export function formatAutodiscoverError(reason: keyof typeof ERRORS): string {
  const { code, message } = ERRORS[reason];
  const error =
    textElement('ErrorCode', code) + textElement('Message', message) + textElement('DebugData', '');
  return wrap(element('Response', element('Error', error)));
}

function wrap(response: string): string {
  return xmlDocument(element('Autodiscover', response, { xmlns: RESPONSES }));
}

/** Returns the JSON answer, which leads a program to the XML; undefined when it asks for another protocol. */
export function autodiscoverLink(protocol: string | undefined, url: string) {
  if (protocol?.toLowerCase() !== 'autodiscoverv1') return undefined;
  return { Protocol: 'AutodiscoverV1', Url: url };
}

/** The JSON answer to a program that asks for another protocol. */
export const OTHER_PROTOCOL = {
  ErrorCode: 'InvalidProtocol',
  ErrorMessage: "The given protocol value is invalid. Supported values are 'AutodiscoverV1'",
} as const;
