/** Returns a source in the form in which connections are made from it. */
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { DialSource } from '../../system/dial/source.ts';
import { SourceError } from '../../system/dial/source-failure.ts';
import { errorCode } from '../../system/errors.ts';
import type { Source } from './source.ts';

/** Maximum number of octets of a password (RFC 1929 section 2). */
const MAX_PASSWORD_OCTETS = 255;

/**
 * Returns the way from a source to a host. The file of a password is read for each connection, so that the operator can replace it.
 * @throws SourceError
 */
export async function dialSource({ addresses, way }: Source, host: string): Promise<DialSource> {
  if (way.kind === 'socks5')
    return { kind: 'socks5', proxy: way.proxy, login: way.login && (await readLogin(way.login)) };
  const address = addresses.find((one) => isIP(one) === isIP(host));
  if (address === undefined)
    throw new SourceError('refused', 'the source has no address of the family of the host');
  return way.kind === 'address' ? { kind: 'address', address } : { ...way, address };
}

async function readLogin({ user, passwordFile }: { user: string; passwordFile: string }) {
  const password = await readFile(passwordFile, 'utf8').catch((error) => {
    throw unusable(errorCode(error) ?? 'not readable', error);
  });
  const line = password.replace(/\r?\n$/, '');
  const octets = Buffer.byteLength(line);
  if (octets === 0 || octets > MAX_PASSWORD_OCTETS) throw unusable('it is empty or too long');
  return { user, password: line };
}

/** Senders see this text, so it names no path. */
function unusable(why: string, cause?: unknown): SourceError {
  return new SourceError('unusable', `the password of the source cannot be used (${why})`, cause);
}
