/** One letter to a mailbox with a script. A letter whose reply was not read is sent again under another token. */
import { messageOf, tokenOf } from '../mailboxes/letter.ts';
import type { Sent, Transmission } from '../smtp-clients.ts';
import { RECIPIENT_DOMAIN, SENDER_DOMAIN } from '../world.ts';

export type Letter = Sent & {
  /** Its place among all letters, from 1. */
  number: number;
  isLarge: boolean;
};

/** Domain of the senders. Mail to them goes to the far end. */
export const AUTHOR_DOMAIN = 'author.test';
/** Address that letters are redirected to, and the one that is notified of them. */
export const FRIEND = `friend@${RECIPIENT_DOMAIN}`;
export const PHONE = `phone@${RECIPIENT_DOMAIN}`;
/** Letters to one mailbox. With those that are sent again they stay below its limit of notifications (mailbox-delivery/scripts/limit.ts). */
const LETTERS_PER_MAILBOX = 25;
/** Letters of one sender, who gets one automatic reply of a mailbox. */
const LETTERS_PER_SENDER = 3;

/**
 * Returns the script of a version, with the five actions of each delivery. The name of a notification is that of its letter. Both folders and
 * the notification tell the version, so that actions of one letter that were decided by two runs are found.
 */
export const scriptOf = (
  version: number,
): string => `require ["fileinto", "copy", "imap4flags", "mailbox", "vacation", "enotify", "variables"];
if header :matches "subject" "*" { set "name" "\${1}"; }
fileinto :create :flags ["\\\\Seen", "version-${version}"] "Lists";
redirect :copy "${FRIEND}";
vacation :days 7 :addresses "x@dest.test" "I am away.";
notify :message "\${name} version-${version}" "mailto:${PHONE}";
keep :flags ["\\\\Flagged", "work", "version-${version}"];
`;
/** Name of the script in each mailbox. */
export const SCRIPT_NAME = 'rules';
/** Matches what tells the version of the script. */
export const VERSION = /\bversion-\d+\b/;
/** The folders in which a letter is stored, with its flags, without that of the version. */
export const FILED: Readonly<Record<string, string>> = { INBOX: '\\Flagged work', Lists: '\\Seen' };

/** Returns the number of mailboxes that so many letters need. */
export function countMailboxes(letters: number): number {
  return Math.ceil(letters / LETTERS_PER_MAILBOX);
}

/** Returns the address of a mailbox, counted from 0. */
export function addressOf(mailbox: number): string {
  return `person-${mailbox}@${SENDER_DOMAIN}`;
}

/** Returns the mailbox of a letter, counted from 0. */
export function mailboxOf({ number }: Pick<Letter, 'number'>): number {
  return Math.floor((number - 1) / LETTERS_PER_MAILBOX);
}

/** Returns the sender of a letter. Each sender writes to one mailbox. */
export function senderOf(letter: Pick<Letter, 'number'>): string {
  const place = Math.floor((letter.number - 1) / LETTERS_PER_SENDER);
  return `ann-${mailboxOf(letter)}-${place}@${AUTHOR_DOMAIN}`;
}

/** Returns the name of a transmission, counted from 1. It is the token of its message. */
export function nameOf(
  { number, isLarge }: Pick<Letter, 'number' | 'isLarge'>,
  transmission: number,
): string {
  return tokenOf(`letter-${number}`, transmission, isLarge ? 'l' : 's');
}

/** Returns the Message-ID of a transmission, without angle brackets. */
export function messageIdOf(name: string): string {
  return `${name}@${AUTHOR_DOMAIN}`;
}

/** Returns what a server sends. */
export function transmissionOf(letter: Letter, transmission: number): Transmission {
  const name = nameOf(letter, transmission);
  return { name, from: senderOf(letter), to: addressOf(mailboxOf(letter)), bytes: messageOf(name) };
}
