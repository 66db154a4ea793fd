/**
 * One certificate of the configuration, in two files that another program renews. Files that cannot be used never replace
 * a certificate that is in use.
 */
import { type BigIntStats, promises } from 'node:fs';
import { isoTime } from '../system/clock.ts';
import { errorCode } from '../system/errors.ts';
import type { Log } from '../system/log.ts';
import {
  type Certificate,
  type CertificateFiles,
  logFields,
  type Problem,
  parseCertificate,
} from './certificate.ts';

/** Maximum size of a file. A chain of three certificates has 6 KB. */
const MAX_FILE_BYTES = 1024 * 1024;

export class FileSource {
  readonly files: CertificateFiles;
  readonly #log: Pick<Log, 'info' | 'warn' | 'error'>;
  #certificate: Certificate | undefined;
  #problem: Problem | undefined;
  /** State of the files when they were read last, and at the last look. */
  #readState = '';
  #seenState = '';
  #reading: Promise<unknown> = Promise.resolve();

  constructor(files: CertificateFiles, log: Pick<Log, 'info' | 'warn' | 'error'>) {
    this.files = files;
    this.#log = log;
  }

  /** The certificate in use; undefined while there never was a usable one. */
  get certificate(): Certificate | undefined {
    return this.#certificate;
  }

  /** Says why the files are not used as they are now; undefined when they are. */
  get problem(): Problem | undefined {
    return this.#problem;
  }

  /**
   * Returns true when the files have changed since they were read, and not since the last call. Programs replace the
   * certificate and the key one after the other, and write large files in pieces; between the two nothing is read.
   */
  async hasSettledChange(): Promise<boolean> {
    const state = await stateOf(this.files);
    const isSettled = state === this.#seenState;
    this.#seenState = state;
    return isSettled && state !== this.#readState;
  }

  /** Reads the files, and logs what is wrong with them. Returns true when another certificate is in use afterwards. */
  read(nowMs: number): Promise<boolean> {
    // One read after the other: the last state that was read is then the state of the certificate.
    const reading = this.#reading.then(() => this.#readNow(nowMs));
    this.#reading = reading;
    return reading;
  }

  async #readNow(nowMs: number): Promise<boolean> {
    // The state comes first: a change during the read is then found by the next look.
    this.#readState = await stateOf(this.files);
    const result = await readFiles(this.files);
    const problem = 'problem' in result ? result.problem : this.#findExpiry(result.certificate, nowMs);
    this.#problem = problem;
    if (problem || !('certificate' in result)) {
      this.#log.error(
        { ...problem, isEarlierUsed: this.#certificate !== undefined },
        'certificate cannot be used',
      );
      return false;
    }
    const earlier = this.#certificate;
    const { certificate } = result;
    if (earlier?.chain === certificate.chain && earlier.key === certificate.key) return false;
    this.#certificate = certificate;
    const fields = { file: this.files.certificate, ...logFields(certificate) };
    this.#log.info(fields, 'certificate read');
    if (earlier && earlier.publicKeyHash !== certificate.publicKeyHash)
      this.#log.warn(fields, 'the key of a certificate has changed: its TLSA record must change, too');
    return true;
  }

  /** An expired certificate may be the first that is used, but does not replace a valid one. */
  #findExpiry({ expiresAt }: Certificate, nowMs: number): Problem | undefined {
    if (expiresAt > nowMs || this.#certificate === undefined || this.#certificate.expiresAt <= nowMs)
      return undefined;
    return {
      file: this.files.certificate,
      reason: `has a certificate that expired at ${isoTime(expiresAt)}`,
    };
  }
}

/**
 * Returns a text that changes with the content of the files. Links are followed, so it also changes when one leads
 * elsewhere. The time of the last change of the inode shows new owners and modes, too.
 */
async function stateOf({ certificate, key }: CertificateFiles): Promise<string> {
  const states = await Promise.all(
    [certificate, key].map(async (file) => {
      try {
        const { dev, ino, size, mtimeNs, ctimeNs } = await promises.stat(file, { bigint: true });
        return [dev, ino, size, mtimeNs, ctimeNs].join(':');
      } catch (error) {
        return errorCode(error) ?? 'unknown';
      }
    }),
  );
  return states.join(' ');
}

async function readFiles(files: CertificateFiles): Promise<ReturnType<typeof parseCertificate>> {
  const [certificate, key] = await Promise.all([readText(files.certificate), readText(files.key)]);
  const problem = certificate.problem ?? key.problem;
  if (problem) return { problem };
  return parseCertificate(files, { certificate: certificate.text, key: key.text });
}

type Text = { text: string; problem?: Problem };

async function readText(file: string): Promise<Text> {
  const failed = (reason: string): Text => ({ text: '', problem: { file, reason } });
  try {
    const stats = await promises.stat(file, { bigint: true });
    const reason = reasonNotToRead(stats);
    return reason === undefined ? { text: await promises.readFile(file, 'utf8') } : failed(reason);
  } catch (error) {
    return failed(describe(errorCode(error)));
  }
}

/** Returns why a file is not read. Reading a pipe could wait for ever, and that of a device could never end. */
function reasonNotToRead(stats: BigIntStats): string | undefined {
  if (!stats.isFile()) return 'is not a regular file';
  return stats.size > MAX_FILE_BYTES ? `is larger than ${MAX_FILE_BYTES} bytes` : undefined;
}

function describe(code: string | undefined): string {
  switch (code) {
    case 'ENOENT':
      return 'does not exist';
    case 'EACCES':
      return 'cannot be read by the user of the daemon (EACCES)';
    default:
      return `cannot be read (${code ?? 'unknown error'})`;
  }
}
