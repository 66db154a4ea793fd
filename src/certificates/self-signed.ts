/**
 * The certificates of an installation without any of its own: one on P-256 and one for RSA, signed by themselves, in the
 * data directory. SMTP encrypts with them, because senders of opportunistic TLS accept any certificate (RFC 7435). Keys
 * are made once and outlive their certificates, so that TLSA records of them stay right.
 */
import { createPrivateKey } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { App } from '../app.ts';
import { DAY_MS } from '../system/clock.ts';
import { errorMessage } from '../system/errors.ts';
import { writeFlushed } from '../system/write-flushed.ts';
import { type Certificate, type CertificateFiles, logFields, parseCertificate } from './certificate.ts';
import type { SigningAlgorithm } from './issue.ts';
import { generateCertificateKey } from './new-key.ts';

export type KeepingApp = Pick<App, 'clock' | 'config'> & { log: Pick<App['log'], 'info' | 'warn' | 'error'> };

type Kind = { type: 'ec' | 'rsa'; algorithm: SigningAlgorithm };

/** P-256 comes first, since a handshake with RSA holds the event loop for 0.8 ms, ten times as long. */
const KINDS: readonly Kind[] = [
  { type: 'ec', algorithm: 'ECDSA' },
  { type: 'rsa', algorithm: 'RSASSA-PKCS1-v1_5' },
];

const VALID_DAYS = 365;
/** Time before its end at which a certificate is replaced, in days. */
const REPLACE_DAYS = 90;
/** Time before now at which a certificate becomes valid, for clients whose clocks are behind. */
const EARLIER_MS = DAY_MS;

export type SelfSigned = { certificate: Certificate; files: CertificateFiles };

/** Returns the self-signed certificates that the data directory has, whatever their names and their age. */
export function findSelfSigned(dataDir: string): SelfSigned[] {
  return KINDS.flatMap(({ type }) => {
    const files = filesOf(dataDir, type);
    const certificate = readIfThere(files);
    return certificate ? [{ certificate, files }] : [];
  });
}

/**
 * Returns self-signed certificates for the hostname. Those that are missing, name another host or end within 90 days
 * are made, with their earlier keys.
 * @throws the error of the file system
 */
export function keepSelfSigned(app: KeepingApp): Promise<SelfSigned[]> {
  return Promise.all(KINDS.map((kind) => keepOne(app, kind)));
}

async function keepOne(app: KeepingApp, kind: Kind): Promise<SelfSigned> {
  const { dataDir } = app.config;
  const hostname = app.config.hostname.toLowerCase();
  const now = app.clock.now();
  const files = filesOf(dataDir, kind.type);
  const earlier = readIfThere(files);
  if (earlier && isGood(earlier, hostname, now)) return { certificate: earlier, files };

  mkdirSync(dirname(files.key), { recursive: true, mode: 0o700 });
  const key = await keepKey(app, files.key, kind);
  const { issueSelfSigned } = await import('./issue.ts');
  const text = await issueSelfSigned({
    hostname,
    privateKey: createPrivateKey(key),
    algorithm: kind.algorithm,
    validFrom: now - EARLIER_MS,
    expiresAt: now + VALID_DAYS * DAY_MS,
  });
  writeFlushed(files.certificate, text);
  const made = parseCertificate(files, { certificate: text, key });
  if ('problem' in made) throw new Error(`${made.problem.file} ${made.problem.reason}`);
  app.log.info({ file: files.certificate, ...logFields(made.certificate) }, 'self-signed certificate made');
  return { certificate: made.certificate, files };
}

/** A certificate from the future was made while the clock was wrong. */
function isGood({ names, validFrom, expiresAt }: Certificate, hostname: string, now: number): boolean {
  return names.join() === hostname && validFrom <= now && expiresAt - REPLACE_DAYS * DAY_MS > now;
}

/** Returns the key in the file, or makes it. A file without a usable key is renamed, never overwritten. */
async function keepKey(
  { clock, log }: Pick<KeepingApp, 'clock' | 'log'>,
  file: string,
  { type }: Kind,
): Promise<string> {
  if (existsSync(file)) {
    const text = readFileSync(file, 'utf8');
    const reason = findFault(text, type);
    if (reason === undefined) return text;
    const kept = `${file}.damaged-${clock.now()}`;
    renameSync(file, kept);
    log.error(
      { file, reason, kept },
      'the key of the self-signed certificates is damaged, and a new one is made',
    );
  }
  const key = await generateCertificateKey(type);
  writeFlushed(file, key);
  return key;
}

/** Returns why this text is no key of this type; undefined when it is one. */
function findFault(text: string, type: Kind['type']): string | undefined {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(text);
    const isOther =
      asymmetricKeyType !== type || (type === 'ec' && asymmetricKeyDetails?.namedCurve !== 'prime256v1');
    return isOther ? `is not a key of the type ${type}` : undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

function readIfThere(files: CertificateFiles): Certificate | undefined {
  if (!existsSync(files.certificate) || !existsSync(files.key)) return undefined;
  const [certificate, key] = [files.certificate, files.key].map((file) => readFileSync(file, 'utf8'));
  const read = parseCertificate(files, { certificate: certificate ?? '', key: key ?? '' });
  return 'certificate' in read ? read.certificate : undefined;
}

function filesOf(dataDir: string, type: Kind['type']): CertificateFiles {
  const folder = join(dataDir, 'tls', 'self-signed');
  return { certificate: join(folder, `${type}.pem`), key: join(folder, `${type}.key`) };
}
