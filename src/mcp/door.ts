/** Decides who may speak to `/mcp`: programs, over HTTPS or on this machine, under the name of this installation; never pages of other sites. */
import type { FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { installationHosts } from '../host-names/purposes.ts';
import { type Channel, channelOf } from '../http/transport/channel.ts';
import { hostNameOf } from '../http/transport/host-names.ts';
import { AppError } from '../system/errors.ts';

/**
 * Returns the check of a request, which comes before the key is looked at. A browser sends an `Origin` with each request of a page. Other
 * sites may not ask, and neither may a page whose name its owner has pointed to this machine (DNS rebinding): its Host header is
 * that name.
 *
 * @throws AppError restricted_api_key, the 403 of the API
 */
export function createDoor(
  config: Pick<Config, 'hostname' | 'http' | 'links'>,
): (request: FastifyRequest) => void {
  const hosts = installationHosts(config);
  const isOurs = (hostName: string, channel: Channel) =>
    channel === 'local' || hosts.get(hostName)?.includes('api') === true;
  return (request) => {
    const { host = '', origin } = request.headers;
    const channel = channelOf(request, config.http.trustedProxies);
    if (channel === 'plain') throw new AppError('restricted_api_key', PLAIN);
    if (!isOurs(hostNameOf(host), channel)) throw new AppError('restricted_api_key', OTHER_HOST);
    if (origin !== undefined && !isSameHost(origin, host))
      throw new AppError('restricted_api_key', OTHER_ORIGIN);
  };
}

const PLAIN =
  'Agents are served over HTTPS, and over plain HTTP on this machine alone. A proxy with HTTPS in front must be one of http.trustedProxies, and say X-Forwarded-Proto';
const OTHER_HOST = 'Agents are served under the host name of this installation alone';
const OTHER_ORIGIN = 'Pages of other sites may not use /mcp';

function isSameHost(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}
