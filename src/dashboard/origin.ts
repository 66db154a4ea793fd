/** The origin under which people open the dashboard. */
import type { Config } from '../config/config.ts';

/** Names of this machine in a Host header. */
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/** Returns true for a Host header that names this machine. */
export function isLocalHost(hostName: string): boolean {
  return LOCAL_HOSTS.includes(hostName);
}

/**
 * Returns the origin of links to the dashboard: the public address of the API, this machine when
 * it has no name of its own, and the hostname otherwise.
 */
export function originOf({ http, hostname }: Pick<Config, 'http' | 'hostname'>): string {
  if (http.publicUrl !== '') return new URL(http.publicUrl).origin;
  return isLocalHost(hostname) ? `http://localhost:${http.port}` : `https://${hostname}`;
}
