/** Reads the address of a mailbox. */
import type { Config } from '../config.ts';
import { requireTenantAddress } from '../domains/receiving/requirements.ts';
import { addressKey, explainRefusal, parseMailbox } from '../mail/address.ts';
import { invalid } from '../system/errors.ts';

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
 * @throws AppError validation_error naming `address`; domain_not_verified for the simulator
 */
export function readNewAddress(config: Pick<Config, 'hostname'>, text: string): MailboxAddress {
  const read = readMailboxAddress('address', text);
  const localPart = read.address.slice(0, -`@${read.domain}`.length);
  if (localPart.includes('+')) {
    throw invalid(
      'address',
      `\`address\` must not contain a plus sign: mail to ${read.address} arrives in the mailbox ${localPart.replace(/\+.*/, '')}@${read.domain}`,
    );
  }
  if (localPart.includes('*')) throw invalid('address', '`address` must not contain an asterisk');
  requireTenantAddress(config, read);
  return read;
}
