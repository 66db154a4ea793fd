/** Makes self-signed certificates for the servers of these tests. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Writes `key.pem` and `certificate.pem` for host names into a folder, and returns their paths. */
export async function writeCertificate(
  folder: string,
  ...hostnames: [string, ...string[]]
): Promise<{ key: string; certificate: string }> {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const names = hostnames.map((hostname) => `DNS:${hostname}`).join(',');
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
    ...['-days', '2', '-subj', `/CN=${hostnames[0]}`, '-addext', `subjectAltName=${names}`],
    ...['-keyout', key, '-out', certificate],
  ]);
  return { key, certificate };
}
