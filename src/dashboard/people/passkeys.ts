/**
 * Passkeys (WebAuthn level 3): what a browser is asked for, and the check of what its authenticator has signed. The library is loaded with the
 * first check, since that takes a tenth of a second.
 */
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { App } from '../../app.ts';
import type { PasskeyRow, PersonRow } from '../../db/people-tables.ts';
import { AppError } from '../../system/errors.ts';
import { newId } from '../../system/ids.ts';
import { CHALLENGE_MS, createChallenges } from './challenges.ts';
import { findPasskey, usePasskey } from './passkeys-store.ts';

/** The page that asks: its origin, and the session or the like that alone may answer. */
type Ceremony = { origin: string; owner: string };

/** A person as the list of passkeys of its device shows it. `handle` names the account there. */
type Account = { handle: string; email: string; name: string };

/** A new passkey, which belongs to nobody yet. */
type NewPasskey = Omit<PasskeyRow, 'personId' | 'name'>;

export type Passkeys = {
  /** Returns what the browser makes a passkey of. It must not stand in an authenticator that has one of `existing`. */
  creation(
    ceremony: Ceremony,
    account: Account,
    existing: readonly PasskeyRow[],
  ): PublicKeyCredentialCreationOptionsJSON;
  /** Returns the options with which the browser asks for the signature of a passkey: one of `allowed`, or any when it is undefined. */
  request(ceremony: Ceremony, allowed?: readonly PasskeyRow[]): PublicKeyCredentialRequestOptionsJSON;
  /**
   * Checks a passkey that the browser has made, as JSON.
   * @throws AppError validation_error
   */
  register(credential: string, ceremony: Ceremony): Promise<NewPasskey>;
  /**
   * Checks what a passkey has signed, as JSON, and returns its person as it was then. Without `personId` it stands for the password too, so the
   * authenticator must have verified who uses it; with it, it is the second factor of this person.
   * @throws AppError validation_error
   */
  verify(credential: string, ceremony: Ceremony, personId?: PersonRow['id']): Promise<PersonRow>;
};

/** Algorithms of keys in the order of preference: EdDSA, ES256, RS256. */
const ALGORITHMS = [-8, -7, -257];
/** Maximum size of a public key, in bytes. Keys of RSA with 4096 bits have 528. */
const MAX_PUBLIC_KEY_BYTES = 4096;
/** Maximum length of a reason in the log. The library repeats in it what a stranger has sent. */
const MAX_REASON_CHARACTERS = 200;
/** Maximum length of the id of a credential in base64url: 1023 bytes (WebAuthn level 3, section 4). */
const MAX_CREDENTIAL_ID_CHARACTERS = 1364;

/** Returns the passkeys of an installation, with challenges of their own. */
export function createPasskeys({ clock, db, log }: Pick<App, 'clock' | 'db' | 'log'>): Passkeys {
  const challenges = createChallenges(clock);

  /** Returns what is expected of an answer, and a function that returns the challenge that was answered. */
  function expectationsOf({ origin, owner }: Ceremony) {
    let answered = '';
    return {
      challengeOf: () => answered,
      expected: {
        expectedChallenge(challenge: string) {
          answered = challenge;
          return challenges.isOpen(challenge, owner);
        },
        expectedOrigin: origin,
        expectedRPID: relyingPartyOf(origin),
      },
    };
  }

  /** Returns the refusal of an answer. The page says the same for each, and the log has the reason. */
  function refuse(reason: unknown): AppError {
    const message = reason instanceof Error ? reason.message : String(reason);
    log.info({ reason: message.slice(0, MAX_REASON_CHARACTERS) }, 'a passkey was refused');
    return new AppError('validation_error', 'The passkey was not accepted; try again');
  }

  return {
    creation: ({ origin, owner }, { handle, email, name }, existing) => ({
      challenge: challenges.make(owner),
      rp: { id: relyingPartyOf(origin), name: `Postrider ${relyingPartyOf(origin)}` },
      user: { id: Buffer.from(handle).toString('base64url'), name: email, displayName: name },
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
      excludeCredentials: existing.map(descriptorOf),
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
      attestation: 'none',
      timeout: CHALLENGE_MS,
    }),
    request: ({ origin, owner }, allowed) => ({
      challenge: challenges.make(owner),
      rpId: relyingPartyOf(origin),
      allowCredentials: (allowed ?? []).map(descriptorOf),
      userVerification: allowed ? 'preferred' : 'required',
      timeout: CHALLENGE_MS,
    }),
    async register(text, ceremony) {
      const response = parseCredential<RegistrationResponseJSON>(text);
      if (!response) throw refuse('it is no credential');
      const { challengeOf, expected } = expectationsOf(ceremony);
      const library = await import('./webauthn.ts');
      const made = await library.verifyRegistration(response, expected).catch((error) => {
        throw refuse(error);
      });
      const { id, publicKey, counter, transports = [] } = made;
      if (id.length > MAX_CREDENTIAL_ID_CHARACTERS || publicKey.length > MAX_PUBLIC_KEY_BYTES)
        throw refuse('it is too long');
      if (!challenges.use(challengeOf())) throw refuse('its challenge was used before');
      const now = clock.now();
      return {
        id: newId('psk', now),
        credentialId: id,
        publicKey: Buffer.from(publicKey),
        counter,
        transports: JSON.stringify(transports.filter((one) => TRANSPORTS.has(one))),
        createdAt: now,
        lastUsedAt: null,
      };
    },
    async verify(text, ceremony, personId) {
      const response = parseCredential<AuthenticationResponseJSON>(text);
      const passkey = response && (await findPasskey(db.read, response.id));
      if (!passkey || (personId !== undefined && passkey.personId !== personId))
        throw refuse('it belongs to nobody who may use it');
      const { challengeOf, expected } = expectationsOf(ceremony);
      const library = await import('./webauthn.ts');
      const isPassword = personId === undefined;
      const counter = await library
        .verifyAuthentication(response, { ...expected, passkey, requireUserVerification: isPassword })
        .catch((error) => {
          throw refuse(error);
        });
      if (!challenges.use(challengeOf())) throw refuse('its challenge was used before');
      const { id } = passkey;
      const person = await db.commit(usePasskey, { id, counter, now: clock.now() });
      if (!person) throw refuse('its counter has not grown');
      return person;
    },
  };
}

/** Ways to reach an authenticator that browsers know (WebAuthn level 3, section 5.8.4). */
const TRANSPORTS: ReadonlySet<string> = new Set(['ble', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']);

/** Returns the id of the relying party: the host, without the port. */
function relyingPartyOf(origin: string): string {
  return new URL(origin).hostname;
}

function descriptorOf({ credentialId, transports }: PasskeyRow) {
  return { id: credentialId, type: 'public-key' as const, transports: JSON.parse(transports) };
}

/** Reads the JSON of a credential, whose fields the library checks. */
function parseCredential<Credential extends { id: string }>(text: string): Credential | undefined {
  try {
    const value = JSON.parse(text) as Partial<Credential> | null;
    return typeof value?.id === 'string' ? (value as Credential) : undefined;
  } catch {
    return undefined;
  }
}
