/**
 * The admin API for the operator, on a UNIX socket in the data directory and never on a network port. It needs no
 * keys: the permissions of the file decide who may use it. The CLI connects to it (cli/control-client.ts).
 */
import { chmodSync, closeSync, existsSync, lstatSync, openSync, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import type { MailboxContents } from './accounts/contents.ts';
import { copyClosed } from './accounts/copy.ts';
import { noAccounts, type RunningAccounts } from './accounts/running-accounts.ts';
import type { App } from './app.ts';
import { type Backups, createBackups } from './backups/backups.ts';
import { type CertificateAdmin, inspectCertificates } from './certificates/certificates.ts';
import { createDnsUpdates, type DnsUpdates } from './dns-updates/updates.ts';
import { entriesOf } from './features.ts';
import { mtaStsRecords } from './host-names/mta-sts.ts';
import { createHttpServer } from './http/json/server.ts';
import { listenHttp } from './http/transport/listen.ts';
import { serveMetrics } from './http/transport/metrics.ts';
import type { HttpServer } from './http/transport/server.ts';
import type { MailboxRepairs } from './mailboxes/repairs.ts';
import type { NameServer } from './nameserver/name-server.ts';
import { Censuses } from './queue/control/census.ts';
import type { Traces } from './queue/conversation/trace.ts';
import { type Replies, RepliesFile } from './queue/outcome/replies/replies.ts';
import type { Sites } from './queue/shaping/site-calls.ts';
import { NO_STANDBY, type Standby } from './standby/standby.ts';
import { resolversInUse } from './system/dns/servers.ts';
import { errorCode } from './system/errors.ts';
import type { Listener } from './system/listen.ts';
import { registerTaskAdmin } from './tasks/admin-api.ts';
import { VERSION } from './version.ts';

/** Reports why the socket cannot be opened, in a message for the operator. */
class ControlSocketError extends Error {
  override readonly name = 'ControlSocketError';
}

/**
 * Maximum length of a socket's path: sun_path holds 108 bytes including the NUL on Linux, and 104 elsewhere (unix(7),
 * sys/un.h).
 */
const MAX_PATH_BYTES = 103;

/**
 * Parts of the running daemon. Without a daemon, certificates are read from their files whenever they are shown, and no account is
 * open, so that mail can be neither imported nor exported.
 */
type ControlParts = {
  certificates: CertificateAdmin;
  /** Counts of the queue; without a daemon they are made when they are asked for. */
  censuses?: Censuses;
  /** Shows attempts to those who watch; nothing is delivered without a daemon. */
  trace?: Traces;
  /** Shows and steers how sites are spoken to; none is without a daemon. */
  sites?: Sites;
  /** The meanings of the replies of servers. A command without a daemon reads them when they are asked for. */
  replies?: Replies;
  accounts?: RunningAccounts;
  mailboxContents?: MailboxContents;
  mailboxRepairs?: MailboxRepairs;
  backups?: Backups;
  standby?: Standby;
  nameServer?: NameServer;
  dnsUpdates?: DnsUpdates;
};

/** Creates the server of the admin API, which does not listen yet. */
export async function createControlServer(
  app: App,
  {
    certificates,
    censuses = new Censuses(app),
    trace,
    sites,
    replies = new RepliesFile(app),
    accounts = noAccounts,
    mailboxContents,
    mailboxRepairs,
    backups,
    standby = NO_STANDBY,
    nameServer,
    dnsUpdates,
  }: ControlParts = {
    certificates: inspectCertificates(app),
  },
): Promise<HttpServer> {
  const server = await createHttpServer(
    app,
    {
      title: 'Postrider control socket',
      description: 'Administration by the operator of this machine.',
      version: VERSION,
    },
    { bodies: app.guards.memory.control },
  );
  serveMetrics(server, app.metrics, 'all');
  const parts = {
    ...app,
    certificates,
    censuses,
    trace,
    sites,
    replies,
    moreRecords: [certificates.records, mtaStsRecords(app.config)],
    resolvers: () => resolversInUse(app.config.dns.servers),
    accounts,
    mailboxContents,
    mailboxRepairs,
    backups: backups ?? createBackups({ ...app, copyAccount: copyClosed(app.config.dataDir) }),
    standby,
    nameServer,
    dnsUpdates: dnsUpdates ?? createDnsUpdates(app, [certificates.records, mtaStsRecords(app.config)]),
  };
  registerTaskAdmin(server, app);
  for (const register of entriesOf('operatorRoutes')) register(server, parts);
  server.post('/blobs/sweep', () => app.blobs.sweep({ forced: true }));
  return server;
}

/**
 * Serves the admin API on the socket of `config.dataDir`, mode 0600. The caller holds the lock on that directory.
 * @throws ControlSocketError when a process answers on the path already, or the path is not a socket
 */
export async function openControlSocket(app: App, parts?: ControlParts): Promise<Listener> {
  return listenControl(app, await createControlServer(app, parts));
}

/**
 * Serves a server of the admin API on the socket, as `openControlSocket` does.
 * @throws ControlSocketError
 */
export async function listenControl(app: App, server: HttpServer): Promise<Listener> {
  await using opened = new AsyncDisposableStack();
  const socket = opened.adopt(controlSocketPath(app.config.dataDir), ({ release }) => release());
  await removeStale(socket.path);
  const listener = await listenHttp(app, server, { section: 'control_socket', at: { path: socket.path } });
  opened.defer(() => listener.close());
  chmodSync(socket.path, 0o600);
  const open = opened.move();
  return { address: listener.address, close: () => open.disposeAsync() };
}

/**
 * Returns the path of a data directory's socket: `control.sock` inside it. When that path is too long for a socket,
 * the same file is named through an open descriptor of the directory, which `release` closes. The socket therefore
 * always lies inside a private directory, and server and client find it without further configuration.
 * @throws ControlSocketError when the path is too long on a system without /proc
 */
export function controlSocketPath(dataDir: string): { path: string; release(): void } {
  const directory = resolve(dataDir);
  const path = join(directory, 'control.sock');
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return { path, release() {} };
  if (!existsSync('/proc/self/fd'))
    throw new ControlSocketError(`${path} is too long for a socket: choose a dataDir of fewer characters`);
  const descriptor = openSync(directory, 'r');
  return { path: `/proc/self/fd/${descriptor}/control.sock`, release: () => closeSync(descriptor) };
}

/**
 * Removes a socket file that nobody listens on, such as after kill -9.
 * @throws ControlSocketError when another process listens on it, or it is not a socket
 */
async function removeStale(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return;
  if (!found.isSocket()) {
    const kind = found.isDirectory() ? 'a folder' : 'a file';
    throw new ControlSocketError(
      `${path} is in the way: it is ${kind}, not a socket. Move it away; the daemon makes its control socket there`,
    );
  }
  if (await answers(path)) {
    throw new ControlSocketError(
      `another process answers on ${path}, although no other daemon uses this data directory. Find it with "ss -lxp", stop it or move it elsewhere, and start again`,
    );
  }
  unlinkSync(path);
}

/**
 * Returns true when a process accepts connections on this socket. Any failure other than "nobody listens" counts as
 * true.
 */
export function answers(path: string): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      settle(true);
    });
    socket.once('error', (error) => settle(!['ECONNREFUSED', 'ENOENT'].includes(errorCode(error) ?? '')));
  });
}
