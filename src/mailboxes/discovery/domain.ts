/**
 * Decides which domain a request for settings is about: by the Host of the request, or else by the address in it. Nothing here asks
 * whether an address exists, so that nobody learns it.
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
  /** The address in the request when it can be one of a mailbox, in any case, whether it exists or not. */
  address: string | undefined;
  /** True when the host of the request belongs to the domain alone. */
  isOwnHost: boolean;
};

type DomainApp = Pick<App, 'db' | 'clock' | 'config'>;

/** Returns what a request is about; undefined when it names no domain whose mail arrives here. */
export async function findSubject(app: DomainApp, asked: Asked): Promise<Subject | undefined> {
  const parsed = asked.address?.endsWith('>') ? undefined : parseMailbox(asked.address ?? '');
  const address = parsed?.address;
  const own = findName(asked.host.replace(HOST_PREFIX, ''));
  if (own !== undefined && (await isReceived(app, own)))
    return { domain: own, address, isOwnHost: asked.host !== own };
  const domain = parsed?.domain;
  if (domain === undefined || !(await isReceived(app, domain))) return undefined;
  return { domain, address, isOwnHost: false };
}

async function isReceived({ db, clock, config }: DomainApp, domain: string): Promise<boolean> {
  if (domain === sandboxDomain(config)) return true;
  return (await findReceiver(db.read, domain, clock.now())) !== undefined;
}
