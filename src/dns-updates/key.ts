/** Reads the key of dynamic updates from its file: what `tsig-keygen` of BIND writes, or `algorithm:name:secret` as `keymgr -t` of Knot does. */
import { readFile } from 'node:fs/promises';

export type UpdateKey = {
  /** Name of the key in lower case and without its final dot. */
  name: string;
  /** Name of the algorithm on the wire (RFC 8945 section 6). */
  algorithm: string;
  /** Name of the hash in node:crypto. */
  digest: string;
  secret: Buffer;
};

/** Algorithms that are not broken (RFC 8945 section 6: MD5 and SHA-1 are not to be used). */
const DIGESTS: Readonly<Record<string, string>> = {
  'hmac-sha224': 'sha224',
  'hmac-sha256': 'sha256',
  'hmac-sha384': 'sha384',
  'hmac-sha512': 'sha512',
};
const BIND = /key\s+"?([^\s"{]+)"?\s*\{[^}]*\balgorithm\s+"?([\w-]+)"?\s*;[^}]*\bsecret\s+"([^"]+)"/;
const SHORT = /^#?\s*(hmac-[\w]+):([^\s:]+):([A-Za-z0-9+/=]+)\s*$/m;

/**
 * Reads the key.
 * @throws Error with a sentence for the operator
 */
export async function readUpdateKey(file: string): Promise<UpdateKey> {
  return parseUpdateKey(await readFile(file, 'utf8'), file);
}

/** Returns the key of a text. @throws Error naming the file */
export function parseUpdateKey(text: string, file: string): UpdateKey {
  const short = SHORT.exec(text);
  const bind = BIND.exec(text);
  const [algorithm, name, secret] = short
    ? [short[1], short[2], short[3]]
    : bind
      ? [bind[2], bind[1], bind[3]]
      : [];
  if (!algorithm || !name || !secret) throw new Error(`${file} holds no TSIG key`);
  const digest = DIGESTS[algorithm.toLowerCase()];
  if (digest === undefined)
    throw new Error(`${file}: the algorithm must be one of ${Object.keys(DIGESTS).join(', ')}`);
  return {
    name: name.toLowerCase().replace(/\.$/, ''),
    algorithm: algorithm.toLowerCase(),
    digest,
    secret: Buffer.from(secret, 'base64'),
  };
}
