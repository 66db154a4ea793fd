/** Reads what people enter about themselves, and shows it. */
import type { LoginLinkRow, PersonRow } from '../../db/people-tables.ts';
import { addressKey, parseMailbox } from '../../mail/address.ts';
import { invalid } from '../../system/errors.ts';

/** Maximum length of a person's name. Our own limit. */
const MAX_NAME_CHARACTERS = 100;

/**
 * Returns an address in the form in which it is stored.
 * @throws AppError validation_error
 */
export function readEmail(text: string): string {
  const mailbox = parseMailbox(text);
  if (!mailbox || mailbox.name !== undefined)
    throw invalid('email', '`email` must be an email address, such as ann@example.com');
  return addressKey(mailbox.address);
}

/**
 * Returns the name of a person.
 * @throws AppError validation_error
 */
export function readName(text: string): string {
  const name = text.trim();
  const { length } = [...name];
  if (length < 1 || length > MAX_NAME_CHARACTERS || /\p{Cc}/u.test(name) || !name.isWellFormed()) {
    throw invalid(
      'name',
      `\`name\` must have 1 to ${MAX_NAME_CHARACTERS} characters, without control characters`,
    );
  }
  return name;
}

/** Returns a person in words that last longer than its id. */
export function nameAndAddress({ name, email }: Pick<PersonRow, 'name' | 'email'>): string {
  return `${name} <${email}>`;
}

/** Returns whom the link with an id is for, as the audit log has it. */
export function namesOfLink(
  links: readonly Pick<LoginLinkRow, 'id' | 'email'>[],
  id: string,
): Record<string, string> {
  const email = links.find((link) => link.id === id)?.email;
  return email == null ? {} : { email };
}
