/**
 * The MTA-STS policies of domains (RFC 8461): what other servers may demand of the TLS of this host before they deliver mail to it. All domains
 * have the same policy, so the operator publishes its id once, and the domains lead to that record (RFC 8461 section 8.2).
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import type { OperatorRecord } from '../domains/operator-records.ts';
import { findReceiver } from '../domains/receiving/store.ts';
import { type HostedApp, hostNameOf } from '../http/transport/host-names.ts';
import { createTransport } from '../http/transport/server.ts';
import { sendTextError } from '../http/transport/text-error.ts';
import { notFound } from '../system/errors.ts';
import { domainHostPurpose, readDomainHost } from './purposes.ts';

type PolicyConfig = Pick<Config, 'hostname' | 'https'>;

/** RFC 8461 section 3.3. */
const POLICY_PATH = '/.well-known/mta-sts.txt';
/**
 * Times for which a policy is kept, in seconds: a week once it is enforced (RFC 8461 section 3.2 suggests weeks), and a day before, so that a
 * mistake is soon forgotten.
 */
const MAX_AGE_SECONDS = { none: 86_400, testing: 86_400, enforce: 604_800 } as const;

/** Returns the policy of every domain whose mail arrives here. */
function formatPolicy({ hostname, https: { mtaSts: mode } }: PolicyConfig): string {
  const mx = mode === 'none' ? [] : [`mx: ${hostname.toLowerCase()}`];
  return [`version: STSv1`, `mode: ${mode}`, ...mx, `max_age: ${MAX_AGE_SECONDS[mode]}`, ''].join('\r\n');
}

/** Number of characters of the id of a policy, of which at most 32 are allowed (RFC 8461 section 3.1). */
const ID_CHARACTERS = 20;

/** Returns a function that lists the record of the installation, which leads nowhere while HTTPS is off and is then left out. */
export function mtaStsRecords(config: PolicyConfig): () => Promise<readonly OperatorRecord[]> {
  return async () => (config.https.enabled ? [mtaStsRecord(config)] : []);
}

/** Returns the record that names the id of the policy, which changes with it. `_mta-sts.<domain>` is a CNAME to this name. */
function mtaStsRecord(config: PolicyConfig): OperatorRecord {
  const id = createHash('sha256').update(formatPolicy(config)).digest('hex').slice(0, ID_CHARACTERS);
  return {
    type: 'TXT',
    name: `_mta-sts.${config.hostname.toLowerCase()}`,
    value: `v=STSv1; id=${id}`,
    purpose: 'MTA-STS: the _mta-sts records of domains lead here; it changes with https.mtaSts',
  };
}

type PolicyApp = Pick<App, 'clock' | 'config' | 'db' | 'guards' | 'log' | 'metrics'>;

/** Creates the app, which is served for the hosts `mta-sts.<domain>`. */
export function createMtaStsApp(app: PolicyApp): HostedApp {
  const { clock, config, db, guards, metrics } = app;
  const server: FastifyInstance = createTransport(
    app,
    {
      maxBodyBytes: 1,
      sendError: (error, reply) => sendTextError(app, error, { reply, mediaType: 'nothing' }),
    },
    {
      metrics,
      bodies: guards.memory.pages,
      trustedProxies: config.http.trustedProxies,
      unauthenticated: { limit: guards.visitors, isAuthenticated: () => false },
    },
  );
  const policy = formatPolicy(config);
  server.get(POLICY_PATH, async (request, reply) => {
    const host = readDomainHost(hostNameOf(request.headers.host ?? ''));
    if (!host || !(await findReceiver(db.read, host.domain, clock.now()))) throw notFound('Policy');
    return reply.type('text/plain; charset=utf-8').send(policy);
  });
  const hostPurpose = domainHostPurpose(config);
  return { app: server, serves: (hostName) => hostPurpose(hostName) === 'mta_sts' };
}
