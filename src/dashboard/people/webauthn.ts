/** Checks answers of authenticators with the library for WebAuthn. It is a module of its own because loading the library takes time. */
import {
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
  type WebAuthnCredential,
} from '@simplewebauthn/server';
import { decodeAttestationObject } from '@simplewebauthn/server/helpers';
import type { PasskeyRow } from '../../db/people-tables.ts';

type Expected = {
  expectedChallenge: (challenge: string) => boolean;
  expectedOrigin: string;
  expectedRPID: string;
};

/**
 * Returns the new credential.
 * @throws Error that says why it is refused
 */
export async function verifyRegistration(
  response: RegistrationResponseJSON,
  expected: Expected,
): Promise<WebAuthnCredential> {
  requireNoCertificates(response);
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    ...expected,
    response,
    requireUserVerification: false,
  });
  if (!verified || !registrationInfo) throw new Error('The signature is wrong');
  return registrationInfo.credential;
}

/**
 * Refuses statements with certificates, which we do not ask for: the library would fetch lists of revoked certificates from addresses that
 * stand in them. A statement without them is signed with the new key itself, or has no content.
 */
function requireNoCertificates({ response }: RegistrationResponseJSON): void {
  const attestation = decodeAttestationObject(Buffer.from(response.attestationObject, 'base64url'));
  const format = attestation.get('fmt');
  if (format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined))
    return;
  throw new Error('The statement has certificates');
}

/**
 * Returns the counter of the authenticator.
 * @throws Error that says why the signature is refused
 */
export async function verifyAuthentication(
  response: AuthenticationResponseJSON,
  { passkey, ...expected }: Expected & { passkey: PasskeyRow; requireUserVerification: boolean },
): Promise<number> {
  const { credentialId: id, publicKey, counter } = passkey;
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    ...expected,
    response,
    credential: { id, publicKey: new Uint8Array(publicKey), counter },
  });
  if (!verified) throw new Error('The signature is wrong');
  return authenticationInfo.newCounter;
}
