/** Makes self-signed certificates for the servers of these tests. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Writes `key.pem` and `certificate.pem` for a host name into a folder, and returns their paths. */
export async function writeCertificate(
  folder: string,
  hostname: string,
): Promise<{ key: string; certificate: string }> {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
    ...['-days', '2', '-subj', `/CN=${hostname}`, '-addext', `subjectAltName=DNS:${hostname}`],
    ...['-keyout', key, '-out', certificate],
  ]);
  return { key, certificate };
}
