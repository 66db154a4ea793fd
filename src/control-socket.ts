/**
 * The operator's door: the admin API on a UNIX socket in the data directory, never on a network port. Who may open the
 * file is the operator; there are no keys here. The CLI talks to it (cli/control-client.ts).
 */
import { chmodSync, closeSync, existsSync, lstatSync, openSync, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import type { App } from './app.ts';
import { registerDomainAdmin } from './domains/admin-api.ts';
import { serveMetrics } from './http/metrics.ts';
import { createHttpServer, type HttpServer } from './http/server.ts';
import { registerQueueAdmin } from './queue/admin-api.ts';
import { errorCode } from './system/errors.ts';
import { registerTenantAdmin } from './tenants/admin-api.ts';
import { VERSION } from './version.ts';

export type ControlSocket = { close(): Promise<void> };

type ControlApp = Pick<App, 'db' | 'blobs' | 'clock' | 'config' | 'log' | 'dns' | 'wakeups' | 'metrics'>;

/** Reports in words for the operator why the socket cannot be opened. */
export class ControlSocketError extends Error {
  override readonly name = 'ControlSocketError';
}

/** sun_path holds 108 bytes with its NUL on Linux and 104 elsewhere (unix(7), sys/un.h). */
const MAX_PATH_BYTES = 103;

/** The admin API, not listening yet. */
export async function createControlServer(app: ControlApp): Promise<HttpServer> {
  const server = await createHttpServer(app, {
    title: 'Postrider control socket',
    description: 'Administration by the operator of this machine.',
    version: VERSION,
  });
  serveMetrics(server, app.metrics, 'all');
  registerTenantAdmin(server, app);
  registerDomainAdmin(server, app);
  registerQueueAdmin(server, app);
  server.post('/blobs/sweep', () => app.blobs.sweep({ forced: true }));
  return server;
}

/**
 * Serves the admin API on the socket of `config.dataDir`, mode 0600. The caller holds the lock on that directory.
 * @throws ControlSocketError when a process answers on the path already, or the path is not a socket
 */
export async function openControlSocket(app: ControlApp): Promise<ControlSocket> {
  const server = await createControlServer(app);
  const place = controlSocketPath(app.config.dataDir);
  try {
    await removeStale(place.path);
    await server.listen({ path: place.path });
    chmodSync(place.path, 0o600);
  } catch (error) {
    await server.close();
    place.release();
    throw error;
  }
  return {
    async close() {
      await server.close();
      place.release();
    },
  };
}

/**
 * Where the socket of a data directory is: `control.sock` inside it. When that is too long to be a socket's name, the
 * same file is named through an open descriptor of the directory, which `release` closes; so it stays inside a directory
 * that is ours alone, and both sides agree without a second place.
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

/** After kill -9 the socket's file is still there, and nobody answers on it. */
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

/** Whether somebody accepts connections on this socket. Anything but "nobody" counts as somebody. */
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
