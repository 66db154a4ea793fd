/** Creates a certificate for the mail server of the demo. Without openssl the demo runs without STARTTLS. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export type Certificate = { key: string; cert: string };

/**
 * Returns a self-signed certificate that is valid for two days; undefined when openssl cannot make one. Its files are
 * in `directory`.
 */
export async function makeCertificate(directory: string, name: string): Promise<Certificate | undefined> {
  const keyFile = join(directory, 'receiver.key');
  const certFile = join(directory, 'receiver.crt');
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const content = ['-days', '2', '-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
  try {
    await promisify(execFile)('openssl', [...request, ...content, '-keyout', keyFile, '-out', certFile]);
    return { key: await readFile(keyFile, 'utf8'), cert: await readFile(certFile, 'utf8') };
  } catch {
    return undefined;
  }
}
