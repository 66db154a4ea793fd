/** Accounts are held to the letter. */
import { holdToTheLetter } from '../../../mail/imap/letter.ts';
import { createAccountMail } from '../../../support/account-mail.ts';

holdToTheLetter(await createAccountMail());
