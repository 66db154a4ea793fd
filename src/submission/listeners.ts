/** Listens for mail of people and of applications: on one port with TLS from the first byte (RFC 8314), and on one with STARTTLS. */
import type { App } from '../app.ts';
import type { Certificates } from '../certificates/certificates.ts';
import type { SmtpServerOptions } from '../mail/smtp/server/options.ts';
import { listenSmtp } from '../mail/smtp/server/server.ts';
import { type Listener, listenAt } from '../system/listen.ts';
import { maxFilesOf } from '../system/open-files.ts';
import { createSubmissionSession } from './session.ts';
import { createSubmissionApp, type SubmissionApp } from './submission-app.ts';

/** Number of ports. */
const PORTS = 2;
/** Time in which messages that are being received are completed when the daemon stops, in milliseconds. */
const DRAIN_MS = 25_000;
/**
 * Maximum time for which mail can be held: 30 days. Whoever has stolen a password fills no more days than these, and people plan no further
 * ahead; applications that do can use the API.
 */
const MAX_HOLD_SECONDS = 30 * 24 * 3_600;

type SubmissionListener = Listener & {
  /** Addresses that are listened on: that with TLS from the first byte, and that with STARTTLS. None while submission is off. */
  addresses: readonly string[];
};

/**
 * Starts to listen, unless submission is off.
 * @throws ListenError
 */
export async function openSubmission(
  app: App,
  { store }: Pick<Certificates, 'store'>,
  logins: Pick<SubmissionApp, 'authenticate' | 'openLogins'>,
): Promise<SubmissionListener> {
  const { enabled, address, port, tlsPort, connections } = app.config.submission;
  if (!enabled) return { address: '', addresses: [], close: async () => {} };
  const perPort = Math.min(connections, Math.floor(maxFilesOf('submission') / PORTS));
  const submissionApp = createSubmissionApp(app, logins, perPort * PORTS);
  const listen = (
    options: Pick<SmtpServerOptions, 'section' | 'tls'> & { port: number },
  ): Promise<Listener> =>
    listenAt(address, (host) =>
      listenSmtp(app, {
        ...options,
        at: { address: host, port: options.port },
        hostname: app.config.hostname,
        protocol: 'smtp',
        submission: { maxHoldSeconds: MAX_HOLD_SECONDS },
        limits: { connections: perPort },
        openSession: (connection) => createSubmissionSession(submissionApp, connection),
      }),
    );
  await using opened = new AsyncDisposableStack();
  const closeApp = (): void => submissionApp.knownKeys.close();
  opened.defer(closeApp);
  const immediate = { mode: 'immediate', certificates: store } as const;
  const first = opened.adopt(
    await listen({ section: 'submission_tls', port: tlsPort, tls: immediate }),
    (listener) => listener.close(0),
  );
  const second = await listen({
    section: 'submission',
    port,
    tls: { mode: 'starttls', certificates: store },
  });
  opened.move();
  const addresses = [first.address, second.address];
  app.log.info({ addresses }, 'serving submission');
  return {
    address: second.address,
    addresses,
    async close() {
      await Promise.all([first.close(DRAIN_MS), second.close(DRAIN_MS)]);
      closeApp();
    },
  };
}
