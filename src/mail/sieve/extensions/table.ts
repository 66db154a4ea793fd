/** All extensions of the language. To add one, write its file and add it here. */

import { BASE, type Extension } from '../definition.ts';
import { ENVELOPE, SUBADDRESS } from './addresses.ts';
import { EREJECT, FCC, REJECT, VACATION, VACATION_SECONDS } from './answers.ts';
import { BASE_LANGUAGE } from './base.ts';
import { BODY } from './body.ts';
import { DATE, INDEX } from './date.ts';
import { EDITHEADER } from './editheader.ts';
import { ENCODED_CHARACTER } from './encoded-character.ts';
import { ENOTIFY } from './enotify.ts';
import {
  DUPLICATE,
  ENVIRONMENT,
  MBOXMETADATA,
  SERVERMETADATA,
  SPAMTEST,
  SPAMTESTPLUS,
} from './environment.ts';
import { IMAP4FLAGS } from './imap4flags.ts';
import { IHAVE, INCLUDE_SCRIPTS } from './include.ts';
import { COPY, FILEINTO, MAILBOX, MAILBOXID, SPECIAL_USES } from './mailboxes.ts';
import { EXTRACTTEXT, FOREVERYPART_LOOP, MIME } from './mime.ts';
import { REGEX_MATCH } from './regex.ts';
import { COMPARATOR_ASCII_NUMERIC, COMPARATOR_UNICODE_CASEMAP, EXTLISTS, RELATIONAL } from './relational.ts';
import { VARIABLES } from './variables.ts';

/** The extensions. The base language is the first one. */
export const EXTENSIONS: readonly Extension[] = [
  BASE_LANGUAGE,
  ...[FILEINTO, ENVELOPE, ENCODED_CHARACTER, COMPARATOR_ASCII_NUMERIC, COMPARATOR_UNICODE_CASEMAP],
  ...[COPY, BODY, VARIABLES, RELATIONAL, DATE, INDEX, SUBADDRESS, IMAP4FLAGS],
  ...[MAILBOX, MAILBOXID, SPECIAL_USES, VACATION, VACATION_SECONDS, INCLUDE_SCRIPTS, DUPLICATE],
  ...[ENVIRONMENT, EDITHEADER, MIME, FOREVERYPART_LOOP, EXTRACTTEXT, ENOTIFY, REJECT, EREJECT, FCC],
  ...[IHAVE, SPAMTEST, SPAMTESTPLUS, REGEX_MATCH, EXTLISTS, MBOXMETADATA, SERVERMETADATA],
];

/** Capabilities that ManageSieve advertises (RFC 5804 section 1.7) and that `require` accepts. */
export const SIEVE_EXTENSIONS: readonly string[] = EXTENSIONS.map(({ name }) => name).filter(
  (name) => name !== BASE,
);
