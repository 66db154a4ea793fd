/** Reads the addresses of a mailbox: its own, and its aliases. */
import type { Config } from '../config/config.ts';
import { sandboxDomain } from '../domains/name.ts';
import { requireTenantAddress } from '../domains/receiving/requirements.ts';
import { addressKey, explainRefusal, parseMailbox } from '../mail/address.ts';
import { invalid } from '../system/errors.ts';
import { explainLocalPart } from './local-part.ts';

type MailboxAddress = {
  /** The address as its `addressKey`. */
  address: string;
  /** The domain in A-labels and lower case, which is the form in which domains are stored. */
  domain: string;
};

/**
 * Returns the address in the form in which mailboxes are stored.
 * @throws AppError validation_error naming `param`
 */
export function readMailboxAddress(param: string, text: string): MailboxAddress {
  // A display name, and the angle brackets that follow it, are not part of the address of a mailbox.
  const parsed = text.endsWith('>') ? undefined : parseMailbox(text);
  if (!parsed) {
    const rule = explainRefusal(text) ?? 'must be one address such as ann@example.com';
    throw invalid(param, `\`${param}\` ${rule}`);
  }
  return { address: addressKey(parsed.address), domain: parsed.domain };
}

/**
 * Returns the address of a new mailbox.
 * @throws AppError validation_error naming `param`; domain_not_verified for the simulator
 */
export function readNewAddress(
  config: Pick<Config, 'hostname'>,
  text: string,
  param = 'address',
): MailboxAddress {
  const read = readMailboxAddress(param, text);
  const localPart = localPartOf(read);
  if (localPart.includes('+')) {
    throw invalid(
      param,
      `\`${param}\` must not contain a plus sign: mail to ${read.address} arrives in the mailbox ${localPart.replace(/\+.*/, '')}@${read.domain}`,
    );
  }
  if (localPart.includes('*')) throw invalid(param, `\`${param}\` must not contain an asterisk`);
  const rule = explainLocalPart(localPart);
  if (rule !== undefined) throw invalid(param, `\`${param}\` ${rule}`);
  requireTenantAddress(config, read, param);
  return read;
}

/**
 * Returns the aliases that a request asks for, each once. `*@<domain>` makes the mailbox the catch-all of the domain.
 * @throws AppError validation_error naming the first wrong one; domain_not_verified for the simulator
 */
export function readAliases(config: Pick<Config, 'hostname'>, texts: readonly string[]): MailboxAddress[] {
  const aliases = texts.map((text, index) => readAlias(config, text, `aliases[${index}]`));
  return [...new Map(aliases.map((alias) => [alias.address, alias])).values()];
}

function readAlias(config: Pick<Config, 'hostname'>, text: string, param: string): MailboxAddress {
  const read = readMailboxAddress(param, text);
  if (localPartOf(read) !== '*') return readNewAddress(config, text, param);
  if (read.domain === sandboxDomain(config)) {
    throw invalid(
      param,
      `\`${param}\`: all accounts share ${read.domain}, so that no mailbox receives all its mail`,
    );
  }
  requireTenantAddress(config, read, param);
  return read;
}

function localPartOf({ address, domain }: MailboxAddress): string {
  return address.slice(0, -`@${domain}`.length);
}

/** Maximum length of a user name under which failures are counted and logged: the longest address. */
const MAX_ACCOUNT_CHARACTERS = 254;

/**
 * Returns the name of an account, as somebody has entered it at a login. `account` is the form in which mailboxes are stored, and in which
 * logins are counted; `isAddress` is false for a name that no mailbox can have.
 */
export function readAccount(username: string): { account: string; isAddress: boolean } {
  const address = parseMailbox(username)?.address;
  return {
    account: addressKey(address ?? username.slice(0, MAX_ACCOUNT_CHARACTERS)),
    isAddress: address !== undefined,
  };
}
