/** An authenticator of tests: it makes a passkey and signs challenges as those of browsers do (WebAuthn level 3), and can also do so wrongly. */
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { Parser } from 'htmlparser2';

/** What is different from an honest answer. */
type Wrong = {
  origin?: string;
  rpId?: string;
  challenge?: string;
  counter?: number;
  isUserVerified?: boolean;
  type?: string;
  /** Statement of an attestation in the format `packed`, encoded. */
  statement?: Buffer;
};

export type Passkey = {
  credentialId: string;
  /** Returns the answer to a request to make a passkey, as JSON. */
  create(options: Options, origin: string, wrong?: Wrong): string;
  /** Returns the answer to a challenge, as JSON. The counter grows by one each time. */
  get(options: Options, origin: string, wrong?: Wrong): string;
};

/** Part of the options that pages have for browsers. */
export type Options = {
  challenge: string;
  rpId?: string;
  rp?: { id: string };
  allowCredentials?: { id: string }[];
  excludeCredentials?: { id: string }[];
};

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

/** Returns an authenticator with one passkey. */
export function createPasskey(): Passkey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(16);
  const credentialId = id.toString('base64url');
  let counter = 0;

  function authenticatorData(options: Options, wrong: Wrong, credential = Buffer.alloc(0)): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(wrong.counter ?? counter);
    const flags =
      USER_PRESENT |
      ((wrong.isUserVerified ?? true) ? USER_VERIFIED : 0) |
      (credential.length > 0 ? HAS_CREDENTIAL : 0);
    const rpId = wrong.rpId ?? options.rp?.id ?? options.rpId ?? '';
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count, credential]);
  }

  const clientData = (
    type: string,
    { challenge }: Options,
    { origin, wrong }: { origin: string; wrong: Wrong },
  ) =>
    Buffer.from(
      JSON.stringify({
        type: wrong.type ?? type,
        challenge: wrong.challenge ?? challenge,
        origin: wrong.origin ?? origin,
        crossOrigin: false,
      }),
    );

  const answer = (response: Record<string, unknown>) =>
    JSON.stringify({
      id: credentialId,
      rawId: credentialId,
      type: 'public-key',
      clientExtensionResults: {},
      response,
    });

  return {
    credentialId,
    create(options, origin, wrong = {}) {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
      const credential = Buffer.concat([Buffer.alloc(16), length, id, coseKey(x, y)]);
      return answer({
        clientDataJSON: clientData('webauthn.create', options, { origin, wrong }).toString('base64url'),
        attestationObject: attestation(authenticatorData(options, wrong, credential), wrong.statement),
        transports: ['internal', 'telepathy'],
      });
    },
    get(options, origin, wrong = {}) {
      counter++;
      const data = authenticatorData(options, wrong);
      const client = clientData('webauthn.get', options, { origin, wrong });
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey);
      return answer({
        authenticatorData: data.toString('base64url'),
        clientDataJSON: client.toString('base64url'),
        signature: signature.toString('base64url'),
      });
    },
  };
}

function sha256(content: string | Buffer): Buffer {
  return createHash('sha256').update(content).digest();
}

/** Returns a public key of ES256 as a map of CBOR. */
function coseKey(x: string, y: string): Buffer {
  const head = Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01]);
  const coordinate = (name: number, value: string) =>
    Buffer.concat([Buffer.from([name, 0x58, 32]), Buffer.from(value, 'base64url')]);
  return Buffer.concat([head, coordinate(0x21, x), coordinate(0x22, y)]);
}

/** Returns an attestation as a map of CBOR: without a statement, or with one in the format `packed`. */
function attestation(data: Buffer, statement?: Buffer): string {
  const text = (value: string) => Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);
  return Buffer.concat([
    Buffer.from([0xa3]),
    text('fmt'),
    text(statement ? 'packed' : 'none'),
    text('attStmt'),
    statement ?? Buffer.from([0xa0]),
    text('authData'),
    Buffer.from([0x58, data.length]),
    data,
  ]).toString('base64url');
}

/** Returns what a page asks passkeys for in the form of an action; undefined when it does not ask. */
export function optionsOn(html: string, action: string): Options | undefined {
  let found: Options | undefined;
  const parser = new Parser({
    onopentag(_name, attributes) {
      if (attributes['data-passkey'] === action) found = JSON.parse(attributes['data-options'] ?? '');
    },
  });
  parser.end(html);
  return found;
}

/** Returns what a page asks passkeys for, which must be there. */
export function requireOptions(html: string, action: string): Options {
  const options = optionsOn(html, action);
  assert.ok(options, `the page asks for no passkey: ${action}`);
  return options;
}
