/**
 * The files of a receiving host, beside the folder of its objects: the token, and a key with a self-signed certificate. Each is made once. The
 * pin of the key stays the same when the certificate is made anew.
 */
import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateCertificateKey } from '../../certificates/new-key.ts';
import { TOKEN } from '../../objects/host-store.ts';
import type { CertificatePair } from '../../system/certificates.ts';
import { DAY_MS } from '../../system/clock.ts';
import { pinOfCertificate } from '../../system/fetch/pin.ts';
import { writeFlushed } from '../../system/write-flushed.ts';

/** Validity of the certificate, in days. Its primary knows it by its pin, whatever its end. */
const VALID_DAYS = 3_650;
/** Time before now at which it becomes valid, for clients whose clocks are behind. */
const EARLIER_MS = DAY_MS;
/** Length of a token that is made, in bytes: 256 random bits cannot be guessed. */
const TOKEN_BYTES = 32;
/** Minimum length of a token that the operator has chosen. */
const MIN_TOKEN_CHARACTERS = 32;

/** Says what is wrong with a file, in a sentence for the operator. */
export class ServerFileError extends Error {
  override readonly name = 'ServerFileError';
}

/** Returns the path of the token of a folder, unless the operator names another file. */
export function tokenFileOf(folder: string): string {
  return join(folder, 'token');
}

/** Returns the paths of the certificate and the key of a folder. */
export function certificateFilesOf(folder: string): { certificate: string; key: string } {
  return { certificate: join(folder, 'certificate.pem'), key: join(folder, 'certificate.key') };
}

/** Makes a token unless the file exists. */
export function keepToken(file: string): void {
  if (!existsSync(file)) writeFlushed(file, `${randomBytes(TOKEN_BYTES).toString('base64url')}\n`);
}

/**
 * Returns the tokens of a file: one in each line. Several are allowed, so that a new one can be introduced before the old one ends.
 * @throws ServerFileError
 */
export function readTokens(file: string): string[] {
  const tokens = readText(file)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  if (tokens.length === 0) throw new ServerFileError(`${file} has no token`);
  if (tokens.some((token) => token.length < MIN_TOKEN_CHARACTERS || !TOKEN.test(token)))
    throw new ServerFileError(
      `${file} has a line that is no token: at least ${MIN_TOKEN_CHARACTERS} letters, digits and "._~+/-"`,
    );
  return tokens;
}

/** Makes a key and its certificate in the folder, unless they exist. */
export async function keepCertificate(folder: string, hostname: string, now: number): Promise<void> {
  const files = certificateFilesOf(folder);
  if (!existsSync(files.key)) writeFlushed(files.key, await generateCertificateKey('ec'));
  if (existsSync(files.certificate)) return;
  // This import is deferred because its package takes 150 ms to load.
  const { issueSelfSigned } = await import('../../certificates/issue.ts');
  const certificate = await issueSelfSigned({
    hostname,
    privateKey: createPrivateKey(readText(files.key)),
    algorithm: 'ECDSA',
    validFrom: now - EARLIER_MS,
    expiresAt: now + VALID_DAYS * DAY_MS,
  });
  writeFlushed(files.certificate, certificate);
}

/**
 * Returns a certificate with its key, and the pin of the key.
 * @throws ServerFileError
 */
export function readCertificate(files: { certificate: string; key: string }): {
  pair: CertificatePair;
  pin: string;
} {
  const pair = { chain: readText(files.certificate), key: readText(files.key) };
  try {
    return { pair, pin: pinOfCertificate(new X509Certificate(pair.chain)) };
  } catch (error) {
    throw new ServerFileError(`${files.certificate} has no certificate in PEM`, { cause: error });
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ServerFileError(`${file} cannot be read`, { cause: error });
  }
}
