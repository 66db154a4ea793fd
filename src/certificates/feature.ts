/** The TLS certificates of the daemon; `certificates.ts` is the door. */
import type { Feature } from '../feature.ts';
import { createOrderKind } from './acme/kind.ts';
import { createNameUpkeep } from './acme/names.ts';
import { registerCertificateAdmin } from './admin-api.ts';

export const certificates = {
  name: 'certificates',
  operatorRoutes: [registerCertificateAdmin],
  works: [createNameUpkeep],
  tasks: [createOrderKind],
} satisfies Feature;
