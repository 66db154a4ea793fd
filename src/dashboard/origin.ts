/** The origin under which people open the dashboard. */
import type { Config } from '../config/config.ts';
import { isLocalHost } from '../http/transport/channel.ts';

/**
 * Returns the origin of links to the dashboard: the public address of the API, this machine when
 * it has no name of its own, and the hostname otherwise.
 */
export function originOf({ http, hostname }: Pick<Config, 'http' | 'hostname'>): string {
  if (http.publicUrl !== '') return new URL(http.publicUrl).origin;
  return isLocalHost(hostname) ? `http://localhost:${http.port}` : `https://${hostname}`;
}
