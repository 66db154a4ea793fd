/** Returns what the owner of a mailbox enters in a mail program that does not find it out by itself. */
import type { Config } from '../../config/config.ts';
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import { type ClientConfig, type ClientService, clientServices } from '../../domains/client-services.ts';
import { PROFILE_PATH } from './paths.ts';

export type MailSettings = {
  username: string;
  /** Host of all services. */
  host: string;
  services: ClientService[];
  /** Link to the profile by which Apple devices set up the account. */
  profileUrl: string;
};

/** Returns the settings for a mailbox. */
export function mailSettings(
  config: ClientConfig & Pick<Config, 'http'>,
  { address }: Pick<MailboxRow, 'address'>,
): MailSettings {
  const query = new URLSearchParams({ emailaddress: address });
  return {
    username: address,
    host: config.hostname,
    services: clientServices(config),
    profileUrl: `${originOf(config)}${PROFILE_PATH}?${query}`,
  };
}

/**
 * Returns the origin of the HTTP server. Its certificate is for the host name of the installation, and has those of the domains only where
 * the operator has asked for them. A daemon without a host name of its own serves this machine alone.
 */
function originOf({ hostname, http }: ClientConfig & Pick<Config, 'http'>): string {
  if (http.publicUrl !== '') return http.publicUrl;
  return hostname === 'localhost' ? `http://localhost:${http.port}` : `https://${hostname}`;
}
