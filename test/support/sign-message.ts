/** Signs messages for tests of the verifier, in every form that RFC 6376 allows. It is written apart from the verifier. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

export type TestKey = { privateKey: KeyObject; record: string; algorithm: 'rsa-sha256' | 'ed25519-sha256' };

/** Returns an RSA key with its record. */
export function rsaTestKey(modulusLength = 1_024): TestKey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength });
  const spki = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  return { privateKey, record: `v=DKIM1; k=rsa; p=${spki}`, algorithm: 'rsa-sha256' };
}

/** Returns an Ed25519 key with its record. */
export function ed25519TestKey(): TestKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64');
  return { privateKey, record: `v=DKIM1; k=ed25519; p=${raw}`, algorithm: 'ed25519-sha256' };
}

export type SignOptions = {
  key: TestKey;
  domain?: string;
  selector?: string;
  canonicalization?: string;
  names?: readonly string[];
  /** Tags between `h=` and `bh=`, such as `l=10; `. */
  tags?: string;
  /** Value of `a=`, when it is not that of the key. */
  algorithm?: string;
  bodyLength?: number;
  fieldName?: string;
};

/** Returns the message with a signature field on top. */
export function signTestMessage(message: string, options: SignOptions): string {
  const { key, domain = 'example.com', selector = 's1', canonicalization = 'relaxed/relaxed' } = options;
  const { names = ['From', 'To', 'Subject'], tags = '', fieldName = 'DKIM-Signature' } = options;
  const [headerForm = 'simple', bodyForm = 'simple'] = canonicalization.split('/');
  const end = message.indexOf('\r\n\r\n');
  const body = end < 0 ? '' : message.slice(end + 4);
  const fields = message.slice(0, end < 0 ? undefined : end).split(/\r\n(?![ \t])/);
  const canonicalBody = (bodyForm === 'relaxed' ? relaxBody(body) : simplifyBody(body)).slice(
    0,
    options.bodyLength,
  );
  const bodyHash = createHash('sha256').update(canonicalBody, 'latin1').digest('base64');
  const version = fieldName === 'DKIM-Signature' ? 'v=1; ' : '';
  const unsigned =
    `${fieldName}: ${version}a=${options.algorithm ?? key.algorithm}; c=${canonicalization}; d=${domain};\r\n` +
    `\ts=${selector}; h=${names.join(' : ')};\r\n\t${tags}bh=${bodyHash};\r\n b=`;
  const left = [...fields].reverse();
  let input = '';
  for (const name of names) {
    const at = left.findIndex((field) => field.toLowerCase().startsWith(`${name.toLowerCase()}:`));
    if (at < 0) continue;
    input += `${headerForm === 'relaxed' ? relaxField(left[at]!) : left[at]}\r\n`;
    left.splice(at, 1);
  }
  input += headerForm === 'relaxed' ? relaxField(unsigned) : unsigned;
  const data = Buffer.from(input, 'latin1');
  const signature =
    key.algorithm === 'rsa-sha256'
      ? sign('sha256', data, key.privateKey)
      : sign(null, createHash('sha256').update(data).digest(), key.privateKey);
  const folded = signature.toString('base64').replace(/.{60}/g, '$&\r\n ');
  return `${unsigned}${folded}\r\n${message}`;
}

function relaxField(field: string): string {
  const [name = '', ...value] = field.split(':');
  const text = value
    .join(':')
    .replace(/\r\n/g, '')
    .replace(/[ \t]+/g, ' ')
    .trim();
  return `${name.trim().toLowerCase()}:${text}`;
}

function relaxBody(body: string): string {
  const lines = body.split('\r\n').map((line) => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''));
  while (lines.at(-1) === '') lines.pop();
  return lines.length === 0 ? '' : `${lines.join('\r\n')}\r\n`;
}

function simplifyBody(body: string): string {
  return `${body.replace(/(?:\r\n)+$/, '')}\r\n`;
}
