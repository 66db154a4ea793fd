/** Looks up the hosts of a relay, and opens sessions with them: always over TLS with a valid certificate, and logged in. */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { App } from '../app.ts';
import { type MxPlan, planRelays } from '../mail/mx.ts';
import type { SmtpFailure } from '../mail/smtp/client/failure.ts';
import type { SmtpLogin } from '../mail/smtp/client/login.ts';
import { type OpenedSmtp, openSmtp } from '../mail/smtp/client/open.ts';
import type { SmtpOptions } from '../mail/smtp/client/options.ts';
import { UNGUARDED } from '../system/blocklist.ts';
import { errorCode } from '../system/errors.ts';
import type { Authorities, Password, Relay } from './route.ts';

/** Looks up the hosts of the relay. Private addresses are left out unless the route allows them. */
export function planRelay(
  app: Pick<App, 'clock' | 'dns' | 'random' | 'targets' | 'config'>,
  { hosts, isPrivate }: Relay,
): Promise<MxPlan> {
  return planRelays(isPrivate ? { ...app, targets: UNGUARDED } : app, hosts);
}

/** Context in which the password of a route is sealed, so that it opens for no other route. */
export function passwordContext(route: string): readonly string[] {
  return ['outbound-route', route];
}

/** `host` is one of the relay, of which one address is tried. */
type RelaySession = Pick<
  SmtpOptions,
  'address' | 'timeouts' | 'isPressed' | 'cut' | 'onPhase' | 'observer'
> & {
  host: string;
};

/** Opens a session with one host of a relay. Failures of the relay, and secrets that cannot be read, are results. */
export async function openRelay(
  app: Pick<App, 'clock' | 'dial' | 'config' | 'sealer'>,
  relay: Relay,
  { host, ...session }: RelaySession,
): Promise<OpenedSmtp> {
  const secrets = await readSecrets(app, relay);
  if ('failure' in secrets) return { ok: false, failure: secrets.failure };
  return openSmtp(app, {
    ...session,
    ...secrets,
    port: relay.port,
    mayBePrivate: relay.isPrivate,
    serverName: relay.tlsName ?? host,
    heloName: app.config.hostname,
    tls: relay.tls,
  });
}

type Secrets = { login: SmtpLogin | undefined; authorities: string | undefined };

/** Reads the password and the authorities. Files are read for each session, so that the operator can replace them. */
async function readSecrets(
  { sealer }: Pick<App, 'sealer'>,
  { route, login, authorities }: Relay,
): Promise<Secrets | { failure: SmtpFailure }> {
  try {
    return {
      login: login
        ? { user: login.user, password: await readPassword(sealer, route, login.password) }
        : undefined,
      authorities: authorities ? await readAuthorities(authorities) : undefined,
    };
  } catch (error) {
    // Senders see this text, so it names neither paths nor keys.
    const message = `the password or the authorities of the route "${route}" cannot be used (${errorCode(error) ?? 'not valid'})`;
    return { failure: { phase: 'auth', kind: 'protocol', message } };
  }
}

async function readPassword(sealer: App['sealer'], route: string, password: Password): Promise<string> {
  if (password.kind === 'sealed') return sealer.open(password.sealed, passwordContext(route));
  const text = (await readFile(password.path, 'utf8')).replace(/\r?\n$/, '');
  if (text === '') throw new Error('the file of the password is empty');
  return text;
}

async function readAuthorities(authorities: Authorities): Promise<string> {
  const pem = authorities.kind === 'pem' ? authorities.pem : await readFile(authorities.path, 'utf8');
  requireCertificate(pem);
  return pem;
}

/**
 * Checks that a text begins with a certificate. Without this check an empty file would trust the authorities of the system.
 * @throws Error
 */
export function requireCertificate(pem: string): void {
  new X509Certificate(pem);
}
