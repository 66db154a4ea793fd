/** One-time codes of an authenticator app (RFC 6238), as a second factor. */
import { Secret, TOTP } from 'otpauth';

/** Bits of a secret, in bytes: as many as the hash has (RFC 4226 section 4, R6). */
const SECRET_BYTES = 20;
/** Length of a time step, in seconds, which every authenticator app supports (RFC 6238 section 5.2). */
const STEP_SECONDS = 30;
/** Number of steps before and after the present one whose code is accepted, because clocks differ (RFC 6238 section 5.2). */
const WINDOW_STEPS = 1;

/** Returns a new secret in base32. */
export function newTotpSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** Returns the address that an authenticator app reads from a QR code. */
export function totpAddress(
  secret: string,
  { issuer, account }: { issuer: string; account: string },
): string {
  return authenticator(secret, { issuer, label: account }).toString();
}

/** Returns the time step of a code; undefined when the code is wrong. */
export function findTotpStep(secret: string, code: string, nowMs: number): number | undefined {
  const token = code.replace(/[\s-]/g, '');
  if (!/^\d{6}$/.test(token)) return undefined;
  const delta = authenticator(secret).validate({ token, timestamp: nowMs, window: WINDOW_STEPS });
  return delta === null ? undefined : Math.floor(nowMs / (STEP_SECONDS * 1000)) + delta;
}

function authenticator(secret: string, names: { issuer?: string; label?: string } = {}): TOTP {
  return new TOTP({ ...names, secret: Secret.fromBase32(secret), period: STEP_SECONDS });
}
