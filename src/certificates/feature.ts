/** The TLS certificates of the daemon; `certificates.ts` is the door. */
import type { Feature } from '../feature.ts';
import { registerCertificateAdmin } from './certificates.ts';

export const certificates = {
  name: 'certificates',
  operatorRoutes: [registerCertificateAdmin],
} satisfies Feature;
