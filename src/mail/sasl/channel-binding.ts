/**
 * Channel bindings (RFC 5056): values that a client and a server know of the TLS connection between them. Somebody in the middle has two
 * connections with different values, so a login that is bound to one cannot be passed on over the other.
 */
import { createHash, getHashes, X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** Returns the value of this type for a connection; undefined for a type that the connection does not have. */
export type ChannelBinding = (type: string) => Buffer | undefined;

/** Label and length of the exported value (RFC 9266 section 4). */
const EXPORTER_LABEL = 'EXPORTER-Channel-Binding';
const EXPORTER_BYTES = 32;

/**
 * Returns the bindings of a connection; undefined where no type works: without TLS, and for example in a resumed session of TLS 1.2. PLUS
 * is not offered there, and clients log in by other mechanisms.
 */
export function channelBindingOf(socket: Socket): ChannelBinding | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  if (socket.getProtocol() !== 'TLSv1.3' && !endPointOf(socket)) return undefined;
  return (type) => {
    if (type === 'tls-exporter') return exporterOf(socket);
    if (type === 'tls-server-end-point') return endPointOf(socket);
    return undefined;
  };
}

/** Returns the exported value of TLS 1.3. In TLS 1.2 it is safe only with extensions that Node does not report (RFC 9266 section 4.2). */
function exporterOf(socket: TLSSocket): Buffer | undefined {
  if (socket.getProtocol() !== 'TLSv1.3') return undefined;
  return socket.exportKeyingMaterial(EXPORTER_BYTES, EXPORTER_LABEL, Buffer.alloc(0));
}

/**
 * Returns the hash of the certificate of this server (RFC 5929 section 4.1). A resumed session shows no certificate, and which of several
 * the first one has shown is not known any more.
 */
function endPointOf(socket: TLSSocket): Buffer | undefined {
  const certificate = socket.isSessionReused() ? null : socket.getCertificate();
  if (!certificate || !('raw' in certificate)) return undefined;
  const { raw, signatureAlgorithm = '' } = new X509Certificate(certificate.raw as Buffer);
  const name = hashOf(signatureAlgorithm);
  return name === undefined ? undefined : createHash(name).update(raw).digest();
}

/** Returns the hash function of a signature algorithm, such as `ecdsa-with-SHA384`; undefined for one that has none, such as Ed25519. */
function hashOf(signatureAlgorithm: string): string | undefined {
  const name = /(?:sha\d+|md5)/i.exec(signatureAlgorithm)?.[0].toLowerCase();
  if (name === 'md5' || name === 'sha1') return 'sha256';
  return name !== undefined && getHashes().includes(name) ? name : undefined;
}
