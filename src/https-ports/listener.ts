/**
 * Opens the two ports of HTTPS: the one with TLS, which hands its connections to the server of the API, and the one that leads to it. They
 * open once a certificate is there that a client may trust, or while one is being ordered, because an authority asks at both. A port that
 * cannot be opened is tried again: mail must not stop because another program has it.
 */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import type { Certificates } from '../certificates/certificates.ts';
import { findServedName } from '../host-names/served-names.ts';
import { listenHttp, listenHttps } from '../http/transport/listen.ts';
import { isListenError, type Listener, listenAt } from '../system/listen.ts';
import { periodic, startWork } from '../system/worker.ts';
import { type ChallengeAnswers, findChallengeHandshake } from './challenge-handshake.ts';
import { createHandshakeLimit } from './handshake-limit.ts';
import { createRedirectServer } from './redirect.ts';

export type HttpsParts = {
  /** The server of the API, which listens already. */
  server: FastifyInstance;
  certificates: Pick<Certificates, 'store' | 'follow' | 'list'> & { challenges: ChallengeAnswers };
};

type HttpsListener = Listener & {
  /** URLs of the ports that are open. */
  addresses(): { https?: string; redirect?: string };
};

const SECTION = 'https';
const REDIRECT_SECTION = 'https_redirect';
/** Time after which a port that could not be opened is tried again, in milliseconds. */
const RETRY_MS = 60_000;

/** Opens the ports that can be opened now, and the others as soon as they can. The address is empty unless HTTPS listens at once. */
export async function openHttps(app: App, parts: HttpsParts): Promise<HttpsListener> {
  if (!app.config.https.enabled) return { address: '', addresses: () => ({}), close: async () => {} };
  const ports = new Ports(app, parts);
  parts.certificates.follow({ replace: () => void ports.open(), renewTicketKey() {} });
  await ports.open();
  const retry = startWork(
    app,
    periodic(app.clock, { name: 'https ports', periodMs: RETRY_MS, run: () => ports.open() }),
  );
  return {
    address: ports.addresses().https ?? '',
    addresses: () => ports.addresses(),
    async close() {
      await retry.stop(0);
      await ports.close();
    },
  };
}

type Port = 'https' | 'redirect';

class Ports {
  readonly #app: App;
  readonly #parts: HttpsParts;
  readonly #listeners: Partial<Record<Port, Listener>> = {};
  /** Last failure of each port, so that the log names each reason once. */
  readonly #failures: Partial<Record<Port, string>> = {};
  readonly #handshakes: ReturnType<typeof createHandshakeLimit>;
  /** True once there is a certificate that a client may trust. */
  #isTrusted = false;
  #isClosed = false;
  #opening: Promise<void> = Promise.resolve();

  constructor(app: App, parts: HttpsParts) {
    this.#app = app;
    this.#parts = parts;
    this.#handshakes = createHandshakeLimit(app, SECTION);
  }

  /** Opens what is needed and not open. Calls run one after the other, and one that fails is tried again by the next. */
  open(): Promise<void> {
    this.#opening = this.#opening
      .then(() => this.#openMissing())
      .catch((error: unknown) =>
        this.#app.log.error({ err: error }, 'the ports of HTTPS could not be opened'),
      );
    return this.#opening;
  }

  addresses(): { https?: string; redirect?: string } {
    const { https, redirect } = this.#listeners;
    return {
      ...(https && { https: https.address }),
      ...(redirect && { redirect: redirect.address }),
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#opening;
    await Promise.all(Object.values(this.#listeners).map((listener) => listener.close()));
  }

  async #openMissing(): Promise<void> {
    const { https, redirect } = this.#listeners;
    if (this.#isTrusted && https && redirect) return;
    const listed = await this.#parts.certificates.list();
    this.#isTrusted ||= listed.some(({ kind, names }) => kind !== 'self_signed' && names !== null);
    const isOrdered = this.#app.config.acme.directory !== '';
    if (this.#isClosed || !(this.#isTrusted || isOrdered)) return;
    await this.#openOne('https', (address) => this.#listen(address));
    await this.#openOne('redirect', (address) => this.#listenForRedirects(address));
  }

  async #openOne(port: Port, listen: (address: string) => Promise<Listener>): Promise<void> {
    if (this.#listeners[port]) return;
    try {
      const listener = await listenAt(this.#app.config.https.address, listen);
      this.#listeners[port] = listener;
      const says = port === 'https' ? 'serving HTTPS' : 'redirecting HTTP to HTTPS';
      this.#app.log.info({ address: listener.address }, says);
    } catch (error) {
      if (!isListenError(error)) throw error;
      if (this.#failures[port] !== error.message)
        this.#app.log.error(
          { reason: error.message },
          'a port of HTTPS cannot be opened, and is tried again',
        );
      this.#failures[port] = error.message;
    }
  }

  #listen(address: string): Promise<Listener> {
    const { config, db, clock, log } = this.#app;
    const { certificates, server } = this.#parts;
    return listenHttps(this.#app, server, {
      section: SECTION,
      at: { address, port: config.https.port },
      trustedProxies: config.http.trustedProxies,
      tls: {
        certificates: certificates.store,
        findSpecial: findChallengeHandshake(certificates.challenges),
        turn: this.#handshakes,
      },
      findHost: async (serverName) => {
        if (!this.#isTrusted) return undefined;
        const name = serverName.toLowerCase() || config.hostname.toLowerCase();
        const served = await findServedName(db.read, name, { config, now: clock.now() }).catch((error) =>
          log.error({ err: error }, 'the host names could not be read'),
        );
        return served?.name;
      },
    });
  }

  #listenForRedirects(address: string): Promise<Listener> {
    const { config } = this.#app;
    const server = createRedirectServer(this.#app, {
      challenges: this.#parts.certificates.challenges,
      httpsPort: () => {
        const { https } = this.#listeners;
        return https && this.#isTrusted ? portOf(https.address) : undefined;
      },
    });
    const at = { address, port: config.https.redirectPort };
    return listenHttp(this.#app, server, { section: REDIRECT_SECTION, at });
  }
}

const HTTPS_PORT = 443;

function portOf(url: string): number {
  return Number(new URL(url).port || HTTPS_PORT);
}
