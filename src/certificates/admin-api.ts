/**
 * Registers the operator's routes for certificates. They are served on the control socket alone, never on a network port.
 */
import type { FastifyInstance } from 'fastify';
import type { CertificateAdmin } from './certificates.ts';

/** Registers `GET /certificates` and `POST /certificates/reload`. */
export function registerCertificateAdmin(
  server: FastifyInstance,
  { certificates }: { certificates: CertificateAdmin },
): void {
  server.get('/certificates', () => certificates.list());
  server.post('/certificates/reload', () => certificates.reload());
}
