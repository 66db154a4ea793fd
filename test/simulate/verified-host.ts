/**
 * The name that the valid certificate is for: a domain that is its own host, as REQUIRETLS needs it (queue/sessions/requirements.ts), the
 * MX of the domains that demand TLS, and the relay of the operator.
 */
import { TRUSTED_HOST } from '../support/trusted-certificate.ts';

export const VERIFIED_HOST = TRUSTED_HOST;
