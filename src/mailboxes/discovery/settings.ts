/** Returns what the owner of a mailbox enters in a mail program that does not find it out by itself. */
import type { Config } from '../../config.ts';
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
  { address, domain }: Pick<MailboxRow, 'address' | 'domain'>,
): MailSettings {
  const query = new URLSearchParams({ emailaddress: address });
  return {
    username: address,
    host: config.hostname,
    services: clientServices(config),
    profileUrl: `${originFor(config, domain)}${PROFILE_PATH}?${query}`,
  };
}

/** A daemon without a host name of its own serves this machine alone. */
function originFor({ hostname, http }: ClientConfig & Pick<Config, 'http'>, domain: string): string {
  if (http.publicUrl !== '') return http.publicUrl;
  return hostname === 'localhost' ? `http://localhost:${http.port}` : `https://autoconfig.${domain}`;
}
