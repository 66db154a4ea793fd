/**
 * Parses the signature of a DKIM-Signature or ARC-Message-Signature field (RFC 6376 section 3.5, RFC 8617 section
 * 4.1.2). Everything in it comes from a stranger: what is not plainly valid is refused here, before any name is looked
 * up.
 */

import { isSameOrBelow } from '../../domain-names.ts';
import { parseTagItems, parseTagList, withoutWhiteSpace } from '../tag-list.ts';

export type Canonicalization = 'simple' | 'relaxed';

export type Signature = {
  kind: 'signature';
  /** Domain that signed (`d=`), in lower case. */
  domain: string;
  selector: string;
  algorithm: SignatureAlgorithm;
  headerCanonicalization: Canonicalization;
  bodyCanonicalization: Canonicalization;
  /** Names of the signed fields, in lower case (`h=`). */
  fieldNames: readonly string[];
  bodyHash: string;
  signature: Buffer;
  /** Number of octets of the canonical body that are signed (`l=`); undefined for all of them. */
  bodyLength: number | undefined;
  /** Domain of the identity (`i=`), in lower case; the domain that signed when there is none. */
  identityDomain: string;
  /** Time at which the signature expires, in Unix seconds. */
  expiresAt: number | undefined;
};

type SignatureAlgorithm = 'rsa-sha256' | 'ed25519-sha256';

/** A signature that cannot be verified, with the part of it that is valid. */
type UnusableSignature = {
  kind: 'unusable';
  result: 'neutral' | 'policy' | 'permerror';
  reason: string;
  domain: string;
  selector: string;
  algorithm: string;
};

/** Matches a label of a domain (RFC 6376 section 3.5: `sub-domain`). */
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const DOMAIN = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})+$`);
/** Matches a selector. Selectors with underscores are common, although the grammar does not allow them. */
const SELECTOR =
  /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*$/;
/** Maximum length of selector and domain with `._domainkey.` between them (RFC 1035 section 2.3.4). */
const MAX_NAME_CHARACTERS = 253;
const KEY_LABEL = '._domainkey.';
const TIMESTAMP = /^[0-9]{1,12}$/;
const BODY_LENGTH = /^[0-9]{1,76}$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const FIELD_NAME = /^[!-9;-~]+$/;
/** Matches control characters of ASCII, which no tag has, apart from folds. */
const CONTROL = /(?![\t\r\n\u0080-\u009f])\p{Cc}/u;
/** Maximum length of a signature in base64: that of an RSA key of 16,384 bits. */
const MAX_SIGNATURE_CHARACTERS = 2_732;
/** Maximum number of names in `h=`. Signers list a few dozen. */
const MAX_FIELD_NAMES = 1_000;

/**
 * Parses the value of a signature field. `kind` says whether it is a signature of the message or one of an ARC set, which
 * has no `v=`, and whose `i=` is a number.
 */
export function parseSignature(value: string, kind: 'dkim' | 'arc'): Signature | UnusableSignature {
  const tags = CONTROL.test(value) ? undefined : parseTagList(value);
  const shown = (name: string, pattern: RegExp): string => {
    const text = tags?.get(name) ?? '';
    return pattern.test(text) ? text : '';
  };
  const named = {
    domain: shown('d', DOMAIN).toLowerCase(),
    selector: shown('s', SELECTOR).toLowerCase(),
    algorithm: shown('a', /^[A-Za-z0-9-]{1,40}$/).toLowerCase(),
  };
  const refused = findRefusal(tags, { ...named, kind });
  if (!tags || refused) {
    return { kind: 'unusable', ...named, ...(refused ?? neutral('the signature has a syntax error')) };
  }
  const [header = 'simple', body = 'simple'] = canonicalizationOf(tags).split('/');
  const expiresAt = tags.get('x');
  const bodyLength = tags.get('l');
  return {
    kind: 'signature',
    ...named,
    algorithm: named.algorithm as SignatureAlgorithm,
    headerCanonicalization: header as Canonicalization,
    bodyCanonicalization: body as Canonicalization,
    fieldNames: fieldNamesOf(tags),
    bodyHash: withoutWhiteSpace(tags.get('bh') ?? ''),
    signature: Buffer.from(withoutWhiteSpace(tags.get('b') ?? ''), 'base64'),
    bodyLength: bodyLength === undefined ? undefined : Number(bodyLength),
    identityDomain: kind === 'dkim' ? identityDomain(tags, named.domain) : named.domain,
    expiresAt: expiresAt === undefined ? undefined : Number(expiresAt),
  };
}

/** Returns the canonical form of the body that a signature field names, valid or not. */
export function namedBodyCanonicalization(value: string): Canonicalization {
  const [, canonicalization = ''] = /(?:^|;)[ \t\r\n]*c[ \t\r\n]*=([^;]*)/.exec(value) ?? [];
  return /\/[ \t\r\n]*relaxed/i.test(canonicalization) ? 'relaxed' : 'simple';
}

type Refusal = Pick<UnusableSignature, 'result' | 'reason'>;
type Named = { domain: string; selector: string; algorithm: string; kind: 'dkim' | 'arc' };

/** Syntax errors are `neutral` (RFC 8601 section 2.7.1). */
function neutral(reason: string): Refusal {
  return { result: 'neutral', reason };
}

/** Returns why a signature cannot be verified (RFC 6376 section 6.1.1), or undefined when it can. */
function findRefusal(tags: ReadonlyMap<string, string> | undefined, named: Named): Refusal | undefined {
  if (!tags) return neutral('the signature has a syntax error');
  const required = [...(named.kind === 'dkim' ? ['v'] : []), 'a', 'b', 'bh', 'd', 'h', 's'];
  const missing = required.find((name) => !tags.has(name));
  if (missing !== undefined) return neutral(`the signature has no ${missing}=`);
  if (named.kind === 'dkim' && tags.get('v') !== '1') return neutral('the version is unknown');
  if (named.domain === '') return neutral('d= is not a domain');
  if (named.selector === '') return neutral('s= is not a selector');
  if (named.selector.length + KEY_LABEL.length + named.domain.length > MAX_NAME_CHARACTERS)
    return neutral('the name of the key is too long');
  return refusalOfAlgorithms(tags, named.algorithm) ?? refusalOfValues(tags, named);
}

function refusalOfAlgorithms(tags: ReadonlyMap<string, string>, algorithm: string): Refusal | undefined {
  // SHA-1 must not be used for verifying (RFC 8301 section 3.1).
  if (algorithm === 'rsa-sha1') return { result: 'policy', reason: 'SHA-1 is too weak' };
  if (algorithm !== 'rsa-sha256' && algorithm !== 'ed25519-sha256')
    return neutral('the algorithm is unknown');
  if (!/^(?:simple|relaxed)(?:\/(?:simple|relaxed))?$/.test(canonicalizationOf(tags)))
    return neutral('the canonicalization is unknown');
  const methods = parseTagItems(tags.get('q') ?? 'dns/txt').map((method) => method.toLowerCase());
  return methods.includes('dns/txt') ? undefined : neutral('the key is not published in the DNS');
}

function refusalOfValues(tags: ReadonlyMap<string, string>, named: Named): Refusal | undefined {
  const [signedAt, expiresAt] = [tags.get('t'), tags.get('x')];
  if (signedAt !== undefined && !TIMESTAMP.test(signedAt)) return neutral('t= is not a time');
  if (expiresAt !== undefined && !TIMESTAMP.test(expiresAt)) return neutral('x= is not a time');
  // The time of expiry must be greater than that of signing (RFC 6376 section 3.5).
  if (signedAt !== undefined && expiresAt !== undefined && Number(expiresAt) <= Number(signedAt))
    return neutral('it expires before it was made');
  if (!BODY_LENGTH.test(tags.get('l') ?? '0')) return neutral('l= is not a number');
  if (!BASE64.test(withoutWhiteSpace(tags.get('bh') ?? ''))) return neutral('bh= is not base64');
  const signature = withoutWhiteSpace(tags.get('b') ?? '');
  if (!BASE64.test(signature) || signature.length > MAX_SIGNATURE_CHARACTERS)
    return neutral('b= is not base64');
  const names = fieldNamesOf(tags);
  if (names.length > MAX_FIELD_NAMES || !names.every((name) => FIELD_NAME.test(name)))
    return neutral('h= is not a list of fields');
  // A signature that does not cover From is ignored (RFC 6376 section 6.1.1).
  if (!names.includes('from')) return { result: 'permerror', reason: 'From is not signed' };
  if (named.kind === 'arc' && names.includes('arc-seal')) return neutral('h= lists ARC-Seal');
  return named.kind === 'dkim' && identityDomain(tags, named.domain) === ''
    ? neutral('i= is not in the domain of d=')
    : undefined;
}

function canonicalizationOf(tags: ReadonlyMap<string, string>): string {
  return withoutWhiteSpace(tags.get('c') ?? 'simple/simple').toLowerCase();
}

function fieldNamesOf(tags: ReadonlyMap<string, string>): string[] {
  return parseTagItems((tags.get('h') ?? '').toLowerCase()).filter((name) => name !== '');
}

/** Returns the domain of `i=`; empty when it is neither that of `d=` nor below it (RFC 6376 section 3.5). */
function identityDomain(tags: ReadonlyMap<string, string>, domain: string): string {
  const identity = withoutWhiteSpace(tags.get('i') ?? `@${domain}`).toLowerCase();
  const at = identity.lastIndexOf('@');
  const found = at < 0 ? '' : identity.slice(at + 1);
  return DOMAIN.test(found) && isSameOrBelow(found, domain) ? found : '';
}
