/**
 * Decides which domain a request for settings is about: by its Host, or else by the address in it. Nothing here asks whether an address
 * exists, so that nobody learns it.
 */
import type { App } from '../../app.ts';
import { findName, sandboxDomain } from '../../domains/name.ts';
import { findReceiver } from '../../domains/receiving/store.ts';
import { parseMailbox } from '../../mail/address.ts';

/** First labels of the hosts at which mail programs look for the settings of a domain. */
const HOST_PREFIX = /^(?:autoconfig|autodiscover|ua-auto-config)\./;

type Asked = {
  /** Host of the request in lower case, without a port and a final dot. */
  host: string;
  /** Address in the request, as a mail program wrote it. */
  address: string | undefined;
};

/** The domain and the address that a request is about. */
export type Subject = {
  /** Domain whose mail arrives here, in lower case and A-labels. */
  domain: string;
  /** The address in the request when it is at the domain, whether it exists or not. */
  address: string | undefined;
  /** True when the host of the request belongs to the domain alone. */
  isOwnHost: boolean;
};

type DomainApp = Pick<App, 'db' | 'clock' | 'config'>;

/**
 * Returns what a request is about: the domain that its host belongs to, or else that of its address. An address at another domain is left
 * out, so that nobody gets settings or a profile for it. Returns undefined when no mail arrives here for either domain.
 */
export async function findSubject(app: DomainApp, asked: Asked): Promise<Subject | undefined> {
  const parsed = asked.address?.endsWith('>') ? undefined : parseMailbox(asked.address ?? '');
  const ofHost = findName(asked.host.replace(HOST_PREFIX, ''));
  const isOwnHost = asked.host !== ofHost;
  // A host that is a domain itself may be that of the installation, where the mail programs of all domains ask.
  for (const domain of isOwnHost ? [ofHost, parsed?.domain] : [parsed?.domain, ofHost]) {
    if (domain === undefined || !(await isReceived(app, domain))) continue;
    const address = parsed?.domain === domain ? parsed.address : undefined;
    return { domain, address, isOwnHost: isOwnHost && domain === ofHost };
  }
  return undefined;
}

async function isReceived({ db, clock, config }: DomainApp, domain: string): Promise<boolean> {
  if (domain === sandboxDomain(config)) return true;
  return (await findReceiver(db.read, domain, clock.now())) !== undefined;
}
